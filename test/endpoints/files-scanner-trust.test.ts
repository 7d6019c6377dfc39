import { expect } from 'chai';
import { setTimeout } from 'node:timers/promises';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import type { HealthRecord } from '../../server/services/health.schemas.js';
import { aZip } from '../support/archives.js';
import { administration, type Administration } from '../support/administration.js';
import { EICAR, needsClamd, settingsOf, startClamd, type ClamdOptions, type TestClamd } from '../support/clamd.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { ownerOf, settled } from '../support/file-server.js';
import { freePort } from '../support/guardian.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type DatabaseKind, type TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

const MIB = 2 ** 20;
const ALERTS = { AlertExceedsMax: 'yes', AlertEncrypted: 'yes' };
const FAILED = 'the scanner failed its self-test: files are not scanned';

for (const database of ['sqlite', 'postgres'] as const satisfies readonly DatabaseKind[])
  describe(`a scanner that starts, stops and changes its settings, on ${database}`, function () {
    this.timeout(180_000);
    needsClamd();
    if (database === 'postgres') needsPostgres();
    let port: number;
    let clamd: TestClamd | undefined;
    let server: TestServer;
    let clock: FakeClock;
    let org: Administration;

    const start = async (options: ClamdOptions = {}): Promise<void> => {
      clamd = await startClamd({ ...options, port });
    };
    const stop = async (): Promise<void> => {
      await clamd?.stop();
      clamd = undefined;
    };
    /** The server starts with a clamd only if `options` are given. */
    const serverWith = async (options?: ClamdOptions): Promise<void> => {
      if (options) await start(options);
      clock = fakeClock(Date.now());
      server = await startServer({
        database,
        clock,
        env: { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: `tcp://127.0.0.1:${port}` },
      });
      await settled(server);
      org = await administration(server);
    };
    beforeEach(async () => (port = await freePort()));
    afterEach(async () => {
      await server.stop();
      await stop();
    });

    const upload = (bytes: Buffer, type: Partial<{ fileName: string; contentType: string }> = {}) =>
      uploadsOf(org.asOwner).upload({ fileName: 'note.txt', contentType: 'text/plain', ...type, bytes });
    const record = async (id: string): Promise<FileRecord> =>
      (await (await ownerOf(server, org)).get<FileRecord>(`/files/${id}`)).body;
    /** Of a file that waited. The job that runs every 15 seconds may have just taken it: it gets a second to scan it. */
    const scanned = async (id: string): Promise<FileRecord> => {
      const deadline = performance.now() + 1_000;
      for (;;) {
        const file = await record(id);
        if (file.scanStatus !== 'error' || performance.now() > deadline) return file;
        await setTimeout(50);
      }
    };
    const health = async (): Promise<HealthRecord> => (await server.client.get<HealthRecord>('/health')).body;
    /** The job that runs every two seconds. A run that began before the change may still be under way. */
    const askAgain = async (): Promise<void> => {
      await server.schedules.run('scanner');
      await server.schedules.run('scanner');
    };
    const messages = (): unknown[] => server.logged.map(({ msg }) => msg);

    it('costs no file its minute if it starts after the server', async () => {
      await serverWith();
      const [early, evil] = [await upload(Buffer.from('harmless')), await upload(Buffer.from(EICAR))];
      expect(early.scanStatus).to.equal('error');
      expect(early.scanError).to.match(/cannot be reached \(ECONNREFUSED\)$/);
      expect(await health()).to.include({ status: 'ok', scanner: 'down' });
      const silent = server.logged.find(({ msg }) => msg === 'the scanner does not answer: files wait until it does');
      expect(silent?.['fix']).to.match(/^check that clamd runs .* and that CLAMAV_URL is correct and reachable/);
      await start();
      await askAgain(); // the time of the files has not advanced
      expect(await scanned(early.id)).to.include({ scanStatus: 'clean', scanError: null });
      expect(await scanned(evil.id)).to.include({ scanStatus: 'infected' });
      expect((await upload(Buffer.from('also harmless'))).scanStatus).to.equal('clean');
      expect(await health()).to.include({ scanner: 'up' });
      expect(messages()).to.include('the scanner passes its self-test').and.not.to.include(FAILED);
    });

    it('is used by the first upload after its start, without a wait', async () => {
      await serverWith();
      expect((await upload(Buffer.from('harmless'))).scanStatus).to.equal('error');
      await start();
      expect((await upload(Buffer.from('harmless'))).scanStatus).to.equal('clean');
    });

    it('keeps an earlier pass when the test of the start comes later, and when it restarts', async () => {
      await serverWith({});
      expect((await upload(Buffer.from('harmless'))).scanStatus).to.equal('clean');
      await stop();
      const before = server.logged.length;
      await server.foundation.hosted?.probes.files();
      // The job that runs every two seconds may ask for its version meanwhile.
      const silences = server.logged
        .slice(before)
        .filter(({ msg }) => msg === 'the scanner does not answer: files wait until it does')
        .map(({ reason }) => reason);
      expect(silences.filter((reason) => reason !== 'the scanner does not report its version')).to.deep.equal([]);
      const waiting = await upload(Buffer.from('waits'));
      expect(waiting.scanStatus).to.equal('error');
      await askAgain();
      expect(await health()).to.include({ scanner: 'down' });
      await start();
      await askAgain();
      expect(await scanned(waiting.id)).to.include({ scanStatus: 'clean' });
      expect(messages()).not.to.include(FAILED);
    });

    it('is in the log when it is away and when it is back, also if no file is uploaded in between', async () => {
      await serverWith({});
      const count = (wanted: string) => messages().filter((msg) => msg === wanted).length;
      const away = 'the scanner does not answer: files wait until it does';
      expect([count(away), count('the scanner passes its self-test')]).to.deep.equal([0, 1]);
      await stop();
      for (let round = 0; round < 3; round++) {
        await server.schedules.run('file-scans');
        await askAgain();
      }
      expect(await health()).to.include({ scanner: 'down' });
      expect([count(away), count('the scanner passes its self-test')]).to.deep.equal([1, 1]);
      await start();
      await server.schedules.run('file-scans');
      await askAgain();
      expect(await health()).to.include({ scanner: 'up' });
      expect([count(away), count('the scanner passes its self-test')]).to.deep.equal([1, 2]);
    });

    it('with the clamd.conf of Debian: the log and the file name the lines, and files are scanned once it has them', async () => {
      await serverWith({ conf: 'debian' });
      const lines = [
        'AlertExceedsMax yes',
        'AlertEncrypted yes',
        'StreamMaxLength 51M',
        'MaxFileSize 256M',
        'MaxScanSize 1024M',
      ];
      expect(server.logged.find(({ msg }) => msg === FAILED)?.['lines']).to.deep.equal(lines);
      expect(await health()).to.include({ status: 'ok', scanner: 'untrusted' });
      const file = await upload(Buffer.from('harmless'));
      expect(file.scanError).to.contain('AlertExceedsMax must be yes');
      // No attempts are used up in the meantime.
      for (let hours = 0; hours < 48; hours += 1) {
        clock.advance(3_600_000);
        await server.schedules.run('file-scans');
      }
      expect(
        messages().filter((msg) => msg === FAILED),
        'not once for each test',
      ).to.have.length(1);
      await stop();
      await start({ conf: 'debian', settings: settingsOf(lines) });
      clock.advance(61_000);
      await askAgain();
      expect(await scanned(file.id)).to.include({ scanStatus: 'clean' });
      expect(await health()).to.include({ scanner: 'up' });
    });

    it('with limits that are too small: scans the files below them, and tells the others why they are not scanned', async () => {
      await serverWith({ conf: 'debian', settings: ALERTS });
      const lines = ['StreamMaxLength 51M', 'MaxFileSize 256M', 'MaxScanSize 1024M'];
      expect(
        server.logged.find(
          ({ msg }) => msg === 'the limits of the scanner are too small: larger files are not scanned',
        ),
      ).to.deep.include({ lines, fileBytes: 25 * MIB, partBytes: 25 * MIB });
      expect(await health()).to.include({ status: 'ok', scanner: 'limited' });
      expect((await upload(Buffer.alloc(25 * MIB, 'all is well\n'))).scanStatus).to.equal('clean');
      expect((await upload(Buffer.from(EICAR))).scanStatus).to.equal('infected');

      const large = await upload(Buffer.alloc(25 * MIB + 1, 'all is well\n'));
      expect(large.scanStatus).to.equal('error');
      expect(large.scanError).to.equal(
        'the file is larger than the scanner accepts, 26214400 bytes (25 MiB): its configuration must have StreamMaxLength 51M, MaxFileSize 256M, MaxScanSize 1024M',
      );
      // clamd answers OK for this archive, whose file it skips.
      const zip = { fileName: 'a.zip', contentType: 'application/zip' };
      const deep = aZip({ 'a.txt': Buffer.concat([Buffer.alloc(26 * MIB), Buffer.from(EICAR)]) });
      const archive = await upload(deep, zip);
      expect(archive.scanStatus).to.equal('error');
      expect(archive.scanError).to.contain('a file larger than the scanner inspects, 26214400 bytes (25 MiB)');
      expect((await upload(aZip({ 'a.txt': Buffer.alloc(24 * MIB) }), zip)).scanStatus).to.equal('clean');

      await stop();
      await start({ conf: 'debian', settings: { ...ALERTS, ...settingsOf(lines) } });
      clock.advance(600_001); // the test is then repeated
      await server.schedules.run('file-scans');
      expect(await record(large.id)).to.include({ scanStatus: 'clean', scanError: null });
      expect(await record(archive.id)).to.include({ scanStatus: 'infected' });
      expect(await health()).to.include({ scanner: 'up' });
    });
  });
