import { expect } from 'chai';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { figures } from '../support/figures.js';
import { hybridProcesses, type HybridProcesses } from '../support/hybrid-processes.js';
import type { Running } from '../support/process.js';
import { seeded } from '../support/seeded.js';
import { KeyedWrites } from './keyed-writes.js';

const WRITES = 1_000;
const CLIENTS = 8;
/** After so many acknowledged writes, the one or the other is killed. */
const KILLS = [
  ['agent', 120],
  ['control plane', 260],
  ['agent', 400],
  ['control plane', 540],
  ['agent', 680],
  ['both', 820],
] as const;
/** How long a killed process stays away. */
const AWAY_MS = 300;

describe('an agent and a control plane that are killed (kill -9) during keyed writes', function () {
  this.timeout(600_000); // two idle cores need a tenth of it
  let balancer: Balancer;
  let processes: HybridProcesses;
  let controlPlane: Running;
  let agent: Running;

  before(async () => {
    balancer = await startBalancer();
    processes = await hybridProcesses({ publicUrl: balancer.url });
    controlPlane = await processes.controlPlane();
    balancer.to(controlPlane.origin);
    agent = await processes.agent();
    await processes.answers(controlPlane.origin);
  });
  after(async () => {
    await agent?.kill();
    await controlPlane?.kill();
    await processes?.remove();
    await balancer?.stop();
  });

  const killAgent = async (): Promise<void> => {
    await agent.kill();
    await sleep(AWAY_MS);
    agent = await processes.agent();
  };
  const killControlPlane = async (): Promise<void> => {
    await controlPlane.kill();
    await sleep(AWAY_MS);
    controlPlane = await processes.controlPlane();
    balancer.to(controlPlane.origin);
  };

  it('lose no write that was acknowledged, and do none twice', async () => {
    const { subjectId, ownerId } = processes;
    const writes = new KeyedWrites({ subjectId, ownerId, random: seeded(20_261_123) });
    let deaths: Promise<unknown> = Promise.resolve();
    let left: readonly (readonly [(typeof KILLS)[number][0], number])[] = KILLS;
    await writes.run({
      api: () => processes.clientOf(controlPlane.origin),
      clients: CLIENTS,
      count: WRITES,
      onAcknowledged: (acknowledged) => {
        const [next, ...others] = left;
        if (!next || acknowledged < next[1]) return;
        left = others;
        const [victim] = next;
        deaths = deaths.then(() =>
          Promise.all([
            victim === 'control plane' ? undefined : killAgent(),
            victim === 'agent' ? undefined : killControlPlane(),
          ]),
        );
      },
    });
    await deaths;
    expect(left).to.deep.equal([]);
    await processes.answers(controlPlane.origin);
    await writes.check(processes.clientOf(controlPlane.origin));
    writes.checkStored(join(processes.agentDir, 'tenant.db'));
    const seen = JSON.stringify(writes.counts);
    expect(writes.counts.acknowledged, seen).to.equal(WRITES);
    // The control plane was killed while writes were in progress. Those that an agent lost with its life are mostly sent to
    // its successor, within their time: clients see nothing of them.
    expect(writes.counts.unanswered, seen).to.be.greaterThan(0);
    figures('writes', writes.counts);
  });
});
