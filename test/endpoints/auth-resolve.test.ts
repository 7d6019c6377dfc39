import { expect } from 'chai';
import { readServerConfig } from '../../server/config.js';
import {
  makeMember,
  makeTenant,
  OPERATOR,
  serveIdentity,
  startIdentity,
  uniqueSlug,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';

/** The default. */
function byDefault(): number {
  const read = readServerConfig({});
  if (!read.ok) throw new Error('the default settings are invalid');
  return read.values.loginResolvesPerMinute;
}

interface Found {
  readonly tenants: readonly { readonly slug: string; readonly name: string }[];
}

describe('the organisations of an email', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database, { loginResolvesPerMinute: byDefault() });
      app = await serveIdentity(identity);
    });
    beforeEach(() => identity.clock.advance(60_000));
    after(() => app.stop());

    const ask = (email: string) => app.client.post<Found>('/auth/login/resolve', { email });
    const unusedEmail = () => `${uniqueSlug()}@people.test`;

    it('are those in which it is active, by slug', async () => {
      const email = unusedEmail();
      const [one, other, disabledThere, suspended] = [
        await makeTenant(identity),
        await makeTenant(identity),
        await makeTenant(identity),
        await makeTenant(identity),
      ];
      for (const made of [one, other, suspended]) await makeMember(identity, made, { email });
      const disabled = await makeMember(identity, disabledThere, { email });
      await identity.tenants.members.setStatus(
        { tenantId: disabledThere.tenant.id, memberId: disabled.id, status: 'disabled' },
        OPERATOR,
      );
      await identity.database.write({ tenantId: null }, (tx) =>
        tx.run("UPDATE tenants SET status = 'suspended' WHERE id = ?", [suspended.tenant.id]),
      );
      const answer = await ask(` ${email.toUpperCase()} `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        tenants: [one, other]
          .map(({ tenant: { slug, name } }) => ({ slug, name }))
          .toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
      });
    });

    it('are an empty list for an unknown address, in the same shape', async () => {
      const answer = await ask('ghost@nowhere.test');
      expect([answer.status, answer.body]).to.deep.equal([200, { tenants: [] }]);
      expect((await ask('no email')).status).to.equal(400);
    });

    it('are returned a hundred and twenty times a minute to one network address, for any emails, also to concurrent requests', async () => {
      const answers = await Promise.all(Array.from({ length: 126 }, () => ask(unusedEmail())));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(120);
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).to.have.length(6);
      expect(Number(refused[0]?.headers.get('retry-after'))).to.be.within(1, 60);
      identity.clock.advance(60_000);
      expect((await ask(unusedEmail())).status).to.equal(200);
    });

    it('are returned twenty times an hour for one email, whether or not it is in use', async () => {
      for (const email of [unusedEmail(), (await makeTenant(identity)).owner.email]) {
        const statuses: number[] = [];
        for (let round = 1; round <= 21; round++) {
          statuses.push((await ask(email)).status);
        }
        expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 200), 429]);
        identity.clock.advance(3_600_000);
      }
    });

    it('are returned twenty times for one email also to concurrent requests, in any spelling, and other emails still are', async () => {
      const email = unusedEmail();
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => ask(i % 2 === 0 ? email : ` ${email.toUpperCase()}`)),
      );
      expect([200, 429].map((status) => answers.filter((answer) => answer.status === status).length)).to.deep.equal([
        20, 10,
      ]);
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).to.be.within(60, 3_600);
      expect((await ask(unusedEmail())).status).to.equal(200);
    });

    it('are recorded as a request in the audit, without the email', async () => {
      const email = unusedEmail();
      await ask(email);
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all("SELECT * FROM audit_log WHERE action = 'login_resolved' ORDER BY id DESC LIMIT 1"),
      );
      expect(JSON.stringify(rows)).to.contain('"found').and.not.contain(email);
    });

    it('are not returned if the endpoint is disabled', async () => {
      const off = await serveIdentity(
        await startIdentity(identity.database, { ...identity.options, loginResolvesPerMinute: 0 }),
      );
      try {
        const { owner } = await makeTenant(identity);
        expect((await off.client.post('/auth/login/resolve', { email: owner.email })).body).to.deep.equal({
          tenants: [],
        });
      } finally {
        await off.stop();
      }
    });
  });
});
