import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAILURES } from '../../data-plane-agent/base/failures.js';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { figures } from '../support/figures.js';
import type { Answer, DomainError } from '../support/http.js';
import { hybridProcesses, type HybridProcesses } from '../support/hybrid-processes.js';
import { until } from '../support/joined-agent.js';
import { slowdown } from '../support/machine-speed.js';
import { needsPostgres } from '../support/postgres.js';
import { processorMs, type Running } from '../support/process.js';
import { aContract, aLine } from '../support/samples.js';

/** Requests per second, each started on time however long the earlier ones take. */
const RATE = 200;
/** A machine that is more than so many times slower than the one of the bounds gets so much less. */
const SLOWEST = 2;
const rateNow = (): number => RATE * Math.min(1, SLOWEST / slowdown());
/** One of so many requests is a write with an idempotency key; the others read a contract. */
const WRITES_ONE_IN = 5;
/** The load that the test promises is offered unless the process of the test itself is too slow. */
const LEAST_SHARE = 0.95;
/** More than that wait only if the product does not carry the load. */
const MOST_IN_FLIGHT_SECONDS = 5;
/** What waits while the agent connects anew comes at once afterwards: so much may be told to come back later. */
const MOST_TURNED_AWAY = 0.05;
const TURNED_AWAY = `503 ${FAILURES.OVERLOADED.meaning}`;
const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;
/** Sent before the load, so that the processes have compiled what they run. */
const WARM_UP = 600;
const WARM_UP_AT_ONCE = 8;
const LINES = 40;
/** How often the load balancer asks the replicas whether they are ready. */
const PROBE_MS = 100;

interface Line {
  readonly id: string;
  readonly contractId: string;
  acknowledged: number;
}

/** What the clients saw. */
interface Seen {
  sent: number;
  /** Requests per second that were to be sent. */
  readonly rate: number;
  /** How long the load was offered. */
  ms: number;
  /** From the start of each request to its last answer, in milliseconds. */
  readonly took: number[];
  /** Answers other than 200 and 201, and connections that ended without one, by replica: these requests were sent again. */
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
  /** The one that a test stops: another takes its place before the next test. */
  let left: Running | undefined;
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
      const made = await api.post<{ id: string; payments: { id: string }[] }>(
        '/contracts',
        aContract({ subjectId, ownerId, payments: [aLine({ amount: 1_000_000 })] }),
      );
      expect(made.status, made.text).to.equal(201);
      lines.push({ id: made.body.payments[0]?.id ?? '', contractId: made.body.id, acknowledged: 0 });
    }
    probing = setInterval(() => void probe(), PROBE_MS);
  });
  afterEach(async () => {
    replicas = [...replicas.filter((replica) => replica !== left), await start()];
  });
  after(async () => {
    clearInterval(probing);
    await Promise.all(started.map((one) => one.kill()));
    await processes?.remove();
    await balancer?.stop();
  });

  /** As clients do: the same request again if there was no answer, or if they are told to come back. */
  async function request(number: number, seen: Seen): Promise<void> {
    const line = lines[number % lines.length];
    if (!line) throw new Error('there are lines');
    const isWrite = number % WRITES_ONE_IN === 0;
    const began = performance.now();
    seen.sent += 1;
    for (let tries = 0; tries < 100; tries += 1) {
      const replica = ready[(number + tries) % Math.max(1, ready.length)];
      if (!replica) throw new Error('no replica is ready');
      const api = processes.clientOf(replica.origin);
      const answer: Answer<unknown> | undefined = await (
        isWrite
          ? api.post(
              `/payments/${line.id}/receipts`,
              { amount: 1 },
              { headers: { 'Idempotency-Key': `receipt-${number}` } },
            )
          : api.get(`/contracts/${line.contractId}`)
      ).catch(() => undefined);
      if (answer?.status === (isWrite ? 201 : 200)) {
        if (isWrite) line.acknowledged += 1;
        seen.took.push(performance.now() - began);
        return;
      }
      const what = answer ? said(answer) : 'no answer';
      seen.failed.push({ origin: replica.origin, what });
      if (answer && answer.status !== 503 && answer.status !== 504) throw new Error(`${what}: ${answer.text}`);
      await sleep(100);
    }
    throw new Error('the request was never answered');
  }

  const nothingSeen = (): Seen => ({ sent: 0, rate: rateNow(), ms: 0, took: [], failed: [] });
  let numbers = 0;

  async function warmUp(): Promise<void> {
    const seen = nothingSeen();
    const some = async (): Promise<void> => {
      for (let count = 0; count < WARM_UP / WARM_UP_AT_ONCE; count += 1) await request((numbers += 1), seen);
    };
    await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, some));
    expect(seen.failed).to.deep.equal([]);
  }

  /** Load for as long as `work` takes, and some seconds more. */
  async function under(work: () => Promise<void>): Promise<Seen> {
    const seen = nothingSeen();
    const running = new Set<Promise<void>>();
    const problems: unknown[] = [];
    let isOver = false;
    const load = async (): Promise<void> => {
      const began = performance.now();
      while (!isOver) {
        // All that are due by now: a timer may be late, the load is not.
        for (const due = ((performance.now() - began) * seen.rate) / 1_000; seen.sent < due;) {
          if (running.size >= MOST_IN_FLIGHT_SECONDS * seen.rate)
            throw new Error(`${running.size} requests wait for their answers`);
          const one: Promise<void> = request((numbers += 1), seen)
            .catch((error: unknown) => void problems.push(error))
            .finally(() => running.delete(one));
          running.add(one);
        }
        await sleep(1_000 / seen.rate);
      }
      seen.ms = performance.now() - began;
      await Promise.all(running);
    };
    const loading = load();
    loading.catch(() => undefined); // it is awaited below
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
      left = leaves;
      await until(async () => Promise.resolve(ready.length === 2), 'both are ready');
      await warmUp();
      const before = lines.reduce((sum, line) => sum + line.acknowledged, 0);
      expect(await received()).to.equal(before);
      const first = numbers + 1;
      const used = processorOf([agent, stays]);
      const seen = await under(async () => {
        expect(await leaves.stop(), 'the exit code after SIGTERM').to.equal(0);
      });
      const acknowledged = lines.reduce((sum, line) => sum + line.acknowledged, 0);
      expect(await received()).to.equal(acknowledged);
      const writes = Array.from({ length: seen.sent }, (_, i) => first + i).filter((n) => n % WRITES_ONE_IN === 0);
      expect(acknowledged - before, 'receipts that were acknowledged').to.equal(writes.length);
      expect(seen.took, 'requests that were answered').to.have.length(seen.sent);
      const perSecond = (seen.sent * 1_000) / seen.ms;
      const took = seen.took.toSorted((a, b) => a - b);
      const at = (share: number): number => Math.round(took[Math.floor(share * took.length)] ?? 0);
      figures(`the one ${which} the agent stops`, {
        sent: seen.sent,
        perSecond: Math.round(perSecond),
        rate: Math.round(seen.rate),
        ms: { median: at(0.5), p99: at(0.99), most: at(1 - 1 / took.length) },
        // Of the agent and of the replica that stays.
        processorMs: used().map((ms) => ms / seen.sent),
        sentAgain: seen.failed.map(({ what }) => what),
      });
      expect(perSecond, 'requests per second').to.be.at.least(LEAST_SHARE * seen.rate);
      const ofStaying = seen.failed.filter(({ origin }) => origin === stays.origin).map(({ what }) => what);
      expect(
        ofStaying.filter((what) => what !== TURNED_AWAY),
        'answers of the one that stays',
      ).to.deep.equal([]);
      expect(ofStaying.length / seen.sent, 'turned away').to.be.at.most(MOST_TURNED_AWAY);
      // A request on a kept connection may cross its end.
      expect(seen.failed.filter(({ what }) => what !== 'no answer' && !what.startsWith('503'))).to.deep.equal([]);
    });
});

/** The status with the code of the failure, or with the message if it has none. */
const said = ({ status, body }: Answer<unknown>): string => {
  const { error, message } = body as { error?: string | DomainError['error']; message?: unknown };
  return `${status} ${typeof error === 'object' ? error.code : String(message)}`;
};

/** The processor time that each process has used since, in milliseconds. */
function processorOf(processes: readonly Running[]): () => number[] {
  const now = (): number[] => processes.map(({ pid }) => processorMs(pid) ?? Number.NaN);
  const before = now();
  return () => now().map((ms, i) => ms - (before[i] ?? 0));
}
