import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { figures } from '../support/figures.js';
import type { Answer, DomainError } from '../support/http.js';
import { hybridProcesses, type HybridProcesses } from '../support/hybrid-processes.js';
import { until } from '../support/joined-agent.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { aContract, aLine } from '../support/samples.js';

/** Requests per second, started on time however long the earlier ones take. */
const RATE = 200;
/** A slow machine starts them later than that: it is not the load that is tested. */
const MOST_IN_FLIGHT = 48;
const BEFORE_MS = 1_500;
const AFTER_MS = 2_500;
const LINES = 40;
/** How often the load balancer asks the replicas whether they are ready. */
const PROBE_MS = 100;

interface Line {
  readonly id: string;
  acknowledged: number;
}

/** What the clients saw. */
interface Seen {
  sent: number;
  /** Answers other than 201, and connections that ended without one, by replica: these requests were sent again. */
  readonly failed: { readonly origin: string; readonly what: string }[];
}

describe('two replicas of the control plane as processes', function () {
  needsPostgres();
  this.timeout(600_000); // two idle cores need a tenth of it
  let balancer: Balancer;
  let processes: HybridProcesses;
  let agent: Running;
  let replicas: readonly Running[] = [];
  /** Those that the load balancer sends requests to. */
  let ready: readonly Running[] = [];
  const lines: Line[] = [];
  const started: Running[] = [];
  let probing: NodeJS.Timeout | undefined;

  const start = async (): Promise<Running> => {
    const replica = await processes.controlPlane();
    started.push(replica);
    return replica;
  };
  const probe = async (): Promise<void> => {
    const found = await Promise.all(
      replicas.map(async (replica) => {
        const answer = await fetch(`${replica.origin}/readyz`).catch(() => undefined);
        await answer?.arrayBuffer();
        return answer?.status === 200 ? [replica] : [];
      }),
    );
    ready = found.flat();
    const [first] = ready;
    if (first) balancer.to(first.origin);
  };

  before(async () => {
    balancer = await startBalancer();
    processes = await hybridProcesses({ publicUrl: balancer.url, database: 'postgres' });
    replicas = await Promise.all([start(), start()]);
    await probe();
    agent = await processes.agent();
    started.push(agent);
    for (const { origin } of replicas) await processes.answers(origin);
    const api = processes.clientOf(replicas[0]?.origin ?? '');
    const { subjectId, ownerId } = processes;
    for (let count = 0; count < LINES; count += 1) {
      const made = await api.post<{ payments: { id: string }[] }>(
        '/contracts',
        aContract({ subjectId, ownerId, payments: [aLine({ amount: 1_000_000 })] }),
      );
      expect(made.status, made.text).to.equal(201);
      lines.push({ id: made.body.payments[0]?.id ?? '', acknowledged: 0 });
    }
    probing = setInterval(() => void probe(), PROBE_MS);
  });
  after(async () => {
    clearInterval(probing);
    await Promise.all(started.map((one) => one.kill()));
    await processes?.remove();
    await balancer?.stop();
  });

  /** As clients do: the same request again if there was no answer, or if they are told to come back. */
  async function receipt(number: number, seen: Seen): Promise<void> {
    const line = lines[number % lines.length];
    if (!line) throw new Error('there are lines');
    seen.sent += 1;
    for (let tries = 0; tries < 100; tries += 1) {
      const replica = ready[(number + tries) % Math.max(1, ready.length)];
      if (!replica) throw new Error('no replica is ready');
      const answer: Answer<unknown> | undefined = await processes
        .clientOf(replica.origin)
        .post(`/payments/${line.id}/receipts`, { amount: 1 }, { headers: { 'Idempotency-Key': `receipt-${number}` } })
        .catch(() => undefined);
      if (answer?.status === 201) {
        line.acknowledged += 1;
        return;
      }
      const what = answer
        ? `${answer.status} ${(answer.body as DomainError | undefined)?.error.code ?? ''}`
        : 'no answer';
      seen.failed.push({ origin: replica.origin, what });
      if (answer && answer.status !== 503 && answer.status !== 504) throw new Error(`${what}: ${answer.text}`);
      await sleep(100);
    }
    throw new Error('the request was never answered');
  }

  let numbers = 0;
  /** Load for as long as `work` takes, and some seconds more. */
  async function under(work: () => Promise<void>): Promise<Seen> {
    const seen: Seen = { sent: 0, failed: [] };
    const running = new Set<Promise<void>>();
    const problems: unknown[] = [];
    let isOver = false;
    const load = async (): Promise<void> => {
      const began = performance.now();
      for (let count = 0; !isOver; count += 1) {
        const wait = began + (count * 1_000) / RATE - performance.now();
        if (wait > 0) await sleep(wait);
        while (running.size >= MOST_IN_FLIGHT) await Promise.race(running);
        const one: Promise<void> = receipt((numbers += 1), seen)
          .catch((error: unknown) => void problems.push(error))
          .finally(() => running.delete(one));
        running.add(one);
      }
      await Promise.all(running);
    };
    const loading = load();
    await sleep(BEFORE_MS);
    await work();
    await sleep(AFTER_MS);
    isOver = true;
    await loading;
    expect(problems).to.deep.equal([]);
    return seen;
  }

  async function received(): Promise<number> {
    const api = processes.clientOf(ready[0]?.origin ?? '');
    const { body, text } = await api.get<{ received: number }>('/payments/stats');
    expect(body, text).to.have.property('received');
    return body.received;
  }

  for (const which of ['with', 'without'] as const)
    it(`the stop of the one ${which} the agent loses no request with an idempotency key`, async () => {
      // The agent connects to the first that is ready.
      const [holder, other] = replicas;
      if (!holder || !other) throw new Error('there are two');
      const [leaves, stays] = which === 'with' ? [holder, other] : [other, holder];
      await until(async () => Promise.resolve(ready.length === 2), 'both are ready');
      const before = await received();
      const seen = await under(async () => {
        expect(await leaves.stop(), 'the exit code after SIGTERM').to.equal(0);
      });
      const acknowledged = lines.reduce((sum, line) => sum + line.acknowledged, 0);
      expect(await received()).to.equal(acknowledged);
      expect(acknowledged - before).to.equal(seen.sent);
      figures(`the one ${which} the agent stops`, { sent: seen.sent, sentAgain: seen.failed.map(({ what }) => what) });
      expect(
        seen.failed.filter(({ origin }) => origin === stays.origin),
        'answers of the one that stays',
      ).to.deep.equal([]);
      // A request on a kept connection may cross its end.
      expect(seen.failed.filter(({ what }) => what !== 'no answer' && !what.startsWith('503'))).to.deep.equal([]);
      expect(seen.sent).to.be.greaterThan(50);
      replicas = [stays, await start()];
    });
});
