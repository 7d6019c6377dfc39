import { expect } from 'chai';
import { randomFillSync } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createLog } from '../../../data-plane-agent/base/log.js';
import { createClamd, verdictOf, versionOf } from '../../../data-plane-agent/plane/files/scanner/clamd.js';
import { clamdAddress } from '../../../data-plane-agent/plane/files/scanner/clamd-stream.js';
import { createScanSlots } from '../../../data-plane-agent/plane/files/scanner/scan-slots.js';
import { signatureWarning } from '../../../data-plane-agent/plane/files/scanner/scanner-self-test.js';
import type { Scanner, Verdict } from '../../../data-plane-agent/plane/files/scanner/scanner.js';
import { needsClamd, startClamd } from '../../support/clamd.js';
import { zeros } from '../../support/archives.js';
import { read } from '../../support/source.js';

const log = createLog({ level: 'silent', name: 'test' });
const MIB = 2 ** 20;

/** A fake clamd with a scripted behaviour per connection, for failures that a real one shows only by chance. */
async function fakeClamd(
  onConnection: (socket: Socket) => void,
): Promise<{ scanner: Scanner; open: Set<Socket>; server: Server }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  const scanner = createClamd({
    url: `tcp://127.0.0.1:${address.port}`,
    fileMaxBytes: MIB,
    log,
    timeouts: { baseMs: 150, perMiBMs: 0 },
  });
  return { scanner, open, server };
}

const scan = (
  scanner: Scanner,
  content: Readable = Readable.from([Buffer.from('a contract')]),
  sizeBytes = 10,
): Promise<Verdict> => scanner.scan(content, { sizeBytes });

/** Answers at the end of the content. */
const answering =
  (answer: string) =>
  (socket: Socket): void =>
    void socket.on('data', (bytes) => bytes.subarray(-4).equals(Buffer.alloc(4)) && socket.end(answer));

describe('a failing scanner', () => {
  const servers: Server[] = [];
  const sockets: ReadonlySet<Socket>[] = [];
  const failing = async (onConnection: (socket: Socket) => void) => {
    const made = await fakeClamd(onConnection);
    servers.push(made.server);
    sockets.push(made.open);
    return made;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    // A peer that never reads does not notice that the other side disconnected.
    for (const open of sockets.splice(0)) for (const socket of open) socket.destroy();
  });

  it('never results in a clean verdict, whatever it answers', async () => {
    const answers = [
      'stream: OK',
      'stream: OK\n',
      ' stream: OK\0',
      'stream: ok\0',
      'stream: OK \0',
      'OK\0',
      'stream: \0',
      'stream:OK\0',
      'stream: OK\nstream: X FOUND\0',
      '\0stream: OK\0',
      '',
      'UNKNOWN COMMAND\0',
      'INSTREAM size limit exceeded. ERROR\0',
      "stream: Can't allocate memory ERROR\0",
      'stream: Heuristics.Limits.Exceeded.MaxScanTime FOUND\0',
      'stream: Heuristics.Encrypted.PDF FOUND\0',
      'HTTP/1.1 200 OK\r\n\r\n',
      'x'.repeat(10_000),
      'stream: FOUND\0',
    ];
    for (const answer of answers) {
      const { scanner } = await failing(answering(answer));
      expect((await scan(scanner)).status, JSON.stringify(answer)).to.equal('error');
    }
  });

  it('is not trusted if it reports clean before it has the whole file, but its findings until then count', async () => {
    for (const [answer, status] of [
      ['stream: OK\0', 'error'],
      ['stream: Worm FOUND\0', 'infected'],
    ] as const) {
      const { scanner } = await failing((socket) => void socket.once('data', () => socket.write(answer)));
      const content = new Readable({ read() {} });
      content.push('the beginning of a contract');
      expect((await scan(scanner, content, 1_000)).status, answer).to.equal(status);
    }
  });

  it('reports its findings, also if its answer comes in pieces', async () => {
    const { scanner } = await failing((socket) => {
      socket.on('data', (bytes) => {
        if (!bytes.subarray(-4).equals(Buffer.alloc(4))) return;
        socket.write('stream: Win.Test', () => setImmediate(() => socket.end('.A-1 FOUND\0')));
      });
    });
    expect(await scan(scanner)).to.deep.equal({ status: 'infected', signature: 'Win.Test.A-1' });
  });

  it('is aborted at the timeout if it accepts and never answers, and its connection is closed', async () => {
    const { scanner, open } = await failing(() => undefined);
    const expected = { status: 'error', reason: 'the scanner did not answer within 0 s' };
    expect(await scan(scanner)).to.deep.equal(expected);
    // A scanner that does not even read: the data must not accumulate in this process.
    expect(await scan(scanner, zeros(30 * MIB), 30 * MIB)).to.deep.equal(expected);
    expect(await scanner.selfTest()).to.deep.include({ isAnswered: false, isUnreachable: false });
    for (const socket of open) await once(socket.resume(), 'close');
  });

  it('delays waiting scans no longer than the timeout', async () => {
    const { scanner } = await failing(() => undefined);
    const verdicts = await Promise.all(Array.from({ length: 300 }, () => scan(scanner)));
    expect(
      new Set(verdicts.map((verdict) => (verdict.status === 'error' ? verdict.reason : verdict.status))),
    ).to.deep.equal(new Set(['the scanner did not answer within 0 s', 'the scanner has too many files waiting']));
  });

  it('causes an error if it is absent, resets the connection, or ends it', async () => {
    const { scanner: absent, server } = await failing(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    expect(await scan(absent)).to.deep.equal({
      status: 'error',
      reason: 'the scanner cannot be reached (ECONNREFUSED)',
      isUnsent: true,
    });
    expect(await absent.version()).to.equal(undefined);
    const { scanner: resets } = await failing((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    expect((await scan(resets, zeros(10 * MIB), 10 * MIB)).status).to.equal('error');
    const { scanner: ends } = await failing((socket) => void socket.once('data', () => socket.end()));
    expect((await scan(ends)).status).to.equal('error');
  });

  it('receives the content as slowly as it reads', async () => {
    let ahead = 0;
    let read = 0;
    const content = Readable.from(
      (function* () {
        const piece = randomFillSync(Buffer.alloc(65_536));
        for (let sent = 0; sent < 16 * MIB; sent += piece.length) {
          ahead = Math.max(ahead, sent - read);
          yield piece;
        }
      })(),
    );
    const { scanner } = await failing((socket) => {
      socket.on('data', (bytes) => {
        read += bytes.length;
        socket.pause();
        setImmediate(() => socket.resume());
        if (bytes.subarray(-4).equals(Buffer.alloc(4))) socket.end('stream: OK\0');
      });
    });
    const longTimeout = createClamd({ url: `tcp://127.0.0.1:${portOf(servers.at(-1))}`, fileMaxBytes: MIB, log });
    expect(await scan(longTimeout, content, 16 * MIB)).to.deep.equal({ status: 'clean' });
    expect(ahead).to.be.lessThan(12 * MIB); // the size of the socket buffers of both sides
    expect(scanner.provider).to.equal('clamav');
  });

  it('is disconnected when the caller aborts, and so is the content', async () => {
    const { scanner } = await failing(() => undefined);
    const content = zeros(MIB);
    const stop = new AbortController();
    const verdict = scanner.scan(content, { sizeBytes: MIB, signal: stop.signal });
    stop.abort();
    expect(await verdict).to.deep.equal({ status: 'error', reason: 'the scan was cancelled' });
    expect(content.destroyed).to.equal(true);
    expect(await scanner.scan(zeros(1), { sizeBytes: 1, signal: AbortSignal.abort() })).to.deep.equal({
      status: 'error',
      reason: 'the scan was cancelled',
    });
  });

  it('is disconnected if the content stalls', async () => {
    const { scanner } = await failing(() => undefined);
    const content = new Readable({ read: () => undefined });
    expect((await scan(scanner, content, 10)).status).to.equal('error');
    expect(content.destroyed).to.equal(true);
  });
});

describe('clamd killed during a scan', () => {
  needsClamd();

  it('returns no verdict, and is asked again when it is back', async () => {
    const clamd = await startClamd();
    try {
      const scanner = createClamd({ url: clamd.url, fileMaxBytes: MIB, log });
      let killed = Promise.resolve();
      const half = Readable.from(
        (async function* () {
          yield Buffer.alloc(5 * MIB);
          await (killed = clamd.kill());
          yield Buffer.alloc(5 * MIB);
        })(),
      );
      expect((await scan(scanner, half, 10 * MIB)).status).to.equal('error');
      await killed;
      expect(await scan(scanner)).to.deep.equal({
        status: 'error',
        reason: 'the scanner cannot be reached (ECONNREFUSED)',
        isUnsent: true,
      });
    } finally {
      await clamd.stop();
    }
  });
});

describe('the scanner protocol', () => {
  it('parses answers strictly', () => {
    expect(verdictOf('stream: OK')).to.deep.equal({ status: 'clean' });
    expect(verdictOf('stream: Heuristics.OLE2.ContainsMacros FOUND').status).to.equal('infected');
    for (const word of ['Heuristics.Limits.Exceeded.MaxFiles', 'Heuristics.Encrypted.Zip'])
      expect(verdictOf(`stream: ${word} FOUND`)).to.deep.equal({
        status: 'error',
        reason: `the scanner did not scan all of it (${word})`,
        isFinal: true,
      });
  });

  it('provides the engine, the signatures and their date, as far as reported', () => {
    expect(versionOf('ClamAV 1.4.6/27123/Fri Nov 20 08:26:00 2026')).to.deep.equal({
      engine: '1.4.6',
      signatures: '27123',
      signaturesAt: Date.UTC(2026, 10, 20, 8, 26),
    });
    expect(versionOf('ClamAV 1.4.6/27123/Fri Nov  6 08:26:00 2026')?.signaturesAt).to.equal(
      Date.UTC(2026, 10, 6, 8, 26),
    );
    expect(versionOf('ClamAV 1.4.6')).to.deep.equal({ engine: '1.4.6', signatures: '', signaturesAt: null });
    for (const other of ['UNKNOWN COMMAND', '', 'ClamAV', 'HTTP/1.1 400']) expect(versionOf(other)).to.equal(undefined);
  });

  it('treats signatures as outdated after a week', () => {
    const at = Date.UTC(2026, 10, 1);
    const version = { engine: '1.4.6', signatures: '27123', signaturesAt: at };
    expect(signatureWarning(version, at + 7 * 86_400_000)).to.equal(undefined);
    expect(signatureWarning(version, at + 8 * 86_400_000)).to.equal("the scanner's signatures are 8 days old");
    expect(signatureWarning({ ...version, signaturesAt: null }, at + 8 * 86_400_000)).to.equal(undefined);
  });

  it('connects to the configured address', () => {
    expect(clamdAddress('tcp://clamd:3310')).to.deep.equal({ host: 'clamd', port: 3310 });
    expect(clamdAddress('tcp://clamd')).to.deep.equal({ host: 'clamd', port: 3310 });
    expect(clamdAddress('tcp://[::1]:1')).to.deep.equal({ host: '::1', port: 1 });
    for (const url of ['unix:/run/a b.sock', 'unix:///run/a%20b.sock'])
      expect(clamdAddress(url)).to.deep.equal({ path: '/run/a b.sock' });
    for (const url of [
      '',
      'clamd:3310',
      'http://clamd',
      'tcp://',
      'tcp://clamd/x',
      'tcp://u:p@clamd',
      'unix:',
      'unix:run/x',
      'unix://host/run/x',
      'tcp://clamd:3310?x',
    ])
      expect(clamdAddress(url), url).to.equal(undefined);
  });

  it('uses, as shipped, a socket of a group and no network', () => {
    const settings = read('docker/clamd.conf')
      .split('\n')
      .filter((line) => /^(Local|TCP)/.test(line));
    expect(settings).to.deep.equal(['LocalSocket /run/clamav/clamd.sock', 'LocalSocketMode 660']);
  });

  it('sends a few requests at a time', async () => {
    const slots = createScanSlots({ atOnce: 4, waiting: 100 });
    let running = 0;
    let most = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        slots(new AbortController().signal, async () => {
          most = Math.max(most, (running += 1));
          await new Promise(setImmediate);
          order.push(at);
          running -= 1;
        }),
      ),
    );
    expect(most).to.equal(4);
    expect(order).to.deep.equal([...order].toSorted((a, b) => a - b));
    expect(running).to.equal(0);
  });
});

function portOf(server: Server | undefined): number {
  const address = server?.address();
  if (address === null || address === undefined || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}
