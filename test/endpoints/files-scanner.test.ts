import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { asJob, objectsOf, ownerOf, settled, until } from '../support/file-server.js';
import type { DomainError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

const TEXT = { fileName: 'note.txt', contentType: 'text/plain' };
const DAY_MS = 86_400_000;

describe('an unreliable scanner', function () {
  this.timeout(180_000);
  needsClamd();
  let clamd: TestClamd;
  let line: Line;
  let server: TestServer;
  let clock: FakeClock;
  let org: Administration;
  beforeEach(async () => {
    clock = fakeClock(Date.now());
    clamd = await startClamd();
    line = await lineTo(new URL(clamd.url));
    server = await startServer({ clock, env: { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: line.url } });
    await settled(server);
    org = await administration(server);
  });
  afterEach(async () => {
    await server.stop();
    await line.stop();
    await clamd.stop();
  });

  const record = async (id: string): Promise<FileRecord> =>
    (await (await ownerOf(server, org)).get<FileRecord>(`/files/${id}`)).body;
  const download = async (id: string) =>
    (await ownerOf(server, org)).get<Download & DomainError>(`/files/${id}/download`);
  const scan = () => asJob(server, org, clock).scanFiles({});
  const text = (content: string) => ({ ...TEXT, bytes: Buffer.from(content) });

  it('that is down: files are accepted, reported as not scanned, and scanned when it is available again', async () => {
    line.mode = 'refuses';
    const [harmless, evil] = [
      await uploadsOf(org.asOwner).upload(text('harmless')),
      await uploadsOf(org.asOwner).upload(text(EICAR)),
    ];
    for (const { id, scanStatus, scanError } of [harmless, evil]) {
      expect([scanStatus, typeof scanError]).to.deep.equal(['error', 'string']);
      expect((await download(id)).body.error.code).to.equal('FILE_SCAN_PENDING');
    }
    // Attempts during the outage do not count.
    for (let hours = 0; hours < 48; hours += 1) {
      clock.advance(3_600_000);
      expect(await scan()).to.deep.equal({ scanned: 0, more: false });
    }
    line.mode = 'passes';
    await server.schedules.run('file-scans');
    expect(await record(harmless.id)).to.include({ scanStatus: 'clean', scanError: null });
    expect(await record(evil.id)).to.include({ scanStatus: 'infected' });
    expect((await download(harmless.id)).status).to.equal(200);
    expect((await download(evil.id)).status).to.equal(403);
    expect(await objectsOf(server, org)).to.include(`quarantine/${org.tenant.id}/${evil.id}`);
  });

  it('that does not answer: the confirmation waits five seconds, and the scan continues without it', async () => {
    line.mode = 'silent';
    const begun = performance.now();
    const file = await uploadsOf(org.asOwner).upload(text('harmless'));
    expect(performance.now() - begun).to.be.lessThan(9_000);
    expect(file.scanStatus).to.equal('pending');
    expect((await download(file.id)).body.error).to.deep.include({
      code: 'FILE_SCAN_PENDING',
      details: { scanStatus: 'pending' },
    });
    // The request for its version, which comes first, also fails.
    await until(
      () => Promise.resolve(line.unanswered),
      (times) => times >= 1,
    );
    line.mode = 'passes';
    line.hangUp();
    await settled(server);
    expect((await record(file.id)).scanStatus).to.equal('error');
    clock.advance(61_000);
    await server.schedules.run('file-scans');
    expect((await record(file.id)).scanStatus).to.equal('clean');
  });

  it('that stalls on a large file: the confirmation continues without it, and the scanner later gets the whole file', async () => {
    line.mode = 'pauses';
    const bytes = Buffer.concat([Buffer.alloc(20_000_000, 'all is well\n'), Buffer.from('\nBeware of the marmalade')]);
    await clamd.learn('Marmalade', 'marmalade');
    const begun = performance.now();
    const file = await uploadsOf(org.asOwner).upload({ ...TEXT, bytes });
    expect(performance.now() - begun).to.be.lessThan(12_000);
    expect([file.scanStatus, file.sha256]).to.deep.equal(['pending', createHash('sha256').update(bytes).digest('hex')]);
    line.goOn();
    await settled(server);
    expect(await record(file.id)).to.include({ scanStatus: 'infected', scanSignature: 'Marmalade.UNOFFICIAL' });
  });

  it('that is killed while it scans: the file waits, and is clean when the scanner is available again', async () => {
    line.mode = 'stalls';
    const bytes = Buffer.alloc(8_000_000, 'all is well\n');
    const uploading = uploadsOf(org.asOwner).upload({ ...TEXT, bytes });
    await until(
      () => Promise.resolve(line.received),
      (received) => received > 100_000,
    );
    await clamd.kill();
    line.hangUp();
    const file = await uploading;
    expect(file.scanStatus).to.be.oneOf(['error', 'pending']);
    await settled(server);
    expect((await record(file.id)).scanStatus).to.equal('error');
    clamd = await startClamd();
    line.turnTo(new URL(clamd.url));
    line.mode = 'passes';
    clock.advance(61_000);
    await scan();
    expect((await record(file.id)).scanStatus).to.equal('clean');
  });

  it('that repeatedly gives no verdict: it is asked with growing intervals, and not again until it has new signatures', async () => {
    const file = await uploadsOf(org.asOwner).upload(text('harmless'));
    await put(file.id, "scan_status = 'pending', scan_due_at = 0");
    line.mode = 'only versions';
    const waits: number[] = [];
    let since = clock.now();
    for (let minutes = 0, step = 1; minutes < 30 * 60; minutes += step) {
      step = minutes < 36 ? 1 : 30; // the time after which the first three attempts are due
      if ((await scan()).scanned > 0) {
        waits.push(Math.round((clock.now() - since) / 60_000));
        since = clock.now();
      }
      clock.advance(step * 60_000);
    }
    // Attempts start a minute apart, and end half an hour apart.
    expect(waits).to.deep.equal([0, 1, 5, 30, 120, 300, 480, 480]);
    expect((await record(file.id)).scanStatus).to.equal('error');
    line.mode = 'passes';
    expect(await scan(), 'abandoned').to.deep.include({ scanned: 0 });
    line.version = 'ClamAV 1.4.6/27124/Fri Nov 20 08:26:00 2026';
    expect(await scan()).to.deep.include({ scanned: 1 });
    expect((await record(file.id)).scanStatus).to.equal('clean');
  });

  it('with new signatures: clean files are scanned again, quarantined, and no longer delivered', async () => {
    line.version = 'ClamAV 1.4.6/27123/Thu Nov 19 08:26:00 2026';
    const [turned, stays] = [
      await uploadsOf(org.asOwner).upload(text('Beware of the marmalade')),
      await uploadsOf(org.asOwner).upload(text('harmless')),
    ];
    expect([turned.scanStatus, stays.scanStatus]).to.deep.equal(['clean', 'clean']);
    expect((await download(turned.id)).status).to.equal(200);
    await clamd.learn('Marmalade', 'marmalade');
    expect(await scan(), 'as long as it reports the same version').to.deep.equal({ scanned: 0, more: false });
    line.version = 'ClamAV 1.4.6/27124/Fri Nov 20 08:26:00 2026';
    await server.schedules.run('file-scans');
    expect(await record(turned.id)).to.include({ scanStatus: 'infected', scanSignature: 'Marmalade.UNOFFICIAL' });
    expect((await download(turned.id)).body.error.code).to.equal('FILE_INFECTED');
    expect(await record(stays.id)).to.include({ scanStatus: 'clean' });
    expect((await objectsOf(server, org)).filter((key) => key.endsWith(turned.id))).to.deep.equal([
      `quarantine/${org.tenant.id}/${turned.id}`,
    ]);
    expect(await scan()).to.deep.equal({ scanned: 0, more: false });
  });

  it('with private signatures, which have no version: files are scanned again after four weeks', async () => {
    const file = await uploadsOf(org.asOwner).upload(text('Beware of the marmalade'));
    await clamd.learn('Marmalade', 'marmalade');
    clock.advance(27 * DAY_MS);
    expect(await scan()).to.deep.include({ scanned: 0 });
    clock.advance(2 * DAY_MS);
    expect(await scan()).to.deep.include({ scanned: 1 });
    expect((await record(file.id)).scanStatus).to.equal('infected');
  });

  it('that cannot scan again: files found clean remain so', async () => {
    line.version = 'ClamAV 1.4.6/27123/Thu Nov 19 08:26:00 2026';
    const file = await uploadsOf(org.asOwner).upload(text('harmless'));
    line.version = 'ClamAV 1.4.6/27124/Fri Nov 20 08:26:00 2026';
    line.mode = 'only versions';
    expect(await scan()).to.deep.include({ scanned: 1 });
    expect(await record(file.id)).to.deep.include({ scanStatus: 'clean' });
    expect((await download(file.id)).status).to.equal(200);
  });

  it('used by two concurrent scans, of which one takes effect', async () => {
    const file = await uploadsOf(org.asOwner).upload(text('harmless'));
    await put(file.id, "scan_status = 'pending', scan_due_at = 0");
    const done = await Promise.all(Array.from({ length: 5 }, scan));
    expect(done.reduce((sum, { scanned }) => sum + scanned, 0)).to.equal(1);
    await put(file.id, `scan_status = 'pending', scan_due_at = ${clock.now() + 600_000}`);
    expect(await scan(), 'another process has it').to.deep.include({ scanned: 0 });
    clock.advance(601_000);
    expect(await scan(), 'the process that had it has ended').to.deep.include({ scanned: 1 });
  });

  const put = (id: string, what: string) =>
    server.foundation.tenant?.write({ tenantId: org.tenant.id }, (tx) =>
      tx.run(`UPDATE files SET ${what} WHERE tenant_id = ? AND id = ?`, [org.tenant.id, id]),
    );
});

describe('a scanner whose self-test fails', () => {
  needsClamd();

  it('is not trusted: files stay unscanned, and the log contains the reason', async () => {
    const clamd = await startClamd({ settings: { AlertExceedsMax: 'no' } });
    const server = await startServer({ env: { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url } });
    try {
      await settled(server);
      expect(server.logged.map(({ msg }) => msg)).to.include('the scanner failed its self-test: files are not scanned');
      const org = await administration(server);
      const file = await uploadsOf(org.asOwner).upload({ ...TEXT, bytes: Buffer.from('harmless') });
      expect(file).to.include({ scanStatus: 'error' });
      expect(file.scanError).to.contain('AlertExceedsMax');
      expect((await org.asOwner.get(`/files/${file.id}/download`)).status).to.equal(409);
    } finally {
      await server.stop();
      await clamd.stop();
    }
  });
});

/** A proxy between the server and its clamd. */
interface Line {
  readonly url: string;
  /**
   * `stalls`: accepts data and forwards nothing; `pauses`: accepts only the beginning of a file, until `goOn`; `only
   * versions`: disconnects on every scan.
   */
  mode: 'passes' | 'refuses' | 'silent' | 'stalls' | 'pauses' | 'only versions';
  /** Replaces the version that the scanner reports, if set. */
  version: string | undefined;
  /** Bytes from the server, on connections that stall. */
  readonly received: number;
  /** Files that the server has sent to a silent scanner. */
  readonly unanswered: number;
  hangUp(): void;
  /** Forwards the data of paused connections. */
  goOn(): void;
  turnTo(clamd: URL): void;
  stop(): Promise<void>;
}

async function lineTo(clamd: URL): Promise<Line> {
  const open = new Set<Socket>();
  const paused: (() => void)[] = [];
  let [target, received, unanswered] = [clamd, 0, 0];
  const server: Server = createServer({ allowHalfOpen: true }, (near) => {
    open.add(near);
    near.on('error', () => near.destroy()).on('close', () => open.delete(near));
    if (line.mode === 'refuses') near.destroy();
    else if (line.mode === 'stalls') near.on('data', (bytes: Buffer) => (received += bytes.length));
    else
      near.once('data', (first: Buffer) =>
        line.mode === 'silent' ? (unanswered += asksVersion(first) ? 0 : 1) : speak(near, first),
      );
  });
  const asksVersion = (first: Buffer): boolean => first.toString('latin1').startsWith('zVERSION');
  const speak = (near: Socket, first: Buffer): void => {
    if (asksVersion(first) && line.version !== undefined) near.end(`${line.version}\0`);
    else if (!asksVersion(first) && line.mode === 'only versions') near.destroy();
    else if (!asksVersion(first) && line.mode === 'pauses') {
      near.pause();
      paused.push(() => pass(near, first));
    } else pass(near, first);
  };
  const pass = (near: Socket, first: Buffer): void => {
    const far = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.write(first);
    near.pipe(far).pipe(near);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: Line = {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP address, not a pipe
    mode: 'passes',
    version: undefined,
    get received() {
      return received;
    },
    get unanswered() {
      return unanswered;
    },
    hangUp: () => [...open].forEach((socket) => socket.destroy()),
    goOn() {
      line.mode = 'passes';
      for (const go of paused.splice(0)) go();
    },
    turnTo: (other) => void (target = other),
    async stop() {
      line.hangUp();
      server.close();
      await once(server, 'close');
    },
  };
  return line;
}
