import { expect } from 'chai';
import {
  OPERATOR,
  PASSWORD,
  countedArgon2,
  makeMember,
  makeTenant,
  serveIdentity,
  startIdentity,
  uniqueSlug,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

describe('failed sign-ins', () => {
  forEachDatabase((_kind, fresh) => {
    const argon2 = countedArgon2();
    let identity: TestIdentity;
    let app: LittleApp;
    let made: MadeTenant;
    before(async () => {
      identity = await startIdentity((await fresh()).database, {
        argon2,
        loginFailuresPerAccount: 10,
        loginFailuresPerIp: 0,
      });
      app = await serveIdentity(identity);
      made = await makeTenant(identity);
    });
    after(() => app.stop());

    const login = (email: string, password: string, tenantSlug = made.tenant.slug) =>
      app.client.post<FrameworkError>('/auth/login', { tenantSlug, email, password });

    it('get the same answer and compute one hash each, whatever the reason', async () => {
      const member = await makeMember(identity, made);
      const disabled = await makeMember(identity, made);
      await identity.tenants.members.setStatus(
        { tenantId: made.tenant.id, memberId: disabled.id, status: 'disabled' },
        OPERATOR,
      );
      const withoutPassword = await identity.tenants.members.add(
        { tenantId: made.tenant.id, email: `sso@${made.tenant.slug}.test`, name: 'Sam', roleCode: 'viewer' },
        OPERATOR,
      );
      const attempts: Record<string, () => ReturnType<typeof login>> = {
        'unknown organisation': () => login(member.email, PASSWORD, uniqueSlug()),
        'unknown email': () => login('ghost@nowhere.test', PASSWORD),
        'disabled member': () => login(disabled.email, PASSWORD),
        'no password': () => login(withoutPassword.email, PASSWORD),
        'wrong password': () => login(member.email, 'wrong-password'),
      };
      for (const [reason, attempt] of Object.entries(attempts)) {
        const before = argon2.calls;
        const answer = await attempt();
        expect(answer.status, reason).to.equal(401);
        expect(answer.body, reason).to.deep.equal({
          statusCode: 401,
          message: 'Invalid credentials',
          error: 'Unauthorized',
        });
        expect(answer.headers.get('www-authenticate'), reason).to.equal('Bearer');
        expect(argon2.calls - before, reason).to.equal(1);
      }
    });

    for (const kind of ['an account', 'an account that does not exist'] as const) {
      it(`lock ${kind} after ten, also against the right password`, async () => {
        const email = kind === 'an account' ? (await makeMember(identity, made)).email : `${uniqueSlug()}@ghost.test`;
        for (let failure = 1; failure <= 10; failure++)
          expect((await login(email, 'wrong-password')).status, `failure ${failure}`).to.equal(401);
        const hashes = argon2.calls;
        const locked = await login(email, PASSWORD);
        expect(locked.status).to.equal(429);
        expect(locked.headers.get('retry-after')).to.equal('30');
        expect(argon2.calls).to.equal(hashes);
      });
    }

    it('are audited at the first failure and at the lock, with its duration', async () => {
      const member = await makeMember(identity, made);
      for (let failure = 1; failure <= 12; failure++) await login(member.email, 'wrong-password');
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT changes FROM audit_log WHERE record_id = ? AND action = 'login_failed' ORDER BY id", [
          member.id,
        ]),
      );
      const locks = rows.map(
        (row) => (JSON.parse(String(row['changes'])) as { lockedForSeconds?: number }).lockedForSeconds,
      );
      expect(locks).to.deep.equal([undefined, 30]); // the count is recorded at the end of the hour
    });

    it('double the lock with each further failure, up to fifteen minutes', async () => {
      const { email } = await makeMember(identity, made);
      for (let failure = 1; failure <= 10; failure++) await login(email, 'wrong-password');
      const waits: number[] = [];
      for (let round = 0; round < 7; round++) {
        const wait = Number((await login(email, 'wrong-password')).headers.get('retry-after'));
        waits.push(wait);
        identity.clock.advance(wait * 1_000);
        expect((await login(email, 'wrong-password')).status).to.equal(401);
      }
      expect(waits).to.deep.equal([30, 60, 120, 240, 480, 900, 900]);
      identity.clock.advance(900_000);
      expect((await login(email, PASSWORD)).status).to.equal(200);
    });

    it('are reset by a sign-in, and twelve hours after the last', async () => {
      const { email } = await makeMember(identity, made);
      const fail = async (times: number) => {
        for (let failure = 1; failure <= times; failure++)
          expect((await login(email, 'wrong-password')).status).to.equal(401);
      };
      await fail(9);
      expect((await login(email, PASSWORD)).status).to.equal(200);
      await fail(9);
      identity.clock.advance(12 * 3_600_000);
      await fail(9);
      expect((await login(email, PASSWORD)).status).to.equal(200);
    });

    it('are evaluated for ten of fifty concurrent guesses', async () => {
      const { email } = await makeMember(identity, made);
      const answers = await Promise.all(Array.from({ length: 50 }, () => login(email, 'wrong-password')));
      expect(answers.filter(({ status }) => status === 401)).to.have.length(10);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(40);
    });

    it('do not prevent many correct ones at once', async () => {
      const { email } = await makeMember(identity, made);
      const answers = await Promise.all(Array.from({ length: 20 }, () => login(email, PASSWORD)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    });

    it('count across replicas and restarts', async () => {
      const { email } = await makeMember(identity, made);
      for (let failure = 1; failure <= 5; failure++) await login(email, 'wrong-password');
      const replica = await serveIdentity(await startIdentity(identity.database, identity.options));
      try {
        const there = () =>
          replica.client.post('/auth/login', { tenantSlug: made.tenant.slug, email, password: 'wrong-password' });
        for (let failure = 6; failure <= 10; failure++) expect((await there()).status).to.equal(401);
        expect((await there()).status).to.equal(429);
        expect((await login(email, PASSWORD)).status).to.equal(429);
      } finally {
        await replica.stop();
      }
    });

    it('lock an address until the end of its quarter of an hour, for every account and for codes', async () => {
      const strict = await startIdentity((await fresh()).database, {
        loginFailuresPerAccount: 0,
        loginFailuresPerIp: 5,
      });
      const here = await serveIdentity(strict);
      try {
        const other = await makeTenant(strict);
        const at = (password: string) =>
          here.client.post('/auth/login', { tenantSlug: other.tenant.slug, email: other.owner.email, password });
        const redeem = () => {
          const slug = uniqueSlug();
          return here.client.post('/auth/redeem', {
            code: 'a-guessed-code',
            tenantName: 'Acme',
            tenantSlug: slug,
            adminName: 'Ada',
            email: `a@${slug}.test`,
            password: PASSWORD,
          });
        };
        for (let failure = 1; failure <= 4; failure++) expect((await at('wrong-password')).status).to.equal(401);
        expect((await at(PASSWORD)).status).to.equal(200);
        strict.clock.advance(60_000);
        expect((await redeem()).status).to.equal(422);
        const locked = await at(PASSWORD);
        expect(locked.status).to.equal(429);
        expect(locked.headers.get('retry-after')).to.equal('840');
        expect((await redeem()).status).to.equal(429);
        strict.clock.advance(840_000);
        expect((await at(PASSWORD)).status).to.equal(200);
      } finally {
        await here.stop();
      }
    });

    it('lock nothing if the limits are disabled', async () => {
      const open = await startIdentity(identity.database, {
        ...identity.options,
        loginFailuresPerAccount: 0,
        loginFailuresPerIp: 0,
      });
      const here = await serveIdentity(open);
      try {
        const { email } = await makeMember(identity, made);
        for (let failure = 1; failure <= 12; failure++) {
          expect(
            (await here.client.post('/auth/login', { tenantSlug: made.tenant.slug, email, password: 'wrong-password' }))
              .status,
          ).to.equal(401);
        }
      } finally {
        await here.stop();
      }
    });
  });
});
