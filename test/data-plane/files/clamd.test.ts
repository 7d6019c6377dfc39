import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { randomFillSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32, deflateSync } from 'node:zlib';
import { createLog } from '../../../data-plane-agent/base/log.js';
import { createClamd } from '../../../data-plane-agent/plane/files/scanner/clamd.js';
import type { Scanner, Verdict } from '../../../data-plane-agent/plane/files/scanner/scanner.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../../support/clamd.js';
import { encryptedZip, zeros } from '../../support/archives.js';

const log = createLog({ level: 'silent', name: 'test' });
const FILE_MAX_BYTES = 52_428_800;
const scannerAt = (url: string, fileMaxBytes = FILE_MAX_BYTES): Scanner => createClamd({ url, fileMaxBytes, log });
const scan = (scanner: Scanner, content: string | Uint8Array): Promise<Verdict> =>
  scanner.scan(Readable.from([Buffer.from(content)]), { sizeBytes: content.length });
const found = { status: 'infected', signature: 'Eicar-Test.UNOFFICIAL' };

describe('clamd with the shipped configuration', () => {
  needsClamd();
  let clamd: TestClamd;
  let scanner: Scanner;
  before(async () => {
    clamd = await startClamd();
    scanner = scannerAt(clamd.url);
  });
  after(() => clamd?.stop());

  it('reports clean files as clean, including an empty one', async () => {
    for (const content of ['a contract', '', zipSync({ 'a.txt': strToU8('a contract') })])
      expect(await scan(scanner, content)).to.deep.equal({ status: 'clean' });
  });

  it('finds EICAR in plain form, in a zip, and in a zip in a zip', async () => {
    const zip = zipSync({ 'a.txt': strToU8('a contract'), 'b.txt': strToU8(EICAR) });
    for (const content of [EICAR, `before it ${EICAR}`, zip, zipSync({ 'c.zip': zip })])
      expect(await scan(scanner, content)).to.deep.equal(found);
  });

  it('finds EICAR at the end of 40 MB', async () => {
    const bytes = randomFillSync(Buffer.alloc(40_000_000));
    bytes.write(EICAR, bytes.length - EICAR.length, 'latin1');
    expect(await scan(scanner, bytes)).to.deep.equal(found);
  });

  it('survives a picture of extreme width, and scans further files', async () => {
    for (const picture of [longPicture(), zipSync({ 'a.png': longPicture() })])
      expect(await scan(scanner, picture)).to.deep.equal({ status: 'clean' });
    expect(await scan(scanner, EICAR)).to.deep.equal(found);
  });

  it('reports an encrypted archive as not scanned', async () => {
    expect(await scan(scanner, encryptedZip('a.txt', 'a contract'))).to.deep.equal({
      status: 'error',
      reason: 'the scanner did not scan all of it (Heuristics.Encrypted.Zip)',
      isFinal: true,
    });
  });

  it('scans a file of the maximum size', async () => {
    expect(await scanner.scan(zeros(FILE_MAX_BYTES), { sizeBytes: FILE_MAX_BYTES })).to.deep.equal({ status: 'clean' });
  });

  it('never reports a verdict on part of a file', async () => {
    const part = (bytes: number, sizeBytes: number): Promise<Verdict> => scanner.scan(zeros(bytes), { sizeBytes });
    expect(await part(1_000_000, 1_000_001)).to.deep.equal({
      status: 'error',
      reason: 'the content ended after 1000000 of 1000001 bytes',
    });
    expect(await part(1_000_001, 1_000_000)).to.deep.equal({
      status: 'error',
      reason: 'the content has more than its 1000000 bytes',
    });
    expect(await part(0, 1)).to.deep.equal({ status: 'error', reason: 'the content ended after 0 of 1 bytes' });
    const broken = Readable.from(
      (function* () {
        yield Buffer.alloc(100_000);
        throw new Error('the store went away');
      })(),
    );
    expect(await scanner.scan(broken, { sizeBytes: 200_000 })).to.deep.equal({
      status: 'error',
      reason: 'the content could not be read (the store went away)',
    });
  });

  it('finds EICAR after new signatures are loaded', async () => {
    expect(await scan(scanner, 'a new kind of malware')).to.deep.equal({ status: 'clean' });
    await clamd.learn('New-Kind', 'new kind of malware');
    expect(await scan(scanner, 'a new kind of malware')).to.deep.equal({
      status: 'infected',
      signature: 'New-Kind.UNOFFICIAL',
    });
  });

  it('reports its version, and passes its self-test', async () => {
    expect((await scanner.version())?.engine).to.match(/^\d+\.\d+\.\d+/);
    expect(await scanner.selfTest()).to.deep.equal({
      isAnswered: true,
      faults: [],
      lines: [],
      limits: { fileBytes: FILE_MAX_BYTES, partBytes: 200 * 2 ** 20 },
    });
  });

  it('scans many files concurrently', async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, at) => scan(scanner, at % 2 === 0 ? 'a contract' : EICAR)),
    );
    expect(verdicts.filter(({ status }) => status === 'clean')).to.have.length(25);
    expect(verdicts.filter(({ status }) => status === 'infected')).to.have.length(25);
  });
});

describe('clamd with another configuration', () => {
  needsClamd();
  const faultsWith = async (settings: Record<string, string>, fileMaxBytes?: number): Promise<readonly string[]> => {
    const clamd = await startClamd({ settings });
    try {
      const test = await scannerAt(clamd.url, fileMaxBytes).selfTest();
      return test.isAnswered ? test.faults : [test.reason];
    } finally {
      await clamd.stop();
    }
  };

  it('fails the self-test', async () => {
    expect(await faultsWith({ AlertExceedsMax: 'no' })).to.deep.equal([
      'the scanner reports archives beyond its limits as clean: AlertExceedsMax must be yes',
    ]);
    expect(await faultsWith({ AlertEncrypted: 'no' })).to.deep.equal([
      'the scanner reports encrypted files as clean: AlertEncrypted must be yes',
    ]);
    expect(await faultsWith({ StreamMaxLength: '0' })).to.deep.equal([
      'the scanner does not refuse a file of 4 GiB: StreamMaxLength must be set',
    ]);
    expect((await faultsWith({ ScanArchive: 'no' }))[0]).to.contain('in an archive: ScanArchive must be yes');
    const without = await startClamd();
    await without.stop();
    expect(await scannerAt(without.url).selfTest()).to.deep.equal({
      isAnswered: false,
      reason: `the scanner at ${without.url} cannot be reached (ECONNREFUSED)`,
      isUnreachable: true,
    });
  });

  it('refuses a file one byte above its limit, without a verdict', async () => {
    const clamd = await startClamd({ settings: { StreamMaxLength: '1M' }, listen: 'unix' });
    try {
      const scanner = scannerAt(clamd.url);
      const MIB = 2 ** 20;
      expect(await scanner.scan(zeros(MIB), { sizeBytes: MIB })).to.deep.equal({ status: 'clean' });
      expect((await scanner.scan(zeros(MIB + 1), { sizeBytes: MIB + 1 })).status).to.equal('error');
      // Far above it, the connection breaks during the transfer.
      for (let time = 0; time < 5; time += 1)
        expect((await scanner.scan(zeros(20 * MIB), { sizeBytes: 20 * MIB })).status).to.equal('error');
    } finally {
      await clamd.stop();
    }
  });

  it('is not trusted if it skipped content beyond its limits', async () => {
    const clamd = await startClamd({ settings: { MaxFileSize: '1M', MaxScanSize: '4M' } });
    try {
      expect(
        await scan(scannerAt(clamd.url), Buffer.concat([Buffer.from(EICAR), Buffer.alloc(2_000_000, 'a')])),
      ).to.deep.equal({
        status: 'error',
        reason: 'the scanner did not scan all of it (Heuristics.Limits.Exceeded.MaxFileSize)',
        isFinal: true,
      });
    } finally {
      await clamd.stop();
    }
  });
});

/** A PNG of 79 million pixels in one row, for whose scaling a program may allocate 40 GB. */
function longPicture(): Buffer {
  const width = 79_000_000;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(1, 4);
  header[8] = 8; // bit depth, greyscale
  const part = (type: string, content: Buffer): Buffer => {
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    part('IHDR', header),
    part('IDAT', deflateSync(Buffer.alloc(width + 1))),
    part('IEND', Buffer.alloc(0)),
  ]);
}
