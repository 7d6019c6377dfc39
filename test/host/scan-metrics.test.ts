import { expect } from 'chai';
import { administration } from '../support/administration.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { settled } from '../support/file-server.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

const HOUR_S = 3_600;

for (const database of ['sqlite', 'postgres'] as const)
  describe(`the metrics of scans on ${database}`, function () {
    this.timeout(180_000);
    needsClamd();
    if (database === 'postgres') needsPostgres();
    let clamd: TestClamd;
    let server: TestServer;
    let clock: FakeClock;
    before(async () => {
      clock = fakeClock(Date.now());
      clamd = await startClamd();
      const env = { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url, METRICS_TOKEN: 'a-token' };
      server = await startServer({ database, clock, env });
      await settled(server);
    });
    after(async () => {
      await server?.stop();
      await clamd?.stop();
    });

    const metrics = async (): Promise<Map<string, number>> => {
      const { text } = await server.client.raw('/metrics', { headers: { Authorization: 'Bearer a-token' } });
      return new Map(
        [...text.matchAll(/^(duebook_file_scan[^ ]*) (.+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
      );
    };
    const counts = (all: ReadonlyMap<string, number>): (number | undefined)[] =>
      ['clean', 'infected', 'error', 'unsent'].map((verdict) =>
        all.get(`duebook_file_scans_total{verdict="${verdict}"}`),
      );
    const OLDEST = 'duebook_file_scans_oldest_seconds';

    it('count verdicts, measure the scans, and have the age of the oldest file that waits', async () => {
      expect(counts(await metrics())).to.deep.equal([0, 0, 0, 0]);
      const uploads = uploadsOf((await administration(server)).asOwner);
      const upload = (content: string, contentType = 'text/plain') =>
        uploads.upload({ fileName: 'note.txt', contentType, bytes: Buffer.from(content) });
      await upload('harmless');
      await upload('harmless too');
      await upload(EICAR);
      const scanned = await metrics();
      expect(counts(scanned)).to.deep.equal([2, 1, 0, 0]);
      expect(scanned.get('duebook_file_scan_duration_seconds_count{verdict="clean"}')).to.equal(2);
      expect(scanned.get('duebook_file_scan_duration_seconds_sum{verdict="clean"}')).to.be.greaterThan(0);
      expect(scanned.get(OLDEST)).to.equal(0);

      await clamd.stop();
      expect((await upload('waits')).scanStatus).to.equal('error');
      clock.advance(HOUR_S * 1_000);
      await server.schedules.run('file-scans'); // does nothing without a scanner
      const waiting = await metrics();
      expect(counts(waiting)).to.deep.equal([2, 1, 0, 1]);
      expect(waiting.get(OLDEST)).to.be.within(HOUR_S, HOUR_S + 600);
    });
  });
