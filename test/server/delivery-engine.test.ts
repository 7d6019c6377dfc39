import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLog } from '../../data-plane-agent/base/log.js';
import {
  createDeliveryEngine,
  type Outcome,
  type Queue,
  type QueuedMessage,
  type Settled,
} from '../../server/notifications/engine.js';

const DELIVERED: Outcome = { delivered: true };
const REFUSED: Outcome = { delivered: false, error: 'refused' };

/** A queue whose messages are given by lane, and whose attempts wait until they are released. */
function queueOf(
  given: Readonly<Record<string, number>>,
  { answer = () => DELIVERED }: { answer?: (id: string) => Outcome } = {},
) {
  const waiting = new Map(
    Object.entries(given).map(([lane, count]) => [lane, Array.from({ length: count }, (_, i) => `${lane}${i}`)]),
  );
  const open = new Map<string, () => void>();
  const settled: [string, Settled][] = [];
  const waits: Record<string, number[]> = {};
  const queue: Queue = {
    name: 'test',
    tenantId: null,
    reserve: (lane) => Promise.resolve(waits[lane]?.shift() ?? 0),
    lease: (lane, id) => {
      const ids = waiting.get(lane) ?? [];
      const [found] = id === undefined ? ids.splice(0, 1) : ids.splice(ids.indexOf(id), ids.includes(id) ? 1 : 0);
      return Promise.resolve(found === undefined ? undefined : { id: found, topic: 'test', attempts: 1 });
    },
    attempt: async ({ id }) => {
      await new Promise<void>((resolve) => open.set(id, resolve));
      open.delete(id);
      return answer(id);
    },
    settle: ({ id }, outcome) => {
      const state = outcome.delivered ? 'delivered' : outcome.isFinal === true ? 'failed' : 'queued';
      settled.push([id, state]);
      return Promise.resolve(state);
    },
  };
  /** Ends attempts under way, until none is begun for a moment. */
  const release = async (which: (id: string) => boolean = () => true): Promise<void> => {
    for (let idle = 0; idle < 5; idle++) {
      await sleep(1);
      for (const [id, end] of open) {
        if (!which(id)) continue;
        end();
        idle = 0;
      }
    }
  };
  return { queue, settled, release, waits, underWay: () => [...open.keys()], waiting };
}

describe('the delivery engine', () => {
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'warn',
    name: 'test',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const engineOf = () => createDeliveryEngine({ log });
  beforeEach(() => {
    logged.length = 0;
  });

  it('delivers every message of every lane once', async () => {
    const { queue, settled, release } = queueOf({ a: 30, b: 1 });
    const work = engineOf().work(queue, ['a', 'b']);
    await release();
    await work;
    expect(settled).to.have.length(31);
    expect(new Set(settled.map(([id]) => id)).size).to.equal(31);
  });

  it('does not let a slow receiver delay the others', async () => {
    const { queue, settled, release, underWay } = queueOf({ slow: 5, quick: 20 });
    const engine = engineOf();
    const work = engine.work(queue, ['slow', 'quick']);
    await release((id) => id.startsWith('quick'));
    expect(settled).to.have.length(20);
    expect(underWay(), 'one attempt only, as long as none has succeeded').to.deep.equal(['slow0']);
    await release();
    await work;
    expect(settled).to.have.length(25);
  });

  it('makes several attempts at once in a lane that works, and a limited number in all', async () => {
    const { queue, release, underWay } = queueOf(
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`lane${i}-`, 10])),
    );
    const engine = engineOf();
    const work = engine.work(
      queue,
      Array.from({ length: 20 }, (_, i) => `lane${i}-`),
    );
    await sleep(5);
    expect(underWay()).to.have.length(20);
    await release((id) => id.endsWith('-0'));
    expect(underWay().length).to.be.within(21, 32);
    await release();
    await work;
  });

  it('leaves the rest of a lane for the next round when an attempt fails, unless it failed for its own reason', async () => {
    const { queue, settled, release } = queueOf(
      { down: 3, picky: 3 },
      { answer: (id) => (id.startsWith('down') ? REFUSED : { ...REFUSED, delivered: false, isFinal: true }) },
    );
    const work = engineOf().work(queue, ['down', 'picky']);
    await release();
    await work;
    expect(settled.map(([id, state]) => `${id} ${state}`)).to.have.members([
      'down0 queued',
      'picky0 failed',
      'picky1 failed',
      'picky2 failed',
    ]);
    expect(logged.map(({ msg, message, final }) => [msg, message, final])).to.deep.include.members([
      ['message not delivered', 'down0', false],
      ['message not delivered', 'picky2', true],
    ]);
  });

  it('warns of a message that this installation cannot send only when it is given up', async () => {
    const { queue, settled, release } = queueOf(
      { early: 1, last: 1 },
      { answer: (id) => ({ ...REFUSED, delivered: false, isUnconfigured: true, isFinal: id === 'last0' }) },
    );
    const work = engineOf().work(queue, ['early', 'last']);
    await release();
    await work;
    expect(settled).to.have.deep.members([
      ['early0', 'queued'],
      ['last0', 'failed'],
    ]);
    expect(logged.map(({ message, final }) => [message, final])).to.deep.equal([['last0', true]]);
  });

  it('waits for a place in the pace of the lane if it comes soon, and otherwise leaves the lane', async () => {
    const { queue, settled, release, waits } = queueOf({ soon: 1, later: 1 });
    waits['soon'] = [20, 20];
    waits['later'] = [60_000];
    const work = engineOf().work(queue, ['soon', 'later']);
    await sleep(50);
    await release();
    await work;
    expect(settled).to.deep.equal([['soon0', 'delivered']]);
  });

  it('counts an attempt that throws as failed, and goes on with other lanes when a queue fails', async () => {
    const { queue, settled, release } = queueOf({ a: 1, b: 1 });
    const broken: Queue = {
      ...queue,
      lease: (lane, id) => (lane === 'b' ? Promise.reject(new Error('database down')) : queue.lease(lane, id)),
      attempt: (message: QueuedMessage) =>
        message.id === 'a0' ? Promise.reject(new Error('no template')) : queue.attempt(message),
    };
    await engineOf().work(broken, ['a', 'b']);
    await release();
    expect(settled).to.deep.equal([['a0', 'queued']]);
    expect(logged.map(({ msg }) => msg)).to.have.members(['message not delivered', 'messages not delivered']);
  });

  it('a second call waits for the work on the lane that the first one began', async () => {
    const { queue, settled, release } = queueOf({ a: 1 });
    const engine = engineOf();
    const first = engine.work(queue, ['a']);
    await sleep(5);
    let isOver = false;
    const second = engine.work(queue, ['a']).then(() => (isOver = true));
    await sleep(5);
    expect(isOver).to.equal(false);
    await release();
    await Promise.all([first, second]);
    expect(settled).to.have.length(1);
  });

  it('delivers one message before those that have waited longer', async () => {
    const { queue, settled, release } = queueOf({ a: 3 });
    const delivery = engineOf().deliver(queue, 'a', 'a2');
    await release();
    await delivery;
    expect(settled).to.deep.equal([['a2', 'delivered']]);
  });

  it('when it is stopped, ends the attempts under way and starts no more', async () => {
    const { queue, settled, release } = queueOf({ a: 10 });
    const engine = engineOf();
    const work = engine.work(queue, ['a']);
    await sleep(5);
    const stopped = engine.stop();
    await release();
    await stopped;
    await work;
    expect(settled).to.deep.equal([['a0', 'delivered']]);
    await engine.work(queue, ['a']);
    await engine.deliver(queue, 'a', 'a5');
    expect(settled).to.have.length(1);
  });
});
