import { expect } from 'chai';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { administration, type Administration } from '../support/administration.js';
import { FAULTS, startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.js';
import { figures } from '../support/figures.js';
import { startAgent, until, type TestAgent } from '../support/joined-agent.js';
import { seeded, shuffled } from '../support/seeded.js';
import { startServer, type TestServer } from '../support/server.js';
import { KeyedWrites } from './keyed-writes.js';

/** Over both links together. */
const WRITES = 5_000;
const CLIENTS = 8;
/** How often each fault happens on each link. */
const TIMES = 2;
/** A black hole for longer than a request waits for its reply, and no network for longer than an agent is waited for. */
const LONG_MS = 11_500;
const AWAY_MS = 5_500;
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** A link, its network and the clients that write through it. */
interface Disturbed {
  readonly accessMode: 'outbound' | 'direct';
  readonly proxy: ChaosProxy;
  readonly org: Administration;
  readonly agent: TestAgent;
  readonly random: () => number;
}

describe(`keyed writes over a faulty network (CHAOS_SEED=${SEED})`, function () {
  this.timeout(600_000); // two idle cores need a tenth of it
  let server: TestServer;
  const links: Disturbed[] = [];
  const undo: (() => Promise<void>)[] = [];

  before(async () => {
    const random = seeded(SEED);
    const outbound = await startChaosProxy({ requestsBy: 'server', random });
    const direct = await startChaosProxy({ requestsBy: 'client', random });
    undo.push(outbound.stop, direct.stop);
    server = await startServer({
      env: { EDITION: 'enterprise_hybrid', PUBLIC_URL: outbound.url, OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
    });
    undo.push(server.stop);
    outbound.to(server.url);
    for (const accessMode of ['outbound', 'direct'] as const) {
      const org = await administration(server);
      const agent = await startAgent(server, org.tenant.id, {
        accessMode,
        ...(accessMode === 'direct' ? { endpoint: direct.url } : {}),
      });
      undo.push(agent.stop);
      if (accessMode === 'direct') direct.to(`http://127.0.0.1:${agent.port}`);
      const proxy = accessMode === 'direct' ? direct : outbound;
      links.push({ accessMode, proxy, org, agent, random: seeded(SEED + links.length) });
    }
  });
  after(async () => {
    for (const step of undo.toReversed()) await step();
  });

  /** Writes, while one fault after the other happens: the next one each time as many writes were acknowledged. */
  async function disturbedWrites({ proxy, org, random }: Disturbed): Promise<KeyedWrites> {
    const writes = new KeyedWrites({ subjectId: org.subjectId, ownerId: org.owner.id, random });
    const deck = shuffled(
      [...Array.from({ length: TIMES }, () => FAULTS).flat(), 'long' as const, 'away' as const],
      random,
    );
    const count = WRITES / links.length;
    const every = Math.floor(count / (deck.length + 1));
    let faults: Promise<void> = Promise.resolve();
    let left = deck;
    await writes.run({
      api: () => org.asOwner,
      clients: CLIENTS,
      count,
      onAcknowledged: (acknowledged) => {
        if (acknowledged % every !== 0) return;
        const [fault, ...others] = left;
        left = others;
        if (fault === undefined) return;
        faults = faults.then(async () => {
          if (fault === 'long') return proxy.inflict('blackHole', { ms: LONG_MS });
          if (fault !== 'away') return proxy.inflict(fault);
          proxy.shut();
          await sleep(AWAY_MS);
          const fresh = Promise.all(Array.from({ length: CLIENTS }, () => writes.unlessAway(org.asOwner)));
          await sleep(1_000);
          proxy.open();
          await fresh;
        });
      },
    });
    await faults;
    expect(left).to.deep.equal([]);
    expect(writes.counts.acknowledged).to.be.at.least(count);
    return writes;
  }

  it('happen once if they are acknowledged, not at all if nothing ran, and can be asked for if that is unknown', async () => {
    const all = await Promise.all(
      links.map(async (link) => {
        const writes = await disturbedWrites(link);
        return { ...link, writes };
      }),
    );
    for (const { accessMode, proxy, org, agent, writes } of all) {
      await until(async () => (await org.asOwner.get('/contracts')).status === 200, 'the agent answers', {
        ms: 30_000,
      });
      await writes.check(org.asOwner);
      writes.checkStored(join(agent.dataDir, 'tenant.db'));
      // The faults had their effects: otherwise this proves nothing.
      const { counts } = writes;
      const seen = JSON.stringify({ accessMode, ...counts, broken: proxy.broken, dropped: proxy.dropped });
      expect(counts.unknown, seen).to.be.greaterThan(0);
      expect(counts.givenUp, seen).to.be.greaterThan(0);
      expect(counts.replayed, seen).to.be.greaterThan(0);
      expect(proxy.broken, seen).to.be.at.least(TIMES * 2);
      expect(proxy.dropped.requests, seen).to.be.greaterThan(0);
      expect(proxy.dropped.replies, seen).to.be.greaterThan(0);
      figures(accessMode, { ...counts, broken: proxy.broken, dropped: proxy.dropped });
    }
  });
});
