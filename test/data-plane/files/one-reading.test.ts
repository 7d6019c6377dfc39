import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { OneReading } from '../../../data-plane-agent/plane/files/one-reading.js';
import { inPieces } from '../../support/archives.js';

const BYTES = randomBytes(3_000_000);
const content = () => inPieces(BYTES, 65_536) as AsyncIterable<Buffer>;
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('one read shared by several readers', () => {
  it('gives each of them all bytes, at the pace of the slowest', async () => {
    const seen: Buffer[] = [];
    let ahead = 0;
    let most = 0;
    const reading = new OneReading(content(), (piece) => {
      seen.push(piece);
      most = Math.max(most, (ahead += piece.length));
    });
    const [fast, slow] = [reading.branch(), reading.branch()];
    const slowly = async (): Promise<Buffer> => {
      const pieces: Buffer[] = [];
      for await (const piece of slow.content as AsyncIterable<Buffer>) {
        await new Promise((resolve) => setImmediate(resolve));
        ahead -= piece.length;
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    };
    const [got, gotSlowly] = await Promise.all([buffer(fast.content), slowly(), reading.run()]);
    for (const bytes of [got, gotSlowly, Buffer.concat(seen)]) expect(bytes.equals(BYTES)).to.equal(true);
    expect(most, 'memory stays constant').to.be.lessThan(1_000_000);
    expect([fast.isLeftBehind, slow.isLeftBehind]).to.deep.equal([false, false]);
  });

  it('continues without a reader that stalls for longer than the timeout, and marks it as left behind', async () => {
    const reading = new OneReading(content());
    const [reads, stalled] = [reading.branch(), reading.branch({ timeoutMs: 20 })];
    const [got] = await Promise.all([buffer(reads.content), reading.run()]);
    expect(got.equals(BYTES)).to.equal(true);
    expect(stalled.isLeftBehind).to.equal(true);
    expect(stalled.waitedMs).to.be.at.least(19);
    const beginning = await buffer(stalled.content);
    expect(beginning.length).to.be.within(1, 1_000_000);
    expect(beginning.equals(BYTES.subarray(0, beginning.length)), 'it has a prefix of the content').to.equal(true);
  });

  it('does not wait for a reader that has ended', async () => {
    const reading = new OneReading(content());
    const [reads, ends] = [reading.branch(), reading.branch()];
    const first = async (): Promise<void> => {
      for await (const piece of ends.content) return void piece;
    };
    const [got] = await Promise.all([buffer(reads.content), first(), reading.run()]);
    expect(got.equals(BYTES)).to.equal(true);
    expect(ends.isLeftBehind).to.equal(false);
  });

  it('ends when no reader is left', async () => {
    let given = 0;
    const pieces = (async function* () {
      for await (const piece of content()) {
        given += piece.length;
        yield piece;
      }
    })();
    const reading = new OneReading(pieces);
    reading.branch().content.destroy();
    await reading.run();
    expect(given).to.be.lessThan(BYTES.length);
  });

  it('passes an error on to all readers', async () => {
    const broken = new Error('the store went away');
    const reading = new OneReading(
      (async function* () {
        yield BYTES.subarray(0, 1_000);
        await Promise.resolve();
        throw broken;
      })(),
    );
    const readers: Readable[] = [reading.branch().content, reading.branch().content];
    const reported = await Promise.all([...readers.map((reader) => reasonOf(buffer(reader))), reasonOf(reading.run())]);
    expect(reported).to.deep.equal([broken, broken, broken]);
  });
});
