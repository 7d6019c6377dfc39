import type { Request } from 'autocannon';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTRACT_SORTS } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { Running } from '../support/process.js';
import { answerTo, flood, type Flooded } from './flood.js';
import { median, underLoad } from './load.js';
import type { Observe, Observed } from './overload-observer.js';
import { pick, randomFrom } from './random.js';
import type { Row } from './report.js';
import { SEED } from './settings.js';

/** Requests are sent at this multiple of the peak, whether or not earlier ones were answered. */
const TIMES = 3;
const ROUNDS = 3;
/** A server has recovered when this many requests in a row were answered in this time. */
const RECOVERED = { inARow: 5, withinMs: 100 };
const RECOVERY_EVERY_MS = 50;
const MOST_RECOVERY_MS = 30_000;

/** Lists that differ, so that none is answered from memory: what is asked again costs little more than its refusal. */
const PATHS: readonly string[] = CONTRACT_SORTS.flatMap((sort) =>
  (['asc', 'desc'] as const).flatMap((order) =>
    Array.from({ length: 1_600 }, (_, n) => {
      const [page, pageSize] = [1 + (n % 40), 15 + Math.floor(n / 40)];
      return `/api/v1/contracts?sort=${sort}&order=${order}&page=${page}&pageSize=${pageSize}`;
    }),
  ),
);

/** Three times the rate that the server sustains, on a thousand connections. The peak and the flood are measured in turn. */
export async function overloadRows(
  { origin }: Running,
  { token, seconds }: { readonly token: string; readonly seconds: number },
): Promise<Row[]> {
  const paths = shuffled(PATHS);
  const slice = Math.floor(paths.length / ROUNDS);
  let n = 0;
  // Each connection would ask for all of them in the same order.
  const requests: Request[] = [{ setupRequest: (made) => ({ ...made, path: pick(paths, n++) }) }];
  await underLoad(origin, requests, { token, seconds: 1 });
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    n = Math.max(n, round * slice);
    const { perSecond: peak } = await underLoad(origin, requests, { token, seconds });
    const unasked = paths.slice(n, (round + 1) * slice);
    rounds.push({ peak, ...(await overloaded({ origin, token, seconds, peak, paths: unasked })) });
  }
  return rowsOf(rounds);
}

interface Round {
  readonly peak: number;
  readonly found: Flooded;
  /** How long refusals took, in milliseconds. */
  readonly refused: readonly number[];
  readonly recovery: number;
}

async function overloaded({
  origin,
  token,
  seconds,
  peak,
  paths,
}: {
  readonly origin: string;
  readonly token: string;
  readonly seconds: number;
  readonly peak: number;
  readonly paths: readonly string[];
}): Promise<Omit<Round, 'peak'>> {
  const observer = await startObserver({ origin, token, paths: paths.toReversed() });
  const flooding = flood(origin, paths, { token, perSecond: TIMES * peak, seconds: Math.max(5, seconds) });
  await flooding.ended;
  const refused = refusalTimes(await observer.end());
  const recovery = await recoveryMs(origin, paths[0] ?? '/', token);
  return { found: await flooding.answers, refused, recovery };
}

function rowsOf(rounds: readonly Round[]): Row[] {
  const peak = median(rounds.map((round) => round.peak));
  const ratio = median(rounds.map((round) => round.found.goodPerSecond / round.peak));
  const refused = rounds.flatMap((round) => round.refused);
  const sent = sum(rounds.map(({ found }) => found.sent));
  const unanswered = sum(rounds.map(({ found }) => found.unanswered));
  const recovery = Math.max(...rounds.map((round) => round.recovery));
  const name = `overload, ${TIMES} × the peak of ${peak.toFixed(0)}/s:`;
  const row = { key: 'overload', raw: null, ratio: null, details: { rounds } };
  return [
    {
      ...row,
      name: `${name} answered in 1 s`,
      unit: '/s',
      figure: median(rounds.map(({ found }) => found.goodPerSecond)),
      raw: peak,
      ratio,
      target: '≥ 0.9 × the peak',
      met: ratio >= 0.9,
    },
    refusals(refused, { ...row, name: `${name} slowest of ${refused.length} refusals that another client got` }),
    {
      ...row,
      name: `${name} never answered, of ${sent}`,
      unit: '%',
      figure: (100 * unanswered) / sent,
      target: '0 %',
      met: unanswered === 0,
    },
    {
      ...row,
      name: `${name} time to recover`,
      unit: 's',
      figure: recovery / 1_000,
      target: '≤ 5 s',
      met: recovery <= 5_000,
    },
  ];
}

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

/** A server that refuses nothing has no time in which it refuses: the row says so, and does not meet its target. */
function refusals(times: readonly number[], row: Pick<Row, 'key' | 'name' | 'raw' | 'ratio' | 'details'>): Row {
  const slowest = Math.max(0, ...times);
  const target = times.length === 0 ? '≤ 100 ms; nothing was refused' : '≤ 100 ms';
  return { ...row, unit: 'ms', figure: slowest, target, met: times.length > 0 && slowest <= 100 };
}

/** Sorted. */
const refusalTimes = ({ answers }: Observed): number[] =>
  answers.flatMap(({ status, ms }) => (status === 429 || status === 503 ? [ms] : [])).toSorted((a, b) => a - b);

async function startObserver(observe: Observe): Promise<{ end(): Promise<Observed> }> {
  const child = fork(new URL('./overload-observer.ts', import.meta.url), { execArgv: ['--import=tsx'] });
  await once(child, 'message');
  child.send(observe);
  return {
    end: async () => {
      const answered = once(child, 'message');
      child.send('end');
      const [observed] = (await answered) as [Observed]; // the only message after the first
      return observed;
    },
  };
}

/** In an order that is drawn by the seed. */
function shuffled(paths: readonly string[]): string[] {
  const random = randomFrom(SEED);
  return paths
    .map((path) => ({ path, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ path }) => path);
}

async function recoveryMs(origin: string, path: string, token: string): Promise<number> {
  const began = performance.now();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    let inARow = 0;
    let since = 0;
    while (performance.now() - began < MOST_RECOVERY_MS) {
      const asked = performance.now();
      const { status, ms } = await answerTo(origin, path, { token, agent, timeoutMs: MOST_RECOVERY_MS });
      if (status === 200 && ms <= RECOVERED.withinMs) {
        if (inARow === 0) since = asked - began;
        if (++inARow === RECOVERED.inARow) return since;
      } else inARow = 0;
      await sleep(RECOVERY_EVERY_MS);
    }
    return MOST_RECOVERY_MS;
  } finally {
    agent.destroy();
  }
}
