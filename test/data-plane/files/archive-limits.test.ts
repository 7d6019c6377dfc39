import { expect } from 'chai';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { ARCHIVE_LIMITS, inspectArchive } from '../../../data-plane-agent/plane/files/archives/archive-limits.js';
import { aZip, encryptedZip, inPieces, streamedZip } from '../../support/archives.js';
import { aWorkbook } from '../../support/workbook.js';

const MIB = 2 ** 20;
const inspected = (bytes: Uint8Array, pieces = 65_536, limits = ARCHIVE_LIMITS) =>
  inspectArchive(inPieces(bytes, pieces), limits);
const faultOf = async (...of: Parameters<typeof inspected>) => (await inspected(...of)).fault;
const nested = (depth: number): Buffer =>
  depth === 1 ? aZip({ 'a.txt': 'a contract' }) : aZip({ 'a.zip': nested(depth - 1) });
const long = 'a line of a contract, and another one\n'.repeat(5_000);

describe('the archive limits', () => {
  it('accept archives of common programs, however they are split into chunks', async () => {
    const archives: Record<string, Uint8Array> = {
      'a zip': aZip({ 'a.txt': long, 'folder/': '', 'folder/b.txt': '', 'c.zip': aZip({ 'd.txt': long }) }),
      'an empty zip': aZip({}),
      'a workbook': await aWorkbook([
        ['No', 'Amount'],
        ['A-1', 1],
      ]),
      'a zip that was written as a stream': streamedZip({ 'a.txt': long, 'b.txt': '' }),
      'the same without signatures': streamedZip({ 'a.txt': long, 'b.txt': 'b' }, { hasSignature: false }),
      'the same with 64-bit sizes': streamedZip({ 'a.txt': long, 'b.txt': 'b' }, { sizeBits: 64 }),
      'the same with folders': streamedZip({ 'a/': '', 'b/': '' }, { method: 0 }),
      'a gzip file': gzipSync(long),
      'concatenated gzip files': Buffer.concat([gzipSync('a'), gzipSync('b')]),
      'a gzip file in a zip': aZip({ 'a.gz': gzipSync(long) }),
      'archives of the maximum depth': nested(ARCHIVE_LIMITS.depth),
    };
    for (const [name, bytes] of Object.entries(archives))
      for (const pieces of [1, 13, 65_536, MIB])
        expect(await faultOf(bytes, pieces), `${name}, in chunks of ${pieces} bytes`).to.equal(undefined);
  });

  it('do not apply to other files, which are read no further than necessary', async () => {
    for (const text of ['', 'P', 'PK', 'a contract', '%PDF-1.7'])
      expect(await faultOf(Buffer.from(text))).to.equal(undefined);
    const content = inPieces(Buffer.alloc(10 * MIB, 'a'), 65_536);
    expect((await inspectArchive(content)).fault).to.equal(undefined);
    expect(content.destroyed).to.equal(true);
  });

  it('come with the size of the largest file in any layer', async () => {
    const inner = aZip({ a: new Uint8Array(2 * MIB), b: new Uint8Array(MIB) });
    for (const archive of [inner, aZip({ 'a.zip': inner, c: new Uint8Array(MIB) }), gzipSync(new Uint8Array(2 * MIB))])
      expect(await inspected(archive)).to.deep.equal({ fault: undefined, largestPart: 2 * MIB });
    expect(await inspected(new Uint8Array(2 * MIB)), 'not an archive').to.deep.equal({
      fault: undefined,
      largestPart: 0,
    });
  });

  it('reject an archive bomb in any layer', async () => {
    const limits = { ...ARCHIVE_LIMITS, unpackedBytes: 8 * MIB };
    const quarter = aZip({ zeros: new Uint8Array(limits.unpackedBytes / 4) });
    const gzip = gzipSync(new Uint8Array(limits.unpackedBytes + 1));
    const bombs = [
      aZip({ zeros: new Uint8Array(limits.unpackedBytes + 1) }),
      aZip({ a: quarter, b: quarter, c: quarter, d: quarter }),
      gzip,
      aZip({ a: gzip }),
    ];
    for (const bomb of bombs) {
      expect(bomb.length).to.be.lessThan(MIB / 10);
      expect(await faultOf(bomb, 65_536, limits)).to.equal('unpacks to more than the limit');
    }
    expect(await faultOf(gzipSync(new Uint8Array(limits.unpackedBytes)), 65_536, limits)).to.equal(undefined);
    expect(await faultOf(gzipSync(new Uint8Array(ARCHIVE_LIMITS.unpackedBytes + 1)))).to.equal(
      'unpacks to more than the limit',
    );
  });

  it('reject too many files and too many layers', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`${at}`, '']));
    expect(await faultOf(aZip(many), 65_536, { ...ARCHIVE_LIMITS, entries: 100 })).to.equal(
      'holds more files than the limit',
    );
    expect(await faultOf(nested(ARCHIVE_LIMITS.depth + 1))).to.equal('nests archives deeper than the limit');
  });

  it('reject archives that cannot be inspected', async () => {
    expect(await faultOf(encryptedZip('a.txt', 'a contract'))).to.equal('is encrypted');
    expect(await faultOf(aZip({ 'a.zip': encryptedZip('a.txt', 'a contract') }))).to.equal('is encrypted');
    const other = aZip({ 'a.txt': long });
    other.writeUInt16LE(93, 8);
    expect(await faultOf(other)).to.equal('uses an unknown compression method');
    // The end of the entries is not declared.
    expect(await faultOf(streamedZip({ 'a.txt': long }, { method: 0 }))).to.equal('is damaged');
  });

  it('reject an archive that programs may read in different ways', async () => {
    const zip = aZip({ 'a.txt': long });
    expect(await faultOf(Buffer.concat([zip, Buffer.from('more')]))).to.equal('has data after its end');
    expect(await faultOf(Buffer.concat([zip, aZip({ 'b.txt': long })]))).to.equal('has data after its end');
    expect(await faultOf(Buffer.concat([gzipSync('a'), Buffer.alloc(5)]))).to.equal('has data after its end');
    // A file that is missing in the directory, and one that the directory lists at another position.
    const hidden = aZip({ 'b.txt': 'hidden' });
    const withHidden = Buffer.concat([hidden.subarray(0, hidden.indexOf('PK\x01\x02', 0, 'latin1')), zip]);
    expect(await faultOf(withHidden)).to.equal('has a directory that does not list the files it holds');
    const elsewhere = Buffer.from(zip);
    elsewhere.writeUInt32LE(7, elsewhere.indexOf('PK\x01\x02', 0, 'latin1') + 42);
    expect(await faultOf(elsewhere)).to.equal('has a directory that does not list the files it holds');
  });

  it('reject an archive with wrong sizes', async () => {
    for (const field of [18, 22]) {
      const wrongSizes = aZip({ 'a.txt': long });
      wrongSizes.writeUInt32LE(wrongSizes.readUInt32LE(field) + 1, field);
      expect(await faultOf(wrongSizes)).to.equal('is damaged');
    }
  });

  it('reject truncated archives, and never throw or hang', async () => {
    const zip = aZip({ 'a.txt': long, 'b.zip': aZip({ 'c.txt': long }) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 4, max: zip.length - 1 }),
        async (length) => (await faultOf(zip.subarray(0, length))) === 'is damaged',
      ),
      { numRuns: 100 },
    );
    const both = [zip, gzipSync(long), streamedZip({ 'a.txt': long })];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...both),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 5 }),
        async (bytes, changes) => {
          const changed = Buffer.from(bytes);
          for (const [at, value] of changes) changed[4 + (at % (changed.length - 4))] = value;
          const fault = await faultOf(changed);
          return fault === undefined || typeof fault === 'string';
        },
      ),
      { numRuns: 300 },
    );
  });

  it('pass on errors of the content itself', async () => {
    const zip = aZip({ 'a.txt': long });
    const thrown = await inspectArchive(
      (async function* () {
        yield zip.subarray(0, 100);
        await Promise.resolve();
        throw new Error('the store went away');
      })(),
    ).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).to.be.an('error').with.property('message', 'the store went away');
  });
});
