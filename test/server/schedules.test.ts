import { expect } from 'chai';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { Leases } from '../../data-plane-agent/base/database/leases.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createSchedules, type Job } from '../../data-plane-agent/base/schedules.js';
import { removeExpired } from '../../server/store/expiry.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';

const NEVER = '0 0 0 1 1 *';
const DAY_MS = 24 * 3_600_000;

forEachDatabase((_kind, fresh) => {
  describe('schedules', () => {
    let database: Database;
    let clock: FakeClock;
    const logged: Record<string, unknown>[] = [];
    const log = createLog({
      level: 'error',
      name: 'test',
      destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const processOf = (jobs: readonly Job[], holder: string) =>
      createSchedules({ jobs, leases: new Leases(database, clock, { holder, log }), log });

    before(async () => {
      ({ database } = await fresh());
      await migrate(database, PLATFORM_MIGRATIONS);
      clock = fakeClock();
    });

    it('run a job in one process at a time, and then in the next', async () => {
      let release: () => void = () => undefined;
      let runs = 0;
      const job: Job = {
        name: 'alone',
        rule: NEVER,
        run: () => {
          runs += 1;
          return runs === 1 ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve();
        },
      };
      const [one, other] = [processOf([job], 'one'), processOf([job], 'other')];
      const first = one.run('alone');
      while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
      await other.run('alone');
      expect(runs, 'while the lease is held').to.equal(1);
      release();
      await first;
      await other.run('alone');
      expect(runs).to.equal(2);
    });

    it('acquire no lease when nothing is due', async () => {
      let asked = 0;
      const idle = processOf(
        [
          {
            name: 'idle',
            rule: NEVER,
            isDue: () => {
              asked += 1;
              return Promise.resolve(false);
            },
            run: () => Promise.reject(new Error('nothing is due')),
          },
        ],
        'one',
      );
      await idle.run('idle');
      expect(asked).to.equal(1);
      expect(
        await database.read({ tenantId: null }, (tx) => tx.get("SELECT 1 AS found FROM leases WHERE name = 'idle'")),
      ).to.equal(undefined);
    });

    it('log a failure and continue', async () => {
      const failing = processOf([{ name: 'failing', rule: NEVER, run: () => Promise.reject(new Error('no')) }], 'one');
      await failing.run('failing');
      expect(logged.at(-1)).to.include({ job: 'failing', msg: 'scheduled work failed' });
    });

    it('abort running work at the stop, wait for it, and start no more', async () => {
      let begun = 0;
      const seen: boolean[] = [];
      const schedules = processOf(
        [
          {
            name: 'long',
            rule: NEVER,
            run: async (signal) => {
              begun += 1;
              await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
              seen.push(signal.aborted);
            },
          },
        ],
        'one',
      );
      schedules.start();
      const running = schedules.run('long');
      while (begun === 0) await new Promise((resolve) => setImmediate(resolve));
      await schedules.stop();
      expect(seen).to.deep.equal([true]);
      await running;
      await schedules.run('long');
      expect(begun).to.equal(1);
    });

    it('delete expired records only', async () => {
      const at = clock.now();
      await database.write({ tenantId: null }, async (tx) => {
        for (const [name, expiresAt] of [
          ['over', at],
          ['live', at + 1],
        ] as const) {
          await tx.run(
            'INSERT INTO password_resets (account_hash, token_hash, tenant_id, member_id, expires_at, created_at) VALUES (?, ?, NULL, NULL, ?, ?)',
            [name, name, expiresAt, at],
          );
        }
        for (const [id, status, createdAt] of [
          ['01890000-0000-7000-8000-000000000001', 'void', at - DAY_MS],
          ['01890000-0000-7000-8000-000000000002', 'queued', at - 400 * DAY_MS],
          ['01890000-0000-7000-8000-000000000003', 'sent', at - DAY_MS],
        ] as const) {
          await tx.run(
            "INSERT INTO mail_outbox (id, template, language, recipient, status, attempts, next_at, created_at, updated_at) VALUES (?, 'x', 'en', '', ?, 0, 0, ?, 0)",
            [id, status, createdAt],
          );
        }
      });
      expect(await removeExpired(database, { at })).to.equal(2);
      const left = await database.read({ tenantId: null }, async (tx) =>
        [
          ...(await tx.all('SELECT account_hash AS it FROM password_resets')),
          ...(await tx.all('SELECT status AS it FROM mail_outbox ORDER BY id')),
        ].map(({ it }) => it),
      );
      expect(left).to.deep.equal(['live', 'queued', 'sent']);
      expect(await removeExpired(database, { at })).to.equal(0);
    });
  });
});
