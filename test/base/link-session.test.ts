import { expect } from 'chai';
import { once } from 'node:events';
import { jsonOf } from '../../data-plane-agent/base/link/frames.js';
import { CLOSED, LINK } from '../../data-plane-agent/base/link/limits.js';
import { LinkLost, type LinkMessage } from '../../data-plane-agent/base/link/session.js';
import { echo, fakeTimers, linesOf, linked, message, never, raw, type Linked, type Raw } from './link-support.js';

const MIB = 1024 * 1024;

/** A handler whose responses the test gives. */
function held() {
  const calls: { readonly message: LinkMessage; readonly signal: AbortSignal; answer(with_?: LinkMessage): void }[] =
    [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    calls,
    onRequest: (asked: LinkMessage, { signal }: { readonly signal: AbortSignal }): Promise<LinkMessage> =>
      new Promise((resolve) => {
        calls.push({ message: asked, signal, answer: (answer = asked) => resolve(answer) });
        for (const { count, resolve: met } of waiting) if (calls.length >= count) met();
      }),
    reached: (count: number): Promise<void> =>
      new Promise((resolve) => {
        if (calls.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

const lossOf = async (request: Promise<unknown>): Promise<LinkLost> => {
  const error: unknown = await request.then(
    () => 'answered',
    (reason: unknown) => reason,
  );
  if (error instanceof LinkLost) return error;
  throw new Error(`not lost: ${String(error)}`);
};

describe('a session of the link', () => {
  const links: { close(): Promise<void> }[] = [];
  const link = async (...given: Parameters<typeof linked>): Promise<Linked> => {
    const both = await linked(...given);
    links.push(both);
    return both;
  };
  const rawPeer = async (...given: Parameters<typeof raw>): Promise<Raw> => {
    const peer = await raw(...given);
    links.push(peer);
    return peer;
  };

  afterEach(async () => {
    for (const one of links.splice(0)) await one.close();
  });

  it('carries requests in both directions, with heads and bodies of all sizes', async () => {
    const { client, server } = await link();
    for (const size of [0, 1, LINK.frameBytes, LINK.frameBytes + 1, LINK.streamCredit + 1, 3 * MIB]) {
      const body = Buffer.alloc(size, 7);
      for (const side of [client, server]) {
        const reply = await side.request({ head: { op: 'echo', size }, body }, never());
        expect(reply.head).to.deep.equal({ op: 'echo', size });
        expect(Buffer.compare(reply.body, body)).to.equal(0);
      }
    }
    expect([client.inFlight, server.inFlight]).to.deep.equal([0, 0]);
  });

  it('carries the largest body, and neither sends nor answers a larger one', async () => {
    const { lines, log } = linesOf();
    const tooLarge = new Uint8Array(LINK.bodyBytes + 1);
    const answers = { ...echo, onRequest: () => Promise.resolve({ head: {}, body: tooLarge }) };
    const { client, server } = await link({ client: { handlers: answers, log } });
    const largest = await client.request({ head: {}, body: tooLarge.subarray(1) }, never());
    expect(largest.body.length).to.equal(LINK.bodyBytes);
    expect((await lossOf(client.request({ head: {}, body: tooLarge }, never()))).nothingRan).to.equal(true);
    expect((await lossOf(server.request(message({}), never()))).nothingRan).to.equal(false);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['a request of the link was not answered']);
    const head = { text: 'x'.repeat(LINK.headBytes) };
    expect((await lossOf(client.request({ head, body: tooLarge.subarray(0, 1) }, never()))).nothingRan).to.equal(true);
    expect((await client.request(message({ still: 'open' }), never())).head).to.deep.equal({ still: 'open' });
  });

  it('answers small requests while a large body is sent', async () => {
    const { client } = await link();
    const order: string[] = [];
    const large = client.request({ head: {}, body: new Uint8Array(32 * MIB) }, never()).then(() => order.push('large'));
    await Promise.all(
      Array.from({ length: 50 }, () =>
        client.request(message({ op: 'small' }), never()).then(() => order.push('small')),
      ),
    );
    await large;
    expect(order).to.deep.equal([...Array.from({ length: 50 }, () => 'small'), 'large']);
  });

  it('sends no more of a body than was granted', async () => {
    const { session, frames, send, until } = await rawPeer();
    const sent = (): number =>
      frames.filter(({ type }) => type === 'data').reduce((sum, { payload }) => sum + payload.length, 0);
    const ends = new AbortController();
    const large = session.request({ head: {}, body: new Uint8Array(MIB) }, ends).catch(() => 'ended');
    await until(() => sent() === LINK.streamCredit);
    // Each stream has its credit, all together that of the connection.
    const others = Array.from({ length: 20 }, () =>
      session.request({ head: {}, body: new Uint8Array(MIB) }, ends).catch(() => 'ended'),
    );
    await until(() => sent() === LINK.connectionCredit);
    // Requests without bodies need no credit.
    const small = session.request(message({ op: 'small' }), never());
    await until(() => frames.some(({ type, last }) => type === 'request' && last));
    const { stream } = frames.at(-1) ?? { stream: 0 };
    send({ type: 'response', stream, last: true, payload: jsonOf({ small: true }) });
    expect((await small).head).to.deep.equal({ small: true });
    expect(sent()).to.equal(LINK.connectionCredit);
    const grant = Buffer.alloc(4);
    grant.writeUInt32BE(1_000);
    send({ type: 'window', stream: 2, payload: grant });
    send({ type: 'window', stream: 0, payload: grant });
    await until(() => sent() === LINK.connectionCredit + 1_000);
    ends.abort(new Error('enough'));
    expect(await Promise.all([large, ...others])).to.deep.equal(Array.from({ length: 21 }, () => 'ended'));
  });

  it('hands the socket no more than its limit while the other side does not read', async () => {
    const { client, server, ws, serverWs } = await link();
    ws.pause();
    const ends = new AbortController();
    const requests = Array.from({ length: LINK.inFlight }, () =>
      server.request({ head: { text: 'x'.repeat(60_000) }, body: new Uint8Array(MIB) }, ends).catch(() => 'ended'),
    );
    for (let count = 0; count < 1_000; count++) server.notice('outbox', { text: 'x'.repeat(10_000), count });
    expect(serverWs.bufferedAmount).to.be.within(LINK.bufferedBytes, LINK.bufferedBytes + LINK.maxPayload);
    ends.abort(new Error('enough'));
    await Promise.all(requests);
    ws.resume();
    expect((await client.request(message({ op: 'small' }), never())).head).to.deep.equal({ op: 'small' });
  });

  it('cancels: the signal of the other side fires, the place is free once its handler has ended', async () => {
    const { calls, onRequest, reached } = held();
    const { client, server } = await link({ client: { handlers: { onRequest } } });
    const ends = new AbortController();
    const asked = server.request(message({ op: 'slow' }), ends).catch((error: unknown) => error);
    await reached(1);
    const stopped = once(calls[0]?.signal ?? ends.signal, 'abort');
    ends.abort(new Error('the caller left'));
    expect(await asked).to.have.property('message', 'the caller left');
    await stopped;
    expect(server.inFlight).to.equal(1);
    calls[0]?.answer();
    await server.ping(5_000);
    expect(server.inFlight).to.equal(0);
    expect([client.state, server.state]).to.deep.equal(['open', 'open']);
  });

  it('cancels in the middle of a body, in either direction', async () => {
    const { client, server } = await link();
    for (let round = 0; round < 20; round++) {
      const ends = new AbortController();
      const asked = client.request({ head: {}, body: new Uint8Array(8 * MIB) }, ends).catch(() => 'ended');
      for (let pings = 0; pings < round; pings++) await client.ping(5_000);
      ends.abort(new Error('enough'));
      await asked;
    }
    expect((await client.request(message({ op: 'after' }), never())).head).to.deep.equal({ op: 'after' });
    await server.ping(5_000);
    expect([client.inFlight, client.state]).to.deep.equal([0, 'open']);
  });

  it('has at most 64 requests at the other side; of 500, 256 wait for five seconds, none hangs', async () => {
    const { calls, onRequest, reached } = held();
    const timers = fakeTimers();
    const { server } = await link({ client: { handlers: { onRequest } }, server: { timers } });
    const outcomes = Array.from({ length: 500 }, (_, index) =>
      server.request(message({ index }), never()).then(
        () => 'answered',
        (error: unknown) => (error instanceof LinkLost ? `${error.nothingRan}: ${error.message}` : String(error)),
      ),
    );
    await reached(LINK.inFlight);
    expect(await outcomes[499]).to.equal('true: too many requests wait for the other side');
    calls[0]?.answer();
    await reached(LINK.inFlight + 1);
    timers.advance(LINK.waitMs);
    expect(await outcomes[319]).to.equal('true: the other side is busy with other requests');
    expect([server.inFlight, calls.length]).to.deep.equal([LINK.inFlight, LINK.inFlight + 1]);
    for (const { answer } of calls) answer();
    const counted = Object.groupBy(await Promise.all(outcomes), (outcome) => outcome);
    expect(Object.values(counted).map((list) => list?.length)).to.have.members([65, 255, 180]);
  });

  it('says of a lost request whether a part of it was sent', async () => {
    const { onRequest, reached } = held();
    const { server, ws } = await link({ client: { handlers: { onRequest } } });
    const sent = Array.from({ length: LINK.inFlight }, () => lossOf(server.request(message({}), never())));
    await reached(LINK.inFlight);
    const waiting = lossOf(server.request(message({}), never()));
    ws.terminate();
    expect((await Promise.all(sent)).every(({ nothingRan }) => !nothingRan)).to.equal(true);
    expect((await waiting).nothingRan).to.equal(true);
    expect((await server.closed).code).to.equal(1006);
    expect((await lossOf(server.request(message({}), never()))).nothingRan).to.equal(true);
  });

  it('fires the signals of running requests when the connection is lost', async () => {
    const { calls, onRequest, reached } = held();
    const { client, server } = await link({ client: { handlers: { onRequest } } });
    const asked = lossOf(server.request(message({}), never()));
    await reached(1);
    server.close(CLOSED.revoked, 'revoked');
    expect((await asked).message).to.contain('revoked');
    expect(await client.closed).to.deep.equal({ code: CLOSED.revoked, reason: 'revoked' });
    expect(calls[0]?.signal.aborted).to.equal(true);
    expect([client.state, server.state]).to.deep.equal(['closed', 'closed']);
  });

  it('answers a failure of a handler with a lost request, and goes on', async () => {
    const { lines, log } = linesOf();
    let isBroken = true;
    const onRequest = (asked: LinkMessage): Promise<LinkMessage> =>
      isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(asked);
    const { server } = await link({ client: { handlers: { onRequest }, log } });
    expect((await lossOf(server.request(message({}), never()))).nothingRan).to.equal(false);
    expect(lines).to.have.length(1);
    isBroken = false;
    expect((await server.request(message({ op: 'next' }), never())).head).to.deep.equal({ op: 'next' });
  });

  it('sends its report with each heartbeat, every 20 seconds, and measures the round trip', async () => {
    const timers = fakeTimers();
    const reports: unknown[] = [];
    const { client, server } = await link({
      client: { handlers: { report: () => ({ load: 1 }) }, timers },
      server: { handlers: { onReport: (report) => reports.push(report) } },
    });
    expect(client.latencyMs).to.equal(null);
    timers.advance(LINK.heartbeatMs - 1);
    expect(await server.ping(5_000)).to.equal(true);
    expect(reports).to.deep.equal([]);
    timers.advance(1);
    await server.ping(5_000);
    expect(reports).to.deep.equal([{ load: 1 }]);
    expect(client.latencyMs).to.equal(0);
  });

  it('is dead 45 seconds after the last message, with requests that fail at once', async () => {
    const timers = fakeTimers();
    // A peer that reads nothing and answers nothing.
    const { session, ws, code } = await rawPeer({ timers });
    const asked = lossOf(session.request(message({}), never()));
    const pinged = session.ping(60_000);
    timers.advance(30_000);
    ws.ping();
    timers.advance(14_999);
    expect(session.state).to.equal('open');
    timers.advance(1);
    expect(await session.closed).to.deep.include({ code: CLOSED.silent });
    expect((await asked).nothingRan).to.equal(false);
    expect(await pinged).to.equal(false);
    timers.advance(2_000);
    await code;
    expect(timers.pending).to.equal(0);
  });

  it('stays open while something arrives', async () => {
    const timers = fakeTimers();
    const { client, server } = await link({ server: { timers } });
    for (let round = 0; round < 10; round++) {
      timers.advance(40_000);
      await client.ping(5_000);
    }
    expect(server.state).to.equal('open');
  });

  it('a ping out of turn fails when its time is over', async () => {
    const timers = fakeTimers();
    const { session, ws } = await rawPeer({ timers });
    ws.pause();
    const answered = session.ping(1_000);
    timers.advance(1_000);
    expect(await answered).to.equal(false);
  });

  it('drains after GOAWAY: the other side sends nothing new, and what runs is answered', async () => {
    const { calls, onRequest, reached } = held();
    const delays: number[] = [];
    const { client, server } = await link({
      client: { handlers: { onGoAway: ({ reconnectAfterMs }) => delays.push(reconnectAfterMs), onRequest } },
      server: { handlers: { onRequest } },
    });
    const asked = [server.request(message({ from: 'server' }), never()), client.request(message({}), never())];
    await reached(2);
    let isDrained = false;
    const drained = server.goAway({ reconnectAfterMs: 250, timeoutMs: 5_000 }).then(() => {
      isDrained = true;
    });
    expect(server.state).to.equal('draining');
    await server.ping(5_000);
    expect([delays, client.state]).to.deep.equal([[250], 'draining']);
    const refused = await lossOf(client.request(message({}), never()));
    expect([refused.nothingRan, refused.message]).to.deep.equal([true, 'the other side is closing the connection']);
    calls[0]?.answer();
    await server.ping(5_000);
    expect(isDrained).to.equal(false);
    calls[1]?.answer();
    await Promise.all([drained, ...asked]);
    server.close(1001, 'replaced');
    expect((await client.closed).code).to.equal(1001);
  });

  it('a request that crosses GOAWAY is answered, and the drain ends after its time', async () => {
    const timers = fakeTimers();
    const { calls, onRequest, reached } = held();
    const { client, server } = await link({ server: { handlers: { onRequest }, timers } });
    const crossing = client.request(message({}), never());
    const drained = server.goAway({ reconnectAfterMs: 0, timeoutMs: 1_000 });
    await reached(1);
    calls[0]?.answer();
    await crossing;
    await drained;
    const stuck = linked({ server: { handlers: { onRequest }, timers } });
    const other = await stuck;
    links.push(other);
    void other.client.request(message({}), never()).catch(() => 'lost');
    await reached(2);
    const timedOut = other.server.goAway({ reconnectAfterMs: 0, timeoutMs: 1_000 });
    timers.advance(1_000);
    await timedOut;
  });

  it('delivers notices; one that fails does not end the session', async () => {
    const { lines, log } = linesOf();
    const notices: unknown[] = [];
    const onNotice = (topic: string, value: unknown): void => {
      notices.push([topic, value]);
      throw new Error('broken');
    };
    const { client, server } = await link({ client: { handlers: { onNotice }, log } });
    server.notice('tenant', { active: true });
    await server.ping(5_000);
    expect(notices).to.deep.equal([['tenant', { active: true }]]);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['a message of the link was not processed']);
    expect(client.state).to.equal('open');
    expect(() => server.notice('tenant', 'x'.repeat(LINK.frameBytes))).to.throw(RangeError);
  });
});
