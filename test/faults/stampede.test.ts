import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { figures } from '../support/figures.js';
import { hybridProcesses, type HybridProcesses } from '../support/hybrid-processes.js';
import { until } from '../support/joined-agent.js';
import { manyAgents, type ManyAgents } from '../support/many-agents.js';
import type { Running } from '../support/process.js';

const AGENTS = 1_000;
/**
 * Of all agents, in one second. Spread over 15 seconds it would be a fifteenth; after that of a replica each opens a second
 * connection, and a busy machine delays some into other seconds.
 */
const MOST_IN_A_SECOND = 0.3;

describe('a thousand agents', function () {
  this.timeout(600_000); // two idle cores need a tenth of it
  let balancer: Balancer;
  let processes: HybridProcesses;
  let controlPlane: Running;
  let agents: ManyAgents | undefined;

  before(async () => {
    balancer = await startBalancer();
    processes = await hybridProcesses({
      publicUrl: balancer.url,
      first: async (server, tenantId) => {
        agents = await manyAgents(server, { count: AGENTS, tenantId, controlPlane: balancer.url });
      },
    });
    controlPlane = await processes.controlPlane();
    balancer.to(controlPlane.origin);
  });
  after(async () => {
    await controlPlane?.kill(); // first: it would record the end of each session
    await agents?.stop();
    await processes?.remove();
    await balancer?.stop();
  });

  it('connect again after a restart without a stampede, and other requests are answered meanwhile', async () => {
    const all = agents;
    if (!all) throw new Error('they have joined');
    const everyOne = async () => Promise.resolve(all.connected() === AGENTS);
    await all.start();
    await until(everyOne, 'all are connected', { ms: 120_000 });
    const first = all.attempts.length;

    // The next one is ready before the former one dies: nobody comes later because nobody answers.
    const next = await processes.controlPlane();
    balancer.to(next.origin);
    await controlPlane.kill();
    controlPlane = next;
    const began = performance.now();
    let isOver = false;
    const answers: { readonly status: number; readonly ms: number }[] = [];
    const asking = (async () => {
      const api = processes.clientOf(controlPlane.origin);
      while (!isOver) {
        const at = performance.now();
        const { status } = await api.get('/auth/me');
        answers.push({ status, ms: performance.now() - at });
        await sleep(50);
      }
    })();
    // They notice it in one of the next turns, not before this process learns that the other one has ended.
    await until(async () => Promise.resolve(all.connected() < AGENTS), 'they notice the end of their connections');
    await until(everyOne, 'all are connected again', { ms: 180_000 }).finally(() => {
      isOver = true;
    });
    await asking;

    const again = all.attempts.slice(first);
    expect(again.length).to.be.at.least(AGENTS);
    const perSecond = new Map<number, number>();
    for (const at of again) {
      const second = Math.floor((at - (again[0] ?? 0)) / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    const seen = JSON.stringify([...perSecond]);
    const slowestMs = Math.max(...answers.map(({ ms }) => ms));
    figures('attempts per second, and other requests', {
      perSecond: [...perSecond.values()],
      tookMs: performance.now() - began,
      answers: answers.length,
      slowestMs,
    });
    expect(Math.max(...perSecond.values()), seen).to.be.at.most(AGENTS * MOST_IN_A_SECOND);
    expect(answers.filter(({ status }) => status !== 200)).to.deep.equal([]);
    expect(answers.length).to.be.greaterThan(20);
    expect(slowestMs, 'the slowest answer, in ms').to.be.lessThan(10_000);
  });
});
