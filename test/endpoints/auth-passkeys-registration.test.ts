import { expect } from 'chai';
import type { Passkey } from '../../server/auth/passkeys.schemas.js';
import { SessionStore } from '../../server/store/sessions.js';
import {
  makeMember,
  makeTenant,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import {
  cbor,
  softwareAuthenticator,
  type Behaviour,
  type Cbor,
  type CreationOptions,
  type RequestOptions,
} from '../support/authenticator.js';
import { forEachDatabase } from '../support/database.js';
import type { Client, DomainError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

const NAMES_AN_ADDRESS: Behaviour['attestation'] = {
  fmt: 'packed',
  attStmt: new Map<Cbor, Cbor>([
    ['alg', -7],
    ['sig', Buffer.from("nobody's")],
    ['x5c', [Buffer.from('http://127.0.0.1:1/list.crl')]],
  ]),
};

describe('attacks on the registration of passkeys', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
      org = await makeTenant(identity);
    });
    after(() => app.stop());

    const authenticator = () => softwareAuthenticator({ origin: PUBLIC_URL });
    const newMember = async () => {
      const member = await makeMember(identity, org);
      return { member, client: (await signIn(app.client, { tenant: org.tenant, member })).client };
    };
    const ask = async (client: Client) =>
      (await client.post<{ flowId: string; options: CreationOptions }>('/auth/passkeys/register/options')).body;
    const answer = (client: Client, response: unknown) =>
      client.post<DomainError & Passkey>('/auth/passkeys/register/verify', { response });
    const refused = async (client: Client, response: unknown, what?: string) => {
      const { status, body, text } = await answer(client, response);
      expect([status, body.error.code], `${what ?? ''} ${text}`).to.deep.equal([422, 'PASSKEY_INVALID']);
    };

    it('one answer sent again, and ten times at once, registers one passkey', async () => {
      const { client } = await newMember();
      const response = authenticator().create((await ask(client)).options);
      const answers = await Promise.all(Array.from({ length: 10 }, () => answer(client, response)));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      await refused(client, response);
      expect((await client.get<Passkey[]>('/auth/passkeys')).body).to.have.length(1);
    });

    const wrong: Readonly<Record<string, Behaviour>> = {
      'from another origin': { origin: 'https://evil.example.test' },
      'from a parent domain': { origin: 'http://example.test' },
      'from our host on another port': { origin: `${PUBLIC_URL}:8443` },
      'for another relying party': { rpId: 'evil.example.test' },
      'of the type of a sign-in': { type: 'webauthn.get' },
      'without user verification': { verified: false },
      'without user presence': { present: false },
      'from a frame of another site': { crossOrigin: true },
    };
    for (const [name, behaviour] of Object.entries(wrong)) {
      it(`an answer ${name} is refused, and uses up the challenge`, async () => {
        const { client } = await newMember();
        const { options } = await ask(client);
        await refused(client, authenticator().create(options, behaviour));
        await refused(client, authenticator().create(options));
        expect((await client.get<Passkey[]>('/auth/passkeys')).body).to.deep.equal([]);
      });
    }

    it('an answer to an unknown challenge ends the open ones', async () => {
      const { client } = await newMember();
      const { options } = await ask(client);
      await refused(client, authenticator().create(options, { challenge: Buffer.alloc(32, 7).toString('base64url') }));
      await refused(client, authenticator().create(options));
    });

    it('an answer after five minutes is refused', async () => {
      const { client } = await newMember();
      const { options } = await ask(client);
      identity.clock.advance(5 * 60_000);
      await refused(client, authenticator().create(options));
    });

    it('challenges of another member, of another session and of a sign-in are refused', async () => {
      const [ownMember, theirs] = [await newMember(), await newMember()];
      const again = (await signIn(app.client, { tenant: org.tenant, member: ownMember.member })).client;
      await refused(ownMember.client, authenticator().create((await ask(theirs.client)).options), 'another member');
      await refused(ownMember.client, authenticator().create((await ask(again)).options), 'another session');
      const { body } = await app.client.post<{ options: RequestOptions }>('/auth/passkeys/login/options', {
        tenantSlug: org.tenant.slug,
        email: ownMember.member.email,
      });
      await refused(
        ownMember.client,
        authenticator().create({ ...body.options, rp: { id: body.options.rpId }, user: { id: 'x' } }),
        'a sign-in',
      );
    });

    it('a session that another server has ended adds and removes nothing, though this server is not notified', async () => {
      const { member, client } = await newMember();
      const { options } = await ask(client);
      await identity.database.write({ tenantId: null }, (tx) =>
        new SessionStore(tx).revokeAllOf({ tenantId: org.tenant.id, memberId: member.id, at: identity.clock.now() }),
      );
      expect((await client.get('/auth/me')).status).to.equal(401);
      expect((await answer(client, authenticator().create(options))).status).to.equal(401);
      expect((await client.post('/auth/passkeys/register/options')).status).to.equal(401);
      expect((await client.delete(`/auth/passkeys/${member.id}`)).status).to.equal(401);
      const again = (await signIn(app.client, { tenant: org.tenant, member })).client;
      expect((await again.get<Passkey[]>('/auth/passkeys')).body).to.deep.equal([]);
    });

    it('a certificate in an attestation is ignored, whatever URL it contains', async () => {
      const { client } = await newMember();
      expect(
        (await answer(client, authenticator().create((await ask(client)).options, { attestation: NAMES_AN_ADDRESS })))
          .status,
      ).to.equal(201);
    });

    it('a credential cannot be added twice to an account', async () => {
      const { client } = await newMember();
      const {
        credentialIds: [credentialId = ''],
        create,
      } = await registered(client);
      const again = await answer(client, create((await ask(client)).options, { credentialId }));
      expect([again.status, again.body.error.code]).to.deep.equal([409, 'PASSKEY_EXISTS']);
    });

    it('a client that registers the ids of a sign-in does not learn whether they are real', async () => {
      const [victim, otherTenant] = [await newMember(), await newMember()];
      await registered(victim.client);
      for (const email of [victim.member.email, 'nobody@example.test']) {
        const { body } = await app.client.post<{ options: { allowCredentials: { id: string }[] } }>(
          '/auth/passkeys/login/options',
          { tenantSlug: org.tenant.slug, email },
        );
        const credentialId = body.options.allowCredentials[0]?.id ?? '';
        expect(
          (
            await answer(
              otherTenant.client,
              authenticator().create((await ask(otherTenant.client)).options, { credentialId }),
            )
          ).status,
          email,
        ).to.equal(201);
      }
    });

    it('a malformed answer is refused, whichever part is malformed, without an internal error', async () => {
      const { client } = await newMember();
      const validAnswer = (options: CreationOptions) => authenticator().create(options);
      const deep = Buffer.concat([Buffer.alloc(20_000, 0x81), Buffer.of(0x01)]).toString('base64url');
      const huge = Buffer.from([0xbb, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]).toString('base64url');
      const objects = [
        '',
        'AA',
        '!!!',
        '\u0000',
        'ümlaut',
        deep,
        huge,
        cbor('text').toString('base64url'),
        cbor([1]).toString('base64url'),
        cbor(new Map<Cbor, Cbor>([['fmt', 'none']])).toString('base64url'),
      ].concat(
        [0, 36, 54, 60, 90].map((length) =>
          cbor(
            new Map<Cbor, Cbor>([
              ['fmt', 'none'],
              ['attStmt', new Map<Cbor, Cbor>()],
              ['authData', Buffer.alloc(length, 0x45)],
            ]),
          ).toString('base64url'),
        ),
      );
      for (const attestationObject of objects.filter((text) => text !== '')) {
        const response = validAnswer((await ask(client)).options);
        await refused(
          client,
          { ...response, response: { ...response.response, attestationObject } },
          attestationObject.slice(0, 40),
        );
      }
      for (const clientData of ['null', '[]', '5', '{', '{"challenge":5}', '{"challenge":{"a":1}}', '{}']) {
        const response = validAnswer((await ask(client)).options);
        await refused(
          client,
          {
            ...response,
            response: { ...response.response, clientDataJSON: Buffer.from(clientData).toString('base64url') },
          },
          clientData,
        );
      }
      const response = validAnswer((await ask(client)).options);
      await refused(client, { ...response, rawId: 'another' }, 'rawId');
      for (const bad of [
        {},
        [],
        'text',
        null,
        { ...response, response: {} },
        { ...response, type: 'password' },
        { ...response, response: { ...response.response, clientDataJSON: 5 } },
      ])
        expect((await answer(client, bad)).status).to.equal(400);
      expect(app.logged.filter(({ msg }) => msg === 'unexpected error')).to.deep.equal([]);
    });

    const registered = async (client: Client) => {
      const made = authenticator();
      expect((await answer(client, made.create((await ask(client)).options))).status).to.equal(201);
      return made;
    };
  });
});
