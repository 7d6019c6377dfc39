import { expect } from 'chai';
import type { TokenPair } from '../../server/auth/auth.schemas.js';
import {
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import {
  softwareAuthenticator,
  type Assertion,
  type Behaviour,
  type CreationOptions,
  type RequestOptions,
  type SoftwareAuthenticator,
} from '../support/authenticator.js';
import { forEachDatabase } from '../support/database.js';
import type { Answer, Client, DomainError, FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';
import type { MemberRecord } from '../../server/store/members.js';

interface Account {
  readonly org: MadeTenant;
  readonly member: MemberRecord;
  readonly client: Client;
  readonly authenticator: SoftwareAuthenticator;
}

describe('attacks on the sign-in with passkeys', () => {
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

    const account = async ({
      of = org,
      email,
      roleCode,
      counts = true,
    }: { of?: MadeTenant; email?: string; roleCode?: string; counts?: boolean } = {}): Promise<Account> => {
      const member = await makeMember(identity, of, { ...(email && { email }), ...(roleCode && { roleCode }) });
      const { client } = await signIn(app.client, { tenant: of.tenant, member });
      const authenticator = softwareAuthenticator({ origin: PUBLIC_URL, counts });
      const { body } = await client.post<{ options: CreationOptions }>('/auth/passkeys/register/options');
      expect(
        (await client.post('/auth/passkeys/register/verify', { response: authenticator.create(body.options) })).status,
      ).to.equal(201);
      return { org: of, member, client, authenticator };
    };
    const ask = async ({ org: { tenant }, member }: Pick<Account, 'org' | 'member'>, to: LittleApp = app) =>
      (
        await to.client.post<{ flowId: string; options: RequestOptions }>('/auth/passkeys/login/options', {
          tenantSlug: tenant.slug,
          email: member.email,
        })
      ).body;
    const answer = (flowId: string, response: unknown, to: LittleApp = app) =>
      to.client.post<TokenPair & FrameworkError>('/auth/passkeys/login/verify', { flowId, response });
    const attempt = async (user: Account, behaviour: Behaviour = {}, to: LittleApp = app) => {
      const { flowId, options } = await ask(user, to);
      return answer(flowId, user.authenticator.get(options, behaviour), to);
    };
    /** The same answer for every failure. */
    const refused = ({ status, body, headers }: Answer<FrameworkError>, what?: string) => {
      expect([status, body], what).to.deep.equal([
        401,
        { statusCode: 401, message: 'Invalid credentials', error: 'Unauthorized' },
      ]);
      expect(headers.get('www-authenticate')).to.match(/^Bearer\b/);
      expect(headers.getSetCookie()).to.deep.equal([]);
    };

    const lastFailure = async ({ member }: Account): Promise<unknown> => {
      const row = await identity.database.read({ tenantId: null }, (tx) =>
        tx.get(
          "SELECT changes FROM audit_log WHERE record_id = ? AND action = 'login_failed' ORDER BY id DESC LIMIT 1",
          [member.id],
        ),
      );
      return JSON.parse(String(row?.['changes']));
    };

    it('one answer sent again, and ten times at once, signs in once', async () => {
      const user = await account();
      const { flowId, options } = await ask(user);
      const response = user.authenticator.get(options);
      const answers = await Promise.all(Array.from({ length: 10 }, () => answer(flowId, response)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      for (const other of answers.filter(({ status }) => status !== 200)) refused(other);
      refused(await answer(flowId, response));
      refused(await answer((await ask(user)).flowId, response), 'under another flow');
    });

    const wrong: Readonly<Record<string, Behaviour>> = {
      'from another origin': { origin: 'https://evil.example.test' },
      'from our host without its scheme': { origin: 'book.example.test' },
      'for another relying party': { rpId: 'evil.example.test' },
      'of the type of a registration': { type: 'webauthn.create' },
      'to another challenge': { challenge: Buffer.alloc(32, 1).toString('base64url') },
      'to an empty challenge': { challenge: '' },
      'without user verification': { verified: false },
      'without user presence': { present: false },
      'from a frame of another site': { crossOrigin: true },
      'of a formerly device-bound key': { synced: true },
      'with the handle of another member': {
        userHandle: Buffer.from('01890000-0000-7000-8000-000000000001').toString('base64url'),
      },
    };
    for (const [name, behaviour] of Object.entries(wrong)) {
      it(`an answer ${name} is refused, and uses up the challenge`, async () => {
        const user = await account();
        const { flowId, options } = await ask(user);
        refused(await answer(flowId, user.authenticator.get(options, behaviour)));
        refused(await answer(flowId, user.authenticator.get(options)));
        expect((await attempt(user)).status).to.equal(200);
      });
    }

    it('a signature, the data it signs or the credential it names cannot be altered', async () => {
      const user = await account();
      const flipped = (text: string, at: number) => {
        const buffer = Buffer.from(text, 'base64url');
        buffer[at] = (buffer[at] ?? 0) ^ 1;
        return buffer.toString('base64url');
      };
      const alter: Readonly<Record<string, (assertion: Assertion) => Partial<Assertion['response']>>> = {
        signature: ({ response }) => ({ signature: flipped(response.signature, 40) }),
        'no signature': () => ({ signature: 'AA' }),
        counter: ({ response }) => ({ authenticatorData: flipped(response.authenticatorData, 35) }),
        'client data': ({ response }) => ({
          clientDataJSON: Buffer.from(
            Buffer.from(response.clientDataJSON, 'base64url')
              .toString()
              .replace('"crossOrigin":false', '"crossOrigin":false,"x":1'),
          ).toString('base64url'),
        }),
        'authenticator data cut short': ({ response }) => ({
          authenticatorData: response.authenticatorData.slice(0, 20),
        }),
        'authenticator data as zeros': () => ({ authenticatorData: '\u0000' }),
      };
      for (const [name, change] of Object.entries(alter)) {
        const { flowId, options } = await ask(user);
        const assertion = user.authenticator.get(options);
        refused(
          await answer(flowId, { ...assertion, response: { ...assertion.response, ...change(assertion) } }),
          name,
        );
      }
      for (const id of ['\u0000', 'AAAA', 'ü', 'x'.repeat(2_000)]) {
        const { flowId, options } = await ask(user);
        refused(await answer(flowId, { ...user.authenticator.get(options), id, rawId: id }), id.slice(0, 10));
      }
      expect(app.logged.filter(({ msg }) => msg === 'unexpected error')).to.deep.equal([]);
    });

    it("the passkeys of two members do not open each other's account", async () => {
      const [mine, theirs] = [await account(), await account()];
      const { flowId, options } = await ask(mine);
      refused(await answer(flowId, theirs.authenticator.get(options)));
      const again = await ask(mine);
      refused(
        await answer(
          again.flowId,
          theirs.authenticator.get(again.options, { userHandle: Buffer.from(mine.member.id).toString('base64url') }),
        ),
        'with my handle',
      );
    });

    it('a passkey of the same email in another tenant does not sign in here', async () => {
      const other = await makeTenant(identity);
      const email = `both-${org.tenant.slug}@example.test`;
      const [here, there] = [await account({ email }), await account({ of: other, email })];
      const { flowId, options } = await ask(here);
      refused(await answer(flowId, there.authenticator.get(options)));
      expect((await attempt(there)).status).to.equal(200);
    });

    it('a registration flow, an unknown flow and an expired one do not open a session', async () => {
      const user = await account();
      const { body } = await user.client.post<{ flowId: string; options: CreationOptions }>(
        '/auth/passkeys/register/options',
      );
      refused(
        await answer(
          body.flowId,
          user.authenticator.get({ challenge: body.options.challenge, rpId: body.options.rp.id }),
        ),
        'of a registration',
      );
      refused(
        await answer('x', user.authenticator.get({ challenge: 'x', rpId: 'book.example.test' })),
        'of an unknown user',
      );
      const { flowId, options } = await ask(user);
      identity.clock.advance(5 * 60_000);
      refused(await answer(flowId, user.authenticator.get(options)), 'over');
    });

    it('a copied authenticator, whose counter falls behind, is refused with a separate reason in the audit', async () => {
      const user = await account();
      expect((await attempt(user, { counter: 40 })).status).to.equal(200);
      for (const counter of [40, 39, 1, 0]) refused(await attempt(user, { counter }), String(counter));
      expect((await attempt(user, { counter: 41 })).status).to.equal(200);
      expect((await attempt(user, { counter: 4_294_967_295 })).status).to.equal(200);
      expect(await lastFailure(user)).to.deep.equal({ reason: 'passkey_counter' });
    });

    it('of two answers with the same counter, at most one signs in', async () => {
      const user = await account();
      const asked = [await ask(user), await ask(user), await ask(user)];
      const answers = await Promise.all(
        asked.map(({ flowId, options }) => answer(flowId, user.authenticator.get(options, { counter: 7 }))),
      );
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it('a disabled member is refused like a bad signature, also in a suspended tenant; others are given the reason', async () => {
      const of = await makeTenant(identity);
      const [disabled, stays] = [await account({ of }), await account({ of })];
      const before = await ask(disabled);
      await identity.tenants.members.setStatus(
        { tenantId: of.tenant.id, memberId: disabled.member.id, status: 'disabled' },
        OPERATOR,
      );
      refused(await answer(before.flowId, disabled.authenticator.get(before.options)), 'requested before');
      refused(await attempt(disabled), 'requested after');
      expect(await lastFailure(disabled)).to.deep.equal({ reason: 'standing' });
      expect((await attempt(stays)).status).to.equal(200);
      await identity.database.write({ tenantId: null }, (tx) =>
        tx.run("UPDATE tenants SET status = 'suspended' WHERE id = ?", [of.tenant.id]),
      );
      const { status, body } = await attempt(stays);
      expect([status, (body as unknown as DomainError).error.code]).to.deep.equal([403, 'TENANT_SUSPENDED']);
      expect(await lastFailure(stays)).to.deep.equal({ reason: 'tenant_suspended' });
      refused(await attempt(stays, { verified: false }), 'a bad signature');
      refused(await attempt(disabled), 'a disabled member of it');
    });

    it('a locked password does not block a passkey, nor do failed passkeys lock the password', async () => {
      const user = await account();
      for (let count = 0; count < 10; count += 1)
        await app.client.post('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: user.member.email,
          password: 'wrong',
        });
      const password = { tenantSlug: org.tenant.slug, email: user.member.email, password: PASSWORD };
      expect((await app.client.post('/auth/login', password)).status).to.equal(429);
      expect((await attempt(user)).status).to.equal(200);
      identity.clock.advance(16 * 60_000);
      for (let count = 0; count < 12; count += 1) refused(await attempt(user, { verified: false }));
      expect((await app.client.post('/auth/login', password)).status).to.equal(200);
    });

    it('an address with too many failed attempts gets 429 for further ones, but a valid passkey still signs in from it', async () => {
      const user = await account();
      const strict = await serveIdentity(
        await startIdentity(identity.database, {
          ...identity.options,
          loginFailuresPerAccount: 10,
          loginFailuresPerIp: 3,
        }),
      );
      try {
        identity.clock.advance(16 * 60_000);
        for (let count = 0; count < 3; count += 1) refused(await attempt(user, { verified: false }, strict));
        const beyond = await attempt(user, { verified: false }, strict);
        expect(beyond.status).to.equal(429);
        expect(Number(beyond.headers.get('retry-after'))).to.be.within(1, 900);
        expect((await attempt(user, {}, strict)).status).to.equal(200);
      } finally {
        await strict.stop();
        identity.clock.advance(16 * 60_000);
      }
    });

    it('if admins need a second factor, a passkey counts as both, and a password alone does not suffice', async () => {
      const user = await account({ roleCode: 'admin' });
      const strict = await serveIdentity(
        await startIdentity(identity.database, { ...identity.options, mfaRequiredForAdmins: true }),
      );
      try {
        const byPassword = await strict.client.post<{ mfaRequired: boolean }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: user.member.email,
          password: PASSWORD,
        });
        expect([byPassword.status, byPassword.body.mfaRequired]).to.deep.equal([200, true]);
        expect((await attempt(user, {}, strict)).body.accessToken).to.be.a('string');
      } finally {
        await strict.stop();
      }
    });
  });
});
