import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createTurns, type Turn, type Turns, type TurnsOptions } from '../../server/http/turns.js';
import { failureOf } from '../support/failures.js';

describe('turns of requests', () => {
  /** Time and turns of the event loop that the test makes. */
  const simulated = (options: TurnsOptions = {}) => {
    let time = 1_000;
    let next: (() => void)[] = [];
    const turns = createTurns({
      now: () => time,
      isBusy: () => false,
      nextTurn: (run) => next.push(run),
      later: (run) => next.push(run),
      firstRequests: 0,
      ...options,
    });
    return {
      turns,
      passes: (ms: number) => void (time += ms),
      /** Runs what was meant for the next turn of the event loop, and all that follows from it at once. */
      turn: async () => {
        const run = next;
        next = [];
        for (const one of run) one();
        await new Promise<void>((resolve) => setImmediate(resolve));
      },
    };
  };
  /** Takes turns; what has begun is in `begun`, in its order. */
  const taking = (turns: Turns, begun: string[]) => (tenant: string, name: string) => {
    const turn = turns.take(tenant);
    if (turn instanceof Promise) void turn.then(() => begun.push(name));
    else begun.push(name);
  };

  it('let requests begin at once while there is time', () => {
    const { turns, passes } = simulated();
    const begun: string[] = [];
    const take = taking(turns, begun);
    take('a', '1');
    passes(4);
    take('a', '2');
    expect([begun, turns.waiting]).to.deep.equal([['1', '2'], 0]);
  });

  it('let others wait for the next turn of the event loop, in their order', async () => {
    const { turns, passes, turn } = simulated();
    const begun: string[] = [];
    const take = taking(turns, begun);
    take('a', '1');
    passes(6);
    take('a', '2');
    passes(-6); // as if the clock had stood still: what waits goes first all the same
    take('a', '3');
    expect([begun, turns.waiting]).to.deep.equal([['1'], 2]);
    await turn();
    expect([begun, turns.waiting]).to.deep.equal([['1', '2', '3'], 0]);
  });

  it('begin no more than the time of one turn allows', async () => {
    const { turns, passes, turn } = simulated();
    const begun: string[] = [];
    void turns.take('a');
    passes(6);
    for (let n = 0; n < 6; n++) void Promise.resolve(turns.take('a')).then(() => (passes(3), begun.push(`${n}`)));
    for (const count of [2, 4, 6]) {
      await turn();
      expect(begun).to.have.length(count);
    }
  });

  it('go round the organisations', async () => {
    const { turns, passes, turn } = simulated();
    const begun: string[] = [];
    const take = taking(turns, begun);
    void turns.take('a');
    passes(6);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) take(name.slice(0, 1), name);
    await turn();
    expect(begun).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('wait while the thread is busy and enough are under way, until one has ended or has taken a second', async () => {
    let isBusy = true;
    const { turns, passes, turn } = simulated({ isBusy: () => isBusy });
    const begun: string[] = [];
    const first = turns.take('a');
    if (first instanceof Promise) throw new Error('it may begin at once');
    for (let n = 1; n < 24; n++) void turns.take('a');
    taking(turns, begun)('a', '1');
    taking(turns, begun)('a', '2');
    for (let n = 0; n < 3; n++) await turn();
    expect([begun, turns.waiting]).to.deep.equal([[], 2]);
    first.ended();
    first.ended(); // counts once
    for (let n = 0; n < 3; n++) await turn();
    expect(begun).to.deep.equal(['1']);
    passes(1_001);
    for (let n = 0; n < 3; n++) await turn();
    expect(begun).to.deep.equal(['1', '2']);
    isBusy = false;
    passes(20);
    for (let n = 0; n < 100; n++) taking(turns, begun)('a', 'more');
    for (let n = 0; n < 10; n++) await (passes(20), turn());
    expect(begun).to.have.length(102);
  });

  describe('that wait for something else', () => {
    /** Requests that do not end, and how many of them have begun after the next look. */
    const waiting = () => {
      let isBusy = false;
      const { turns, passes, turn } = simulated({ isBusy: () => isBusy });
      const taken: (Turn | undefined)[] = [];
      const take = () => {
        const place = taken.push(undefined) - 1;
        const turn = turns.take('a');
        if (turn instanceof Promise) void turn.then((begun) => (taken[place] = begun));
        else taken[place] = turn;
      };
      const begun = () => taken.filter((one) => one !== undefined).length;
      const settled = async () => {
        for (let n = 0; n < 2; n++) await turn();
        return begun();
      };
      return {
        take,
        begun,
        end: (count: number) => taken.slice(0, count).forEach((one) => one?.ended()),
        atNextLook: async (busy: boolean) => ((isBusy = busy), passes(20), settled()),
        beforeIt: async () => (passes(19), settled()),
      };
    };

    it('are half as many more with each look at a thread that is not busy', async () => {
      const { take, begun, atNextLook, beforeIt } = waiting();
      for (let n = 0; n < 300; n++) take();
      expect(begun()).to.equal(36);
      expect(await beforeIt()).to.equal(36);
      const counts: number[] = [];
      for (let look = 0; look < 6; look++) counts.push(await atNextLook(false));
      expect(counts).to.deep.equal([54, 81, 122, 183, 275, 300]);
    });

    it('are none more while the thread is busy, and then half as many more as are under way', async () => {
      const { take, end, atNextLook } = waiting();
      for (let n = 0; n < 300; n++) take();
      expect(await atNextLook(false)).to.equal(54);
      expect(await atNextLook(true)).to.equal(54);
      end(31); // 23 are left
      expect(await atNextLook(true)).to.equal(55);
      expect(await atNextLook(false)).to.equal(67); // 36 under way
      expect(await atNextLook(false)).to.equal(85); // 54
    });

    it('are as many while the thread is busy for one look, as it is when many begin', async () => {
      const { take, end, atNextLook, beforeIt } = waiting();
      for (let n = 0; n < 300; n++) take();
      for (const begun of [54, 81, 122]) expect(await atNextLook(false)).to.equal(begun);
      expect(await atNextLook(true)).to.equal(122);
      end(22);
      expect(await beforeIt()).to.equal(144);
      expect(await atNextLook(false)).to.equal(205); // 183 under way
    });
  });

  it('wait while nothing may begin', async () => {
    let mayBegin = false;
    const { turns, turn } = simulated({ mayBegin: () => mayBegin });
    const begun: string[] = [];
    const take = taking(turns, begun);
    take('a', '1');
    for (let n = 0; n < 3; n++) await turn();
    expect(begun).to.deep.equal([]);
    mayBegin = true;
    for (let n = 0; n < 2; n++) await turn();
    expect(begun).to.deep.equal(['1']);
  });

  it('are refused to an organisation whose oldest request has waited too long, and not to others', async () => {
    const { turns, passes } = simulated({ mayBegin: () => false });
    void turns.take('a');
    passes(600);
    void turns.take('a');
    passes(1);
    expect(await failureOf((async () => turns.take('a'))())).to.deep.include({
      code: 'OVERLOADED',
      details: { retryAfterSeconds: 1 },
    });
    expect([turns.isOver('a'), turns.isOver('b')]).to.deep.equal([true, false]);
    void turns.take('b');
    expect(turns.waiting).to.equal(3);
  });

  it('are refused when so many wait that the last one would wait too long at the present pace', async () => {
    const { turns, passes, turn } = simulated();
    void turns.take('a');
    passes(6);
    for (let n = 0; n < 80; n++) void Promise.resolve(turns.take('a')).then(() => passes(20));
    while (turns.waiting > 0) await turn();
    let taken = 0;
    for (; !turns.isOver('b') && taken < 1_000; taken++) void turns.take('b');
    // 500 ms for 20 ms each, and the one that begins at once.
    expect(taken).to.be.within(25, 28);
    expect(turns.isOver('a')).to.equal(false);
  });

  it('are refused at the pace of half a second, not of those that were quick last', async () => {
    const { turns, passes, turn } = simulated();
    void turns.take('a');
    passes(6);
    for (let n = 0; n < 80; n++) void Promise.resolve(turns.take('a')).then(() => passes(n % 16 === 0 ? 90 : 2));
    while (turns.waiting > 0) await turn();
    let taken = 0;
    for (; !turns.isOver('b') && taken < 1_000; taken++) void turns.take('b');
    // 7.5 ms each at the mean of sixteen; the last fifteen took 2 ms.
    expect(taken).to.be.within(60, 75);
  });

  it('are all taken of a burst, whatever the pace was before it', async () => {
    const { turns, passes, turn } = simulated();
    const take = (tenant: string) => void Promise.resolve(turns.take(tenant)).then(() => passes(100));
    take('a');
    passes(6);
    for (let n = 0; n < 20; n++) take('a');
    while (turns.waiting > 0) await turn();
    passes(11);
    // At the pace of the requests before, they would wait for 30 s.
    for (let n = 0; n < 300; n++) take('a');
    expect(turns.waiting).to.equal(300);
    passes(600);
    expect(turns.isOver('a')).to.equal(true);
  });

  describe('that are the first of a process', () => {
    /** A process that takes 25 ms for each. */
    const slow = (firstRequests: number) => {
      const { turns, passes, turn } = simulated({ firstRequests });
      void turns.take('a');
      passes(6); // of this turn of the event loop: what follows waits
      const begun: string[] = [];
      const take = (tenant: string) => Promise.resolve(turns.take(tenant)).then(() => (passes(25), begun.push(tenant)));
      return { turns, passes, turn, begun, take };
    };

    it('are not refused for what the process takes to get going', async () => {
      const { turns, turn, begun, take } = slow(200);
      const taken = Array.from({ length: 120 }, () => take('a'));
      while (begun.length < 60) await turn();
      // The oldest have waited for 1.5 s, and the last one will wait for 3 s.
      expect([turns.waiting, turns.isOver('a')]).to.deep.equal([60, false]);
      taken.push(take('a'));
      while (turns.waiting > 0) await turn();
      await Promise.all(taken);
      expect(begun).to.have.length(121);
    });

    it('are no more than a number', async () => {
      const { turns, turn, begun, take } = slow(40);
      for (let n = 0; n < 120; n++) void take('a');
      while (begun.length < 38) await turn();
      expect(turns.isOver('a')).to.equal(false);
      while (begun.length < 39) await turn();
      expect(turns.isOver('a')).to.equal(true);
    });

    it('are refused when the oldest has waited for four seconds', () => {
      const { turns, passes } = simulated({ firstRequests: 200, mayBegin: () => false });
      void turns.take('a');
      passes(4_000);
      expect(turns.isOver('a')).to.equal(false);
      passes(1);
      expect([turns.isOver('a'), turns.isOver('b')]).to.deep.equal([true, false]);
    });
  });

  it('wait only up to a number', () => {
    const { turns } = simulated({ mayBegin: () => false });
    let taken = 0;
    for (; !turns.isOver('a') && taken < 10_000; taken++) void turns.take('a');
    expect(taken).to.be.within(100, 1_000);
  });

  it('hear a hundred clients that connect at once before a tenth of their requests have begun', async () => {
    const CLIENTS = 100;
    const turns = createTurns({ isBusy: () => true });
    let begun = 0;
    const begunWhenHeard: number[] = [];
    const server = createServer((_request, answer) => {
      begunWhenHeard.push(begun);
      void (async () => {
        const turn = await turns.take('a');
        begun += 1;
        const until = performance.now() + 6; // longer than requests begin in one turn of the event loop
        while (performance.now() < until);
        answer.end();
        turn.ended();
      })();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo; // of a server that listens on a port
    const clients = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
    try {
      await Promise.all(
        clients.map(async (client) => {
          client.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n');
          await once(client.resume(), 'close');
        }),
      );
      expect(begunWhenHeard).to.have.length(CLIENTS);
      expect(begun).to.equal(CLIENTS);
      expect(Math.max(...begunWhenHeard)).to.be.below(CLIENTS / 10);
    } finally {
      for (const client of clients) client.destroy();
      server.close();
    }
  });
});
