import { expect } from 'chai';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { createLoginLimits } from '../../server/auth/limits.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { fakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';

describe('login limits by address', () => {
  forEachDatabase((_kind, fresh) => {
    /** Whether a failure from the first address locks the second. */
    const together = async (first: string, second: string): Promise<boolean> => {
      const { database } = await fresh();
      await migrate(database, PLATFORM_MIGRATIONS);
      const limits = createLoginLimits({ database, clock: fakeClock(), failuresPerAccount: 0, failuresPerIp: 1 });
      await database.write({ tenantId: null }, (tx) => limits.failed(tx, { account: null, ip: first }));
      return limits.refuseLocked({ account: null, ip: second }).then(
        () => false,
        () => true,
      );
    };

    it('count an IPv6 /64 network as one address, in any notation', async () => {
      expect(await together('2001:db8:1:2::1', '2001:DB8:1:2:ffff::9')).to.equal(true);
      expect(await together('2001:db8:0:0:1::1', '2001:db8::7')).to.equal(true);
      expect(await together('::ffff:192.0.2.1', '192.0.2.1')).to.equal(true);
    });

    it('distinguish networks and IPv4 addresses', async () => {
      expect(await together('2001:db8:1:2::1', '2001:db8:1:3::1')).to.equal(false);
      expect(await together('::1', '2001:db8::1')).to.equal(false);
      expect(await together('192.0.2.1', '192.0.2.2')).to.equal(false);
    });

    it('delete expired counts', async () => {
      const { database } = await fresh();
      await migrate(database, PLATFORM_MIGRATIONS);
      const clock = fakeClock();
      const limits = createLoginLimits({ database, clock, failuresPerAccount: 10, failuresPerIp: 10 });
      const failFrom = (ip: string) =>
        database.write({ tenantId: null }, (tx) =>
          limits.failed(tx, { account: { tenantSlug: 'a', email: `${ip}@b.test` }, ip }),
        );
      for (let host = 1; host <= 5; host++) await failFrom(`192.0.2.${host}`);
      clock.advance(12 * 3_600_000);
      await failFrom('192.0.2.9');
      const rows = await database.read({ tenantId: null }, (tx) => tx.all('SELECT key FROM login_failures'));
      expect(rows).to.have.length(2);
    });
  });
});
