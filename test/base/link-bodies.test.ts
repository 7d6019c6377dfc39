import { expect } from 'chai';
import { createBodies } from '../../data-plane-agent/base/link/bodies.js';
import { MalformedFrame } from '../../data-plane-agent/base/link/frames.js';
import { LINK } from '../../data-plane-agent/base/link/limits.js';

const MIB = 1024 * 1024;
const piece = new Uint8Array(LINK.frameBytes);

/** Bodies, and what was granted of each stream. */
function bodies() {
  const granted = new Map<number, number>();
  const { begin } = createBodies((stream, bytes) => granted.set(stream, (granted.get(stream) ?? 0) + bytes));
  return {
    begin,
    /** What a stream may have been sent so far. */
    allowed: (stream: number): number => LINK.streamCredit + (granted.get(stream) ?? 0),
    granted: (stream: number): number => granted.get(stream) ?? 0,
  };
}

/** A body of which as many bytes have arrived. */
function arrived({ begin }: ReturnType<typeof bodies>, { stream, size }: { stream: number; size: number }) {
  const body = begin(stream);
  for (let at = 0; at < size; at += piece.length) body.add(piece, false);
  return body;
}

describe('the bodies that a session receives', () => {
  it('are granted more as they are taken, each and all together', () => {
    const all = bodies();
    arrived(all, { stream: 1, size: 2 * MIB });
    expect(all.allowed(1)).to.be.greaterThan(2 * MIB);
    expect(all.granted(0)).to.equal(2 * MIB);
  });

  it('have no more bytes than were granted', () => {
    const all = bodies();
    // So much is held that a second body is granted nothing.
    arrived(all, { stream: 1, size: LINK.bodyBytes });
    const second = arrived(all, { stream: 3, size: LINK.streamCredit });
    expect(all.granted(3)).to.equal(0);
    expect(() => second.add(new Uint8Array(1), false)).to.throw(MalformedFrame, 'more bytes than were granted');
  });

  it('are no larger than the largest', () => {
    const body = arrived(bodies(), { stream: 1, size: LINK.bodyBytes });
    expect(() => body.add(new Uint8Array(1), true)).to.throw(MalformedFrame, 'too large');
  });

  it('end once', () => {
    const body = bodies().begin(1);
    body.add(piece, true);
    expect(() => body.add(piece, false)).to.throw(MalformedFrame, 'after its end');
  });

  it('are held until they are released: while too much is, only the oldest incomplete one goes on', () => {
    const all = bodies();
    const oldest = arrived(all, { stream: 1, size: 40 * MIB });
    const second = arrived(all, { stream: 3, size: 24 * MIB });
    const third = arrived(all, { stream: 5, size: LINK.streamCredit });
    for (let at = 0; at < LINK.streamCredit; at += piece.length) second.add(piece, false);
    expect([all.granted(5), all.allowed(3)]).to.deep.equal([0, 24 * MIB + LINK.streamCredit]);
    const before = all.granted(1);
    for (let at = 0; at < 4 * MIB; at += piece.length) oldest.add(piece, false);
    expect(all.granted(1)).to.be.greaterThan(before);
    // Then the second is the oldest, and after a release the third is granted its bytes as well.
    oldest.add(piece, true);
    expect(all.allowed(3)).to.equal(24 * MIB + 2 * LINK.streamCredit);
    expect(all.granted(5)).to.equal(0);
    oldest.release();
    expect(all.granted(5)).to.equal(LINK.streamCredit);
    second.release();
    third.release();
  });

  it('that are being worked on are not too many: none is granted more until one is released', () => {
    const all = bodies();
    const [first, second] = [1, 3].map((stream) => {
      const body = arrived(all, { stream, size: 40 * MIB });
      body.add(piece, true);
      return body;
    });
    arrived(all, { stream: 5, size: LINK.streamCredit });
    expect(all.granted(5)).to.equal(0);
    first?.release();
    expect(all.granted(5)).to.equal(LINK.streamCredit);
    second?.release();
  });

  it('are whole, in pieces of any size', () => {
    for (const sizes of [
      [5],
      [1, 1, 1],
      [20_000, 1, 20_000],
      [LINK.frameBytes, LINK.frameBytes, 7],
      [3, LINK.frameBytes],
    ]) {
      const body = bodies().begin(1);
      const pieces = sizes.map((size, index) => Buffer.alloc(size, index + 1));
      for (const [index, one] of pieces.entries()) body.add(one, index === sizes.length - 1);
      expect(Buffer.compare(body.whole(), Buffer.concat(pieces)), sizes.join()).to.equal(0);
    }
  });

  it('in tiny pieces need about as much memory as they have bytes', () => {
    const body = bodies().begin(1);
    const before = process.memoryUsage();
    for (let count = 0; count < MIB; count++) body.add(piece.subarray(0, 1), false);
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).to.be.lessThan(16 * MIB);
    expect(body.whole()).to.have.length(MIB);
  });
});
