import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeFrame,
  encodeFrame,
  HEADER_BYTES,
  jsonOf,
  MalformedFrame,
  objectIn,
  type Frame,
  type FrameType,
} from '../../data-plane-agent/base/link/frames.js';
import { CLOSED, LINK } from '../../data-plane-agent/base/link/limits.js';
import type { LinkHandlers, MessageSocket } from '../../data-plane-agent/base/link/session.js';
import { echo, fakeTimers, linesOf, message, never, raw, sessionOver, type Raw } from './link-support.js';

const SEED = 20_261_123;
const LARGEST = LINK.frameBytes;

const bytes = (min: number, max: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: min, maxLength: max, size: 'max' });
const stream = fc.integer({ min: 1, max: 0xff_ff_ff_ff });
const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }).map(jsonOf);

/** Any valid frame. */
const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ type: fc.constantFrom('request', 'response'), stream, last: fc.boolean(), payload: object }),
  fc.record({ type: fc.constant('data'), stream, last: fc.boolean(), payload: bytes(1, 2_000) }),
  fc.record({
    type: fc.constantFrom('end', 'cancel', 'pong'),
    stream,
    last: fc.constant(false),
    payload: fc.constant(new Uint8Array(0)),
  }),
  fc.record({
    type: fc.constant('window'),
    stream: fc.oneof(stream, fc.constant(0)),
    last: fc.constant(false),
    payload: bytes(4, 4),
  }),
  fc.record({ type: fc.constant('ping'), stream, last: fc.constant(false), payload: object }),
  fc.record({
    type: fc.constantFrom('goAway', 'notice'),
    stream: fc.constant(0),
    last: fc.constant(false),
    payload: object,
  }),
) as fc.Arbitrary<Frame>;

describe('frames of the link', () => {
  it('are the same after encoding and decoding', () => {
    fc.assert(
      fc.property(anyFrame, (frame) => {
        const decoded = decodeFrame(encodeFrame(frame));
        expect({ ...decoded, payload: Buffer.from(decoded.payload) }).to.deep.equal({
          ...frame,
          payload: Buffer.from(frame.payload),
        });
      }),
      { seed: SEED, numRuns: 5_000 },
    );
  });

  it('have a header of eight bytes, big-endian', () => {
    const payload = Buffer.from('{}');
    const frame = encodeFrame({ type: 'response', stream: 0x01_02_03_04, last: true, payload });
    expect(Buffer.from(frame).toString('hex')).to.equal('0102000101020304' + '7b7d');
    expect(Buffer.from(encodeFrame({ type: 'window', stream: 0, payload: Buffer.alloc(4) })).toString('hex')).to.equal(
      '010600000000000000000000',
    );
  });

  it('carry at most 64 KiB', () => {
    const of = (type: FrameType, size: number): Uint8Array =>
      encodeFrame({ type, stream: 1, payload: new Uint8Array(size) });
    expect(decodeFrame(of('data', LARGEST)).payload).to.have.length(LARGEST);
    for (const type of ['data', 'request', 'response', 'ping'] as const)
      expect(() => decodeFrame(of(type, LARGEST + 1))).to.throw(MalformedFrame, 'bytes');
  });

  it('are refused when malformed, with the reason', () => {
    const good = encodeFrame({ type: 'data', stream: 1, payload: Buffer.from('x') });
    const changed = (at: number, byte: number): Uint8Array => {
      const copy = Uint8Array.from(good);
      copy[at] = byte;
      return copy;
    };
    const cases: readonly [Uint8Array, string][] = [
      [new Uint8Array(0), 'shorter than its header'],
      [good.subarray(0, HEADER_BYTES - 1), 'shorter than its header'],
      [good.subarray(0, HEADER_BYTES), 'has 0 bytes'],
      [changed(0, 2), 'unknown version'],
      [changed(1, 0), 'unknown type'],
      [changed(1, 11), 'unknown type'],
      [changed(1, 255), 'unknown type'],
      [changed(2, 1), 'unknown flags'],
      [changed(3, 2), 'unknown flags'],
      [changed(7, 0), 'type data has stream 0'],
      [encodeFrame({ type: 'end', stream: 1, last: true }), 'unknown flags'],
      [encodeFrame({ type: 'goAway', stream: 1, payload: Buffer.from('{}') }), 'type goAway has stream 1'],
      [encodeFrame({ type: 'window', stream: 1, payload: Buffer.alloc(5) }), 'has 5 bytes'],
      [encodeFrame({ type: 'cancel', stream: 1, payload: Buffer.alloc(1) }), 'has 1 bytes'],
    ];
    for (const [frame, why] of cases) expect(() => decodeFrame(frame), why).to.throw(MalformedFrame, why);
    for (const text of ['[]', 'null', '"x"', '12', '{', '{}x', '{"a":1,}'])
      expect(() => objectIn({ type: 'request', payload: Buffer.from(text) }), text).to.throw(MalformedFrame);
    expect(() =>
      objectIn({ type: 'request', payload: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }),
    ).to.throw(MalformedFrame);
  });
});

describe('a session closes with 4400 and logs once', () => {
  const peers: Raw[] = [];
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });

  const window = (grant: number): Uint8Array => {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(grant);
    return payload;
  };
  const head = jsonOf({ op: 'x' });
  const request = { type: 'request', stream: 1, payload: head } as const;
  const data = { type: 'data', stream: 1, payload: head } as const;
  const pending: Partial<LinkHandlers> = { onRequest: () => new Promise(() => undefined) };

  const rows: readonly [what: string, why: string, act: (peer: Raw) => void][] = [
    ['a text', 'shorter than its header', ({ ws }) => ws.send('hello, this is a text')],
    ['a truncated frame', 'shorter than its header', ({ ws }) => ws.send(Buffer.from([1, 1, 0]))],
    ['a frame above 64 KiB', 'has 65537 bytes', ({ send }) => send({ ...data, payload: new Uint8Array(LARGEST + 1) })],
    ['a head that is a list', 'no JSON object', ({ send }) => send({ ...request, payload: Buffer.from('[1]') })],
    ['a head that is no JSON', 'malformed JSON', ({ send }) => send({ ...request, payload: Buffer.from('{op}') })],
    [
      'a head that is not UTF-8',
      'no JSON object',
      ({ send }) => send({ ...request, payload: Buffer.from([0x7b, 0xff]) }),
    ],
    ['an even number of the client', 'of the other side', ({ send }) => send({ ...request, stream: 2 })],
    ['a number that is used again', 'used again', ({ send }) => (send({ ...request, last: true }), send(request))],
    ['a lower number', 'used again', ({ send }) => (send({ ...request, stream: 5 }), send({ ...request, stream: 3 }))],
    ['data of no stream', 'never begun', ({ send }) => send(data)],
    ['data after the end of a request', 'has ended', ({ send }) => (send({ ...request, last: true }), send(data))],
    [
      'data after a cancellation',
      'has ended',
      ({ send }) => (send(request), send({ type: 'cancel', stream: 1 }), send(data)),
    ],
    ['empty data', 'has 0 bytes', ({ send }) => (send(request), send({ type: 'data', stream: 1, last: true }))],
    ['a second head', 'used again', ({ send }) => (send(request), send(request))],
    [
      'more streams than allowed',
      'more streams',
      ({ send }) => {
        for (let index = 0; index <= LINK.inFlight; index++) send({ ...request, stream: 1 + 2 * index, last: true });
      },
    ],
    ['a cancellation of no stream', 'never begun', ({ send }) => send({ type: 'cancel', stream: 1 })],
    ['a response to no request', 'never begun', ({ send }) => send({ type: 'response', stream: 2, payload: head })],
    ['an end of no request', 'never begun', ({ send }) => send({ type: 'end', stream: 2 })],
    ['an end of its own request', 'of the other side', ({ send }) => (send(request), send({ type: 'end', stream: 1 }))],
    ['a grant of nothing', 'grants nothing', ({ send }) => send({ type: 'window', stream: 0, payload: window(0) })],
    ['a grant for no stream', 'never begun', ({ send }) => send({ type: 'window', stream: 2, payload: window(1) })],
    [
      'too much credit',
      'more credit',
      ({ send }) => send({ type: 'window', stream: 0, payload: window(0xff_ff_ff_ff) }),
    ],
    ['a pong of no ping', 'no ping', ({ send }) => send({ type: 'pong', stream: 9 })],
    [
      'a report that is a number',
      'no JSON object',
      ({ send }) => send({ type: 'ping', stream: 1, payload: Buffer.from('12') }),
    ],
    [
      'a notice without a topic',
      'no topic',
      ({ send }) => send({ type: 'notice', stream: 0, payload: jsonOf({ value: 1 }) }),
    ],
    ['a GOAWAY without a delay', 'no delay', ({ send }) => send({ type: 'goAway', stream: 0, payload: jsonOf({}) })],
    [
      'a GOAWAY with a delay of a year',
      'no delay',
      ({ send }) => send({ type: 'goAway', stream: 0, payload: jsonOf({ reconnectAfterMs: 31e9 }) }),
    ],
  ];
  for (const [what, why, act] of rows)
    it(`after ${what}`, async () => {
      const { lines, log } = linesOf();
      const peer = await raw({ handlers: pending, log });
      peers.push(peer);
      act(peer);
      expect(await peer.code).to.equal(CLOSED.malformed);
      expect((await peer.session.closed).code).to.equal(CLOSED.malformed);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ msg: 'the link was closed: the other side sent a malformed message' });
      expect(lines[0]?.['reason']).to.contain(why);
    });

  it('after a response that has data before its head, or two heads', async () => {
    for (const frames of [
      [{ type: 'data', stream: 2, payload: head }],
      [
        { type: 'response', stream: 2, payload: head },
        { type: 'response', stream: 2, payload: head },
      ],
      [
        { type: 'response', stream: 2, payload: head, last: true },
        { type: 'data', stream: 2, payload: head },
      ],
    ] as const) {
      const peer = await raw();
      peers.push(peer);
      const asked = peer.session.request(message({}), never()).catch(() => 'lost');
      await peer.until(() => peer.frames.length > 0);
      for (const frame of frames) peer.send(frame);
      expect(await peer.code).to.equal(CLOSED.malformed);
      await asked;
    }
  });

  it('leaves messages above the limit of the WebSocket to the WebSocket: 1009', async () => {
    const peer = await raw();
    peers.push(peer);
    peer.ws.send(new Uint8Array(LINK.maxPayload + 1));
    expect(await peer.code).to.equal(1009);
  });

  it('accepts what crosses on the way: a late cancellation, grants for streams that have ended', async () => {
    const peer = await raw();
    peers.push(peer);
    peer.send({ ...request, last: true });
    await peer.until(() => peer.frames.some(({ type }) => type === 'response'));
    peer.send({ type: 'cancel', stream: 1 });
    peer.send({ type: 'window', stream: 1, payload: window(1_000) });
    peer.send({ type: 'ping', stream: 1, payload: jsonOf({}) });
    await peer.until(() => peer.frames.some(({ type }) => type === 'pong'));
    expect(peer.session.state).to.equal('open');
  });
});

/** A socket in memory, for many frames. */
function memorySocket() {
  let onMessage: (data: Uint8Array) => void = () => undefined;
  let closedWith: number | undefined;
  let sentBytes = 0;
  const socket: MessageSocket = {
    bufferedAmount: 0,
    together: (send: () => void) => send(),
    send: (data) => {
      sentBytes += data.length;
    },
    close: (code) => {
      closedWith = code;
    },
    terminate: () => undefined,
    onMessage: (listener) => {
      onMessage = listener;
    },
    onClose: () => undefined,
  };
  return {
    socket,
    deliver: (data: Uint8Array) => onMessage(data),
    code: () => closedWith,
    sent: () => sentBytes,
  };
}

describe('100 000 random, truncated and oversized messages', () => {
  it('never throw, close with 4400 and need little memory', async function () {
    this.timeout(180_000);
    const { log, lines } = linesOf();
    const near = fc.integer({ min: 1, max: 8 });
    const nearby = anyFrame
      .chain((frame) => fc.record({ frame: fc.constant(frame), stream: near }))
      .map(({ frame, stream: number }) => encodeFrame({ ...frame, stream: frame.stream === 0 ? 0 : number }));
    const mutated = fc
      .tuple(nearby, fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([frame, at, byte]) => frame.with(at % Math.min(frame.length, HEADER_BYTES), byte));
    const truncated = fc.tuple(nearby, fc.nat()).map(([frame, at]) => frame.subarray(0, at % frame.length));
    const oversized = fc
      .integer({ min: LARGEST - 4, max: LARGEST + 64 })
      .map((size) => encodeFrame({ type: 'data', stream: 1, payload: new Uint8Array(size) }));
    const any = fc.oneof(
      { weight: 60, arbitrary: nearby },
      { weight: 10, arbitrary: mutated },
      { weight: 10, arbitrary: truncated },
      { weight: 15, arbitrary: fc.uint8Array({ maxLength: 64 }) },
      { weight: 1, arbitrary: oversized },
    );
    const before = process.memoryUsage().arrayBuffers;
    let sessions = 0;
    let most = 0;
    let peer = memorySocket();
    const start = (): void => {
      peer = memorySocket();
      sessionOver(peer.socket, 'server', { handlers: echo, log, timers: fakeTimers() });
      sessions += 1;
    };
    start();
    // In batches, so that the messages themselves need no memory.
    for (let batch = 0; batch < 50; batch++) {
      for (const data of fc.sample(any, { seed: SEED + batch, numRuns: 2_000 })) {
        peer.deliver(data);
        if (peer.code() === undefined) continue;
        expect(peer.code()).to.equal(CLOSED.malformed);
        start();
      }
      await Promise.resolve();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(sessions).to.be.greaterThan(10_000);
    expect(lines).to.have.length(sessions - 1);
    expect(most).to.be.lessThan(64 * 1024 * 1024);
  });

  it('of a peer that floods with pings, notices and cancelled requests keep nothing', async () => {
    const peer = memorySocket();
    // The peer reads nothing: the socket takes nothing more.
    const socket: MessageSocket = { ...peer.socket, bufferedAmount: LINK.bufferedBytes + 1 };
    const session = sessionOver(socket, 'server', { timers: fakeTimers() });
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 10_000; index++) {
      const number = 1 + 2 * index;
      peer.deliver(encodeFrame({ type: 'ping', stream: number, payload: jsonOf({ load: 'x'.repeat(100) }) }));
      peer.deliver(encodeFrame({ type: 'request', stream: number, payload: jsonOf({ op: 'x' }) }));
      peer.deliver(encodeFrame({ type: 'data', stream: number, payload: new Uint8Array(1_000) }));
      peer.deliver(encodeFrame({ type: 'cancel', stream: number }));
      if (index % 1_000 === 0) await Promise.resolve();
    }
    // Cancelled requests count until the peer can be sent their end.
    expect([session.state, peer.code()]).to.deep.equal(['closed', CLOSED.malformed]);
    expect(peer.sent()).to.equal(0);
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(64 * 1024 * 1024);
  });
});
