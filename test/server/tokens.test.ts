import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import {
  makeTenant,
  OPERATOR,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

describe('tokens', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    let made: MadeTenant;
    let access: string;
    let refresh: string;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
      made = await makeTenant(identity);
    });
    beforeEach(async () => {
      const { result } = await signIn(app.client, { ...made, member: made.owner });
      ({ accessToken: access, refreshToken: refresh } = result);
    });
    after(() => app.stop());

    const statusOf = async (token: string): Promise<number> => (await app.client.get('/auth/me', { token })).status;
    /** A token signed with the service's own key, with the changes of the test. */
    const signed = async (
      payload: JWTPayload,
      header: { alg?: string; typ?: string; kid?: string } = {},
    ): Promise<string> => {
      const { kid, key } = await identity.keys.current();
      return new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(key);
    };
    const unsigned = (header: object, payload: object): string =>
      [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

    it('contain the documented claims with their types', () => {
      expect(decodeJwt(access)).to.include({
        iss: PUBLIC_URL,
        sub: made.owner.id,
        tenantId: made.tenant.id,
        roleCode: 'owner',
        subjectScope: null,
        scope: 'tenant',
      });
      expect(decodeJwt(access)).to.include.keys('aud', 'sid', 'iat', 'exp', 'jti');
      expect((decodeJwt(access).exp ?? 0) - (decodeJwt(access).iat ?? 0)).to.equal(15 * 60);
      expect(decodeProtectedHeader(access)).to.include({ alg: 'EdDSA', typ: 'at+jwt' });
      expect(decodeProtectedHeader(refresh)).to.include({ alg: 'EdDSA', typ: 'rt+jwt' });
      expect((decodeJwt(refresh).exp ?? 0) - (decodeJwt(refresh).iat ?? 0)).to.equal(30 * 24 * 3600);
    });

    it('are accepted when only re-signed', async () => {
      expect(await statusOf(access)).to.equal(200);
      expect(await statusOf(await signed(decodeJwt(access)))).to.equal(200);
    });

    it('are refused without a signature', async () => {
      for (const alg of ['none', 'None', 'NONE'])
        expect(await statusOf(`${unsigned({ ...decodeProtectedHeader(access), alg }, decodeJwt(access))}.`)).to.equal(
          401,
        );
    });

    it('are refused when the public key is used as an HMAC secret', async () => {
      const { keys } = await identity.keys.jwks();
      for (const secret of [JSON.stringify(keys[0]), Buffer.from(String(keys[0]?.x), 'base64url')]) {
        const input = unsigned({ ...decodeProtectedHeader(access), alg: 'HS256' }, decodeJwt(access));
        expect(await statusOf(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`)).to.equal(
          401,
        );
      }
    });

    it('are refused with the reason: expired, not of this service, or of an ended session', async () => {
      const reasonFor = async (token: string) => {
        const { status, headers, body } = await app.client.get<FrameworkError>('/auth/me', { token });
        expect([status, body.error]).to.deep.equal([401, 'Unauthorized']);
        const [, reason] =
          /^Bearer error="invalid_token", error_description="([^"\\]+)"$/.exec(headers.get('www-authenticate') ?? '') ??
          [];
        expect(body.message).to.equal(reason);
        return reason;
      };
      const refreshReasonFor = async (refreshToken?: string) => {
        const { status, headers, body } = await app.client.post<FrameworkError>('/auth/refresh', { refreshToken });
        // No access token was sent, so the header has no error code.
        expect([status, headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
        return body.message;
      };
      const { kid, ...header } = decodeProtectedHeader(access);
      expect(kid).to.be.a('string');
      const foreignKey = await generateKeyPair('EdDSA');
      const forged = await new SignJWT(decodeJwt(access))
        .setProtectedHeader({ ...header, alg: 'EdDSA', kid: kid ?? '' })
        .sign(foreignKey.privateKey);
      const expired = { ...decodeJwt(access), exp: Math.floor(identity.clock.now() / 1_000) - 1 };
      const forgedAndExpired = await new SignJWT(expired)
        .setProtectedHeader({ ...header, alg: 'EdDSA', kid: kid ?? '' })
        .sign(foreignKey.privateKey);

      const foreign = 'This is not an access token of this service.';
      for (const token of [
        forged,
        forgedAndExpired,
        refresh,
        'abc',
        await signed({ ...decodeJwt(access), scope: 'x' }),
      ])
        expect(await reasonFor(token)).to.equal(foreign);
      const late = 'The access token has expired; get a new one with POST /auth/refresh.';
      expect(await reasonFor(await signed(expired))).to.equal(late);
      expect(await statusOf(access)).to.equal(200);
      identity.clock.advance(15 * 60_000);
      expect(await reasonFor(access), 'verified before').to.equal(late);

      expect(await refreshReasonFor()).to.match(/^The refresh token is missing/);
      expect(await refreshReasonFor(access)).to.equal('This is not a refresh token of this service.');
      const { body } = await app.client.post<{ accessToken: string; refreshToken: string }>('/auth/refresh', {
        refreshToken: refresh,
      });
      await identity.tenants.operator.setStatus({ slug: made.tenant.slug, status: 'suspended' }, OPERATOR);
      expect(await reasonFor(body.accessToken)).to.equal('The organisation is suspended.');
      expect(await refreshReasonFor(body.refreshToken)).to.equal('The organisation is suspended.');
      await identity.tenants.operator.setStatus({ slug: made.tenant.slug, status: 'active' }, OPERATOR);
      await app.client.post('/auth/logout', undefined, { token: body.accessToken });
      expect(await reasonFor(body.accessToken)).to.equal('The session of the access token has ended; sign in again.');
      expect(await refreshReasonFor(body.refreshToken)).to.equal(
        'The session of the refresh token has ended; sign in again.',
      );
      const last = (await signIn(app.client, { ...made, member: made.owner })).result.refreshToken;
      identity.clock.advance(30 * 24 * 3_600_000 + 1_000);
      expect(await refreshReasonFor(last)).to.equal('The refresh token has expired; sign in again.');
    });

    it('are refused when used for each other', async () => {
      expect(await statusOf(refresh)).to.equal(401);
      expect((await app.client.post('/auth/refresh', { refreshToken: access })).status).to.equal(401);
    });

    it('are refused with an altered claim and the old signature', async () => {
      const [header, , signature] = access.split('.');
      const payload = Buffer.from(JSON.stringify({ ...decodeJwt(access), roleCode: 'admin' })).toString('base64url');
      expect(await statusOf([header, payload, signature].join('.'))).to.equal(401);
      expect(await statusOf(`${access.slice(0, -3)}AAA`)).to.equal(401);
    });

    it('are refused when any claim is missing', async () => {
      for (const claim of [
        'iss',
        'aud',
        'sub',
        'sid',
        'tenantId',
        'roleCode',
        'subjectScope',
        'scope',
        'iat',
        'exp',
        'jti',
      ]) {
        const { [claim]: _left, ...rest } = decodeJwt(access);
        expect(await statusOf(await signed(rest)), claim).to.equal(401);
      }
    });

    it('are refused with another issuer, audience, scope, tenant, member, session, type or time', async () => {
      const other = await makeTenant(identity);
      const foreign = await signIn(app.client, { ...other, member: other.owner });
      const now = Math.floor(identity.clock.now() / 1_000);
      const changes: JWTPayload[] = [
        { iss: 'https://other.example' },
        { aud: 'https://other.example/api/v1' },
        { scope: 'platform' },
        { tenantId: other.tenant.id },
        { sub: other.owner.id },
        { sid: String(decodeJwt(foreign.result.accessToken)['sid']) },
        { sid: 'not-an-id' },
        { exp: now },
        { nbf: now + 60 },
      ];
      for (const change of changes)
        expect(await statusOf(await signed({ ...decodeJwt(access), ...change })), JSON.stringify(change)).to.equal(401);
      expect(await statusOf(await signed(decodeJwt(access), { typ: 'JWT' }))).to.equal(401);
    });

    it("are refused with a key that is not the service's", async () => {
      const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
      const { kid } = await identity.keys.current();
      const forge = (header: object) =>
        new SignJWT(decodeJwt(access)).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header }).sign(privateKey);
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: (await crypto.subtle.exportKey('jwk', publicKey)).x ?? '' };
      for (const header of [
        { kid },
        { kid: 'unknown' },
        { kid: '../../etc/passwd' },
        { kid: 'x'.repeat(500) },
        {},
        { kid, jwk },
        { kid, jku: 'http://127.0.0.1:1/jwks' },
      ]) {
        expect(await statusOf(await forge(header)), JSON.stringify(header)).to.equal(401);
      }
    });

    it('stop working when they expire, also after an earlier use', async () => {
      expect(await statusOf(access)).to.equal(200);
      identity.clock.advance(15 * 60_000 - 1_000);
      expect(await statusOf(access)).to.equal(200);
      identity.clock.advance(1_000);
      expect(await statusOf(access)).to.equal(401);
    });

    it('keep working after the signing key is rotated, until they expire', async () => {
      const before = (await identity.keys.current()).kid;
      const { kid } = await identity.keys.rotate(OPERATOR);
      expect(kid).not.to.equal(before);
      expect(await statusOf(access)).to.equal(200);
      const { result } = await signIn(app.client, { ...made, member: made.owner });
      expect(decodeProtectedHeader(result.accessToken).kid).to.equal(kid);
      expect((await identity.keys.jwks()).keys.map((key) => key.kid)).to.include.members([kid, before]);
      identity.clock.advance(30 * 24 * 3_600_000);
      expect((await identity.keys.jwks()).keys.map((key) => key.kid)).to.deep.equal([kid]);
      expect(await identity.keys.verifier(before)).to.equal(undefined);
    });

    it('of one replica are accepted by another, also with a key created after its start', async () => {
      const replica = await startIdentity(identity.database, identity.options);
      const there = await serveIdentity(replica);
      try {
        await identity.keys.rotate(OPERATOR);
        const { result } = await signIn(app.client, { ...made, member: made.owner });
        expect((await there.client.get('/auth/me', { token: result.accessToken })).status).to.equal(200);
      } finally {
        await there.stop();
      }
    });

    it('are signed with one key, however many replicas start at once', async () => {
      const { database, again } = await fresh();
      const { options } = await startIdentity(database);
      await database.write({ tenantId: null }, (tx) => tx.run('DELETE FROM signing_keys'));
      const pools = [database, await again(), await again(), await again()];
      const replicas = await Promise.all(pools.map((pool) => startIdentity(pool, { ...options, database: pool })));
      const kids = await Promise.all(replicas.map(async ({ keys }) => (await keys.current()).kid));
      expect(new Set(kids).size).to.equal(1);
    });

    it('publish public keys only', async () => {
      for (const key of (await identity.keys.jwks()).keys)
        expect(Object.keys(key).toSorted()).to.deep.equal(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT public_jwk, private_sealed FROM signing_keys'),
      );
      for (const row of rows) {
        expect(row['public_jwk']).not.to.match(/"d"/);
        expect(row['private_sealed']).to.match(/^v1\./);
      }
    });
  });
});
