import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import type { Passkey } from '../../server/auth/passkeys.schemas.js';
import type { TokenPair } from '../../server/auth/auth.schemas.js';
import {
  cookieOf,
  makeMember,
  makeTenant,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { softwareAuthenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.js';
import { forEachDatabase } from '../support/database.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

interface Asked<O> {
  readonly flowId: string;
  readonly options: O;
}

describe('passkeys', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    let replica: LittleApp;
    let org: MadeTenant;
    let owner: Client;
    before(async () => {
      const { database, again } = await fresh();
      identity = await startIdentity(database);
      app = await serveIdentity(identity);
      const second = await again();
      replica = await serveIdentity(await startIdentity(second, { ...identity.options, database: second }));
      org = await makeTenant(identity);
      owner = (await signIn(app.client, { tenant: org.tenant, member: org.owner })).client;
    });
    after(async () => {
      await app.stop();
      await replica.stop();
    });

    const newMember = async () => {
      const member = await makeMember(identity, org);
      return { member, client: (await signIn(app.client, { tenant: org.tenant, member })).client };
    };
    const newAuthenticator = (more: { counts?: boolean; synced?: boolean; transports?: readonly string[] } = {}) =>
      softwareAuthenticator({ origin: PUBLIC_URL, ...more });
    const register = async (client: Client, authenticator = newAuthenticator(), label?: string) => {
      const { body } = await client.post<Asked<CreationOptions>>('/auth/passkeys/register/options');
      const answer = await client.post<Passkey>('/auth/passkeys/register/verify', {
        response: authenticator.create(body.options),
        ...(label === undefined ? {} : { label }),
      });
      expect(answer.status, answer.text).to.equal(201);
      return { authenticator, passkey: answer.body };
    };
    const ask = async (email: string) =>
      (
        await app.client.post<Asked<RequestOptions>>('/auth/passkeys/login/options', {
          tenantSlug: org.tenant.slug,
          email,
        })
      ).body;
    const signInWith = async (authenticator: ReturnType<typeof newAuthenticator>, email: string) => {
      const { flowId, options } = await ask(email);
      return app.client.post<TokenPair>('/auth/passkeys/login/verify', {
        flowId,
        response: authenticator.get(options),
      });
    };
    const audited = (memberId: string) =>
      identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT action, record_kind, record_id, changes FROM audit_log WHERE actor_id = ? ORDER BY id', [
          memberId,
        ]),
      );

    it('are requested with user verification, a resident key if possible, and no attestation', async () => {
      const { member, client } = await newMember();
      const answer = await client.post<Asked<Record<string, unknown>>>('/auth/passkeys/register/options');
      expect(answer.status).to.equal(200);
      expect(Buffer.from(answer.body.flowId, 'base64url')).to.have.length(32);
      const { challenge, user, ...options } = answer.body.options;
      expect(Buffer.from(challenge as string, 'base64url')).to.have.length(32);
      expect(user).to.deep.equal({
        id: Buffer.from(member.id).toString('base64url'),
        name: member.email,
        displayName: member.name,
      });
      expect(options).to.deep.equal({
        rp: { name: 'Duebook', id: 'book.example.test' },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
        extensions: { credProps: true },
      });
    });

    it('are registered, listed and excluded in the browser, so that it creates no second one', async () => {
      const { client } = await newMember();
      const { authenticator, passkey } = await register(
        client,
        newAuthenticator({ transports: ['hybrid', 'internal'] }),
        '  My laptop ',
      );
      expect(passkey).to.deep.include({
        label: 'My laptop',
        synced: false,
        backedUp: false,
        transports: ['hybrid', 'internal'],
        lastUsedAt: null,
      });
      expect((await client.get<Passkey[]>('/auth/passkeys')).body).to.deep.equal([passkey]);
      const again = await client.post<Asked<{ excludeCredentials: unknown }>>('/auth/passkeys/register/options');
      expect(again.body.options.excludeCredentials).to.deep.equal([
        { id: authenticator.credentialIds[0], type: 'public-key', transports: ['hybrid', 'internal'] },
      ]);
    });

    it('sign a member in, with tokens and cookie like a login, and are marked as used', async () => {
      const { member, client } = await newMember();
      const { authenticator, passkey } = await register(client);
      identity.clock.advance(1_000);
      const answer = await signInWith(authenticator, ` ${member.email.toUpperCase()} `);
      expect(answer.status, answer.text).to.equal(200);
      expect(Object.keys(answer.body)).to.deep.equal(['accessToken', 'refreshToken', 'expiresIn']);
      expect(decodeProtectedHeader(answer.body.accessToken).typ).to.equal('at+jwt');
      expect(cookieOf(answer)).to.equal(
        `service_tenant_refresh=${answer.body.refreshToken}; Path=/api/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict`,
      );
      const me = await app.client.as(answer.body.accessToken).get<{ user: { id: string } }>('/auth/me');
      expect(me.body.user.id).to.equal(member.id);
      const [used] = (await client.get<Passkey[]>('/auth/passkeys')).body;
      expect(used).to.deep.equal({
        ...passkey,
        lastUsedAt: new Date(identity.clock.now()).toISOString(),
        updatedAt: new Date(identity.clock.now()).toISOString(),
      });
      expect((await app.client.post('/auth/refresh', { refreshToken: answer.body.refreshToken })).status).to.equal(200);
    });

    it('that are synced have no counter, and sign in repeatedly', async () => {
      const { member, client } = await newMember();
      const { authenticator, passkey } = await register(client, newAuthenticator({ counts: false, synced: true }));
      expect(passkey).to.include({ synced: true, backedUp: true });
      for (let time = 0; time < 3; time += 1)
        expect((await signInWith(authenticator, member.email)).status).to.equal(200);
    });

    it('of one member are all offered, and each signs in', async () => {
      const { member, client } = await newMember();
      const both = newAuthenticator();
      await register(client, both);
      await register(client, both);
      const { options } = await ask(member.email);
      expect(
        (options as unknown as { allowCredentials: { id: string }[] }).allowCredentials.map(({ id }) => id),
      ).to.deep.equal(both.credentialIds);
      for (const credentialId of both.credentialIds) {
        const { flowId, options: question } = await ask(member.email);
        expect(
          (
            await app.client.post('/auth/passkeys/login/verify', {
              flowId,
              response: both.get(question, { credentialId }),
            })
          ).status,
        ).to.equal(200);
      }
    });

    it('accept answers as scripts encode them, without empty properties, and with unknown ones', async () => {
      const { client } = await newMember();
      const { body } = await client.post<Asked<CreationOptions>>('/auth/passkeys/register/options');
      const {
        id,
        response: { clientDataJSON, attestationObject },
      } = newAuthenticator().create(body.options);
      const answer = await client.post<Passkey>('/auth/passkeys/register/verify', {
        label: '',
        response: { id, response: { clientDataJSON, attestationObject, inventedIn2031: [1] }, extra: { a: {} } },
      });
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body).to.deep.include({ label: null, transports: [] });
    });

    it('are removed by their owner, and cannot be used afterwards', async () => {
      const { member, client } = await newMember();
      const { authenticator, passkey } = await register(client);
      expect((await owner.delete<FrameworkError>(`/auth/passkeys/${passkey.id}`)).status).to.equal(404);
      expect((await client.delete(`/auth/passkeys/${passkey.id}`)).body).to.deep.equal({ ok: true });
      expect((await client.delete(`/auth/passkeys/${passkey.id}`)).status).to.equal(404);
      expect((await client.get('/auth/passkeys')).body).to.deep.equal([]);
      expect((await signInWith(authenticator, member.email)).status).to.equal(401);
    });

    it('are limited to ten per member, also in concurrent requests to several servers', async () => {
      const { member, client } = await newMember();
      for (let count = 0; count < 9; count += 1) await register(client);
      const { client: last, result } = await signIn(app.client, { tenant: org.tenant, member });
      const clients = [app, replica].map((server) => server.client.as(result.accessToken));
      const authenticator = newAuthenticator();
      const asked = [];
      for (let count = 0; count < 8; count += 1)
        asked.push((await last.post<Asked<CreationOptions>>('/auth/passkeys/register/options')).body);
      const answers = await Promise.all(
        asked.map(({ options }, index) =>
          (clients[index % 2] ?? last).post<DomainError>('/auth/passkeys/register/verify', {
            response: authenticator.create(options),
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.have.members([201, 409, 409, 409, 409, 409, 409, 409]);
      const refused = await last.post<DomainError>('/auth/passkeys/register/options');
      expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
        409,
        'LIMIT_REACHED',
        { limit: 10 },
      ]);
      expect((await last.get<Passkey[]>('/auth/passkeys')).body).to.have.length(10);
    });

    it('are added and removed only soon after a sign-in', async () => {
      const { member, client } = await newMember();
      const { passkey } = await register(client);
      const began = identity.clock.now();
      const { body } = await client.post<Asked<CreationOptions>>('/auth/passkeys/register/options');
      identity.clock.advance(4 * 60_000);
      expect(
        (await client.post('/auth/passkeys/register/verify', { response: newAuthenticator().create(body.options) }))
          .status,
      ).to.equal(201);
      identity.clock.set(began + 10 * 60_000 + 1);
      for (const answer of [
        await client.post<DomainError>('/auth/passkeys/register/options'),
        await client.delete<DomainError>(`/auth/passkeys/${passkey.id}`),
      ]) {
        expect(answer.status, answer.text).to.equal(403);
        expect(answer.body.error).to.deep.include({ code: 'RECENT_LOGIN_REQUIRED', details: { maxAgeSeconds: 600 } });
      }
      const again = (await signIn(app.client, { tenant: org.tenant, member })).client;
      expect((await again.delete(`/auth/passkeys/${passkey.id}`)).status).to.equal(200);
    });

    it('are recorded in the audit, without secrets', async () => {
      const { member, client } = await newMember();
      const { authenticator, passkey } = await register(client, newAuthenticator(), 'Key');
      await signInWith(authenticator, member.email);
      const { flowId, options } = await ask(member.email);
      await app.client.post('/auth/passkeys/login/verify', {
        flowId,
        response: authenticator.get(options, { verified: false }),
      });
      await client.post('/auth/passkeys/register/verify', {
        response: authenticator.create({ challenge: 'made-up', rp: { id: 'book.example.test' }, user: { id: 'x' } }),
      });
      await client.delete(`/auth/passkeys/${passkey.id}`);
      const rows = (await audited(member.id)).slice(1);
      expect(rows.map(({ action }) => action)).to.deep.equal([
        'passkey_added',
        'login_succeeded',
        'login_failed',
        'passkey_refused',
        'passkey_removed',
      ]);
      expect(rows[0]).to.deep.include({
        record_kind: 'passkey',
        record_id: passkey.id,
        changes: JSON.stringify({ label: 'Key', synced: false, sessionsRevoked: 0 }),
      });
      expect(JSON.parse(String(rows[1]?.['changes']))).to.include({ way: 'passkey' });
      expect(JSON.parse(String(rows[2]?.['changes']))).to.deep.equal({ reason: 'passkey' });
    });

    it('leave neither flow ids nor challenges in the database', async () => {
      const { member, client } = await newMember();
      const { body } = await client.post<Asked<CreationOptions>>('/auth/passkeys/register/options');
      const login = await ask(member.email);
      const rows = JSON.stringify(
        await identity.database.read({ tenantId: null }, (tx) => tx.all('SELECT * FROM passkey_flows')),
      );
      expect(JSON.parse(rows)).to.have.length.greaterThan(1);
      for (const secret of [body.flowId, body.options.challenge, login.flowId, login.options.challenge])
        expect(rows).not.to.include(secret);
    });
  });
});
