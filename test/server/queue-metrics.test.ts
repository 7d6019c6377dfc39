import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { queueReadings } from '../../server/notifications/metrics.js';
import { fakeClock } from '../support/clock.js';
import { startServer, type TestServer } from '../support/server.js';
import { needsPostgres } from '../support/postgres.js';

const ROW =
  "INSERT INTO mail_outbox (id, template, language, recipient, status, attempts, next_at, created_at, updated_at) VALUES (?, 'invitation', 'en', 'a@b.example', ?, 0, ?, 0, 0)";

for (const database of ['sqlite', 'postgres'] as const)
  describe(`the age of the queues on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    const clock = fakeClock(1_000_000);
    let server: TestServer;
    before(async () => {
      server = await startServer({ database, clock, env: { METRICS_TOKEN: 'a-token' } });
      await server.schedules.stop(); // they would send what waits
    });
    after(() => server.stop());

    it('is measured from the oldest message that is due, over all organisations', async () => {
      const { platform, hosted } = server.foundation;
      const read = queueReadings({ platform, hosted, clock });
      const nothing = { waiting: 0, oldestSeconds: 0 };
      expect(await read()).to.deep.equal({ mail: nothing, outbox: nothing });
      for (const [status, nextAt] of [
        ['queued', 900_000],
        ['queued', 990_000],
        ['queued', 1_000_001],
        ['failed', 1],
      ] as const)
        await platform.write({ tenantId: null }, (tx) => tx.run(ROW, [newId(), status, nextAt]));
      for (const [kind, dueAt] of [
        ['outbox', 940_000],
        ['outbox', 995_000],
        ['outbox', 1_000_001],
        ['audit', 1],
      ] as const) {
        const tenantId = newId();
        await hosted?.database.write({ tenantId }, (tx) =>
          tx.run('INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES (?, ?, 0, ?)', [tenantId, kind, dueAt]),
        );
      }
      expect(await read()).to.deep.equal({
        mail: { waiting: 2, oldestSeconds: 100 },
        outbox: { waiting: 2, oldestSeconds: 60 },
      });
    });

    it('is on /metrics', async () => {
      const { text } = await server.client.raw('/metrics', { headers: { Authorization: 'Bearer a-token' } });
      for (const queue of ['mail', 'outbox'])
        expect(text)
          .to.contain(`duebook_outbox_waiting{queue="${queue}"}`)
          .and.contain(`duebook_outbox_oldest_seconds{queue="${queue}"}`);
    });
  });
