import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { makeMember, makeTenant, type MadeTenant } from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import type { Answer } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

/** The maximum number of open sign-ins per client: `MOST_OPEN`, and what concurrent requests may add. */
const OPEN = { least: 1_000, most: 1_025 };
const AT_ONCE = 25;

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the rows that an unauthenticated client leaves in the database, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let clock: FakeClock;
    let org: MadeTenant;
    before(async () => {
      clock = fakeClock();
      server = await startServer({ database: kind, clock, env: { TRUST_PROXY: '1' } });
      org = await makeTenant(server.services);
    });
    after(() => server.stop());

    const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
    const count = async (table: string): Promise<number> =>
      Number(
        (
          await server.foundation.platform.read({ tenantId: null }, (tx) =>
            tx.get(`SELECT count(*) AS n FROM ${table}`),
          )
        )?.['n'],
      );
    const flood = async (times: number, request: () => Promise<Answer<unknown>>): Promise<void> => {
      for (let sent = 0; sent < times; sent += AT_ONCE) {
        clock.advance(1);
        await Promise.all(Array.from({ length: AT_ONCE }, request));
      }
    };
    const question = (address: string) =>
      server.client.post<{ flowId: string }>(
        '/auth/passkeys/login/options',
        { tenantSlug: org.tenant.slug, email: 'somebody@ghost.test' },
        from(address),
      );
    const start = (address: string) =>
      server.client.get('/auth/sso/corp/start', {
        ...from(address),
        query: { tenantSlug: org.tenant.slug, next: `/${'n'.repeat(1_500)}` },
      });

    for (const { what, table, begin } of [
      { what: 'questions to passkeys', table: 'passkey_flows', begin: question },
      { what: 'sign-ins at a provider', table: 'sso_flows', begin: start },
    ]) {
      it(`${what}: at most a thousand of one network, the newest, without affecting others`, async () => {
        const before = await count(table);
        expect((await begin('203.0.113.9')).status).to.be.oneOf([200, 302]);
        let host = 0;
        await flood(1_200, () => begin(`2001:db8:7:7::${(host = (host + 1) % 60_000).toString(16)}`));
        expect((await count(table)) - before - 1).to.be.within(OPEN.least, OPEN.most);
        const others = await server.foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all(`SELECT asker, count(*) AS n FROM ${table} GROUP BY asker ORDER BY n`),
        );
        expect(others.map(({ n }) => Number(n))[0], 'of the other address').to.equal(1);
      });
    }

    it('resets of unknown accounts: no more rows than slots', async () => {
      const rows = async () => ({
        resets: await count('password_resets'),
        counts: await count('login_failures'),
        mails: await count('mail_outbox'),
      });
      // Of 4 096 slots some are used twice by so many requests: the birthday problem leaves about 3 400 distinct ones.
      await flood(600, () =>
        server.client.post(
          '/auth/password-reset/request',
          { tenantSlug: `no-${randomBytes(4).toString('hex')}`, email: `${randomBytes(6).toString('hex')}@ghost.test` },
          from('198.51.100.7'),
        ),
      );
      const { resets, counts, mails } = await rows();
      expect([resets < 600, counts < 600, mails < 600], JSON.stringify({ resets, counts, mails })).to.deep.equal([
        true,
        true,
        true,
      ]);
      const places = await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all('SELECT account_hash FROM password_resets'),
      );
      for (const { account_hash: place } of places) expect(place).to.match(/^nobody:[0-9a-f]{3}$/);
    });

    it('resets of members still work when unauthenticated clients have exhausted that limit', async () => {
      const member = await makeMember(server.services, org);
      const reset = await server.client.post(
        '/auth/password-reset/request',
        { tenantSlug: org.tenant.slug, email: member.email },
        from('198.51.100.7'),
      );
      expect(reset.status).to.equal(200);
      const found = await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all('SELECT member_id FROM password_resets WHERE member_id = ?', [member.id]),
      );
      expect(found).to.have.length(1);
    });
  });
}
