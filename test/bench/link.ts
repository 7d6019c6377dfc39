import { rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { slowdown } from '../support/machine-speed.js';
import { processorMs, residentMb, type Running } from '../support/process.js';
import { contractPath, deepPath, loadCases, type Subject } from './cases.js';
import { sameAnswers } from './compare.js';
import { MOST_LINES } from './contract-input.js';
import { copyOf } from './dataset.js';
import type { DrawnList } from './drawn-lists.js';
import { fetched } from './export.js';
import { startHybridService, type HybridService } from './hybrid-service.js';
import { ask, median, percentile, underLoad, WrongAnswer, type Asked } from './load.js';
import type { Row } from './report.js';
import { signIn, startService } from './service.js';
import { SEED } from './settings.js';

/** The most that the link may add at the median, in milliseconds on the machine that the bounds are for. */
const MOST_MS = 2;
/** The most that an export may add to the memory of either process, in MB. */
const MOST_MB = 64;
const WARM_UP = 60;
/** Rounds of each case: short ones in turn, so that a busy moment of the machine affects both sides. */
const ROUNDS = 40;
const PER_ROUND = 20;
const WARM_UP_SECONDS = 8;
const EXPORTS = 3;

/**
 * The same requests to a server with its own data plane, and to one that reaches it through an agent over the outbound
 * link on loopback; then a complete export through the link, with the memory of both processes.
 */
export async function linkRows(folder: string, subject: Subject, lists: readonly DrawnList[]): Promise<Row[]> {
  const ours = await copyOf(folder, 'embedded');
  try {
    const embedded = await startService(ours, { RATE_LIMIT_PER_MINUTE: '0' });
    try {
      const hybrid = await startHybridService(folder);
      try {
        const sides = { embedded, hybrid, token: (await signIn(embedded.origin, 'bench')).token };
        const rows: Row[] = [];
        await sameAnswers(
          { ours: hybrid.server, raw: embedded },
          [...lists.map(({ path }) => path), ...subject.facts.variedContracts.slice(0, 20).map(contractPath)].map(
            (path) => ({ method: 'GET', path }),
          ),
          { name: 'link', token: hybrid.token, rawToken: sides.token },
        );
        for (const one of casesOf(subject, lists)) rows.push(await compared(one, sides));
        return [...rows, ...(await exportRows(sides, subject.tenant.contracts))];
      } finally {
        await hybrid.stop();
      }
    } finally {
      await embedded.stop();
    }
  } finally {
    await rm(ours, { recursive: true, force: true });
  }
}

interface Sides {
  readonly embedded: Running;
  readonly hybrid: HybridService;
  /** For the embedded side. */
  readonly token: string;
}

interface Compared {
  readonly name: string;
  next(): Asked;
}

/** The cases of the benchmark, request by request. */
function casesOf(subject: Subject, lists: readonly DrawnList[]): readonly Compared[] {
  const of = (key: string): (() => Asked) => {
    const requests = loadCases(subject).find((one) => one.key === key)?.requests ?? [];
    let n = 0;
    return () => {
      const request = requests[n++ % requests.length];
      if (!request) throw new Error(`there is no case ${key}`);
      const { setupRequest } = request;
      const made = typeof setupRequest === 'function' ? setupRequest(request, {}) : request;
      const { method, path, body, headers } = made;
      return {
        method: method as Asked['method'],
        path: path ?? '',
        ...(typeof body === 'string' ? { body } : {}),
        ...(headers ? { headers: headers as Record<string, string> } : {}),
      };
    };
  };
  let n = 0;
  const nextList = (): Asked => ({ method: 'GET', path: lists[n++ % lists.length]?.path ?? deepPath(1) });
  return [
    { name: 'list: page of 20', next: of('list') },
    { name: `${lists.length} lists drawn by seed ${SEED}`, next: nextList },
    { name: 'get with 12 lines', next: of('get') },
    { name: `get of contracts of 1 to ${MOST_LINES} lines`, next: of('get-varied') },
    { name: 'create with 12 lines, Idempotency-Key', next: of('create-key') },
    { name: `create with 1 to ${MOST_LINES} lines`, next: of('create-varied') },
    { name: 'receipt', next: of('receipt') },
  ];
}

async function compared({ name, next }: Compared, { embedded, hybrid, token }: Sides): Promise<Row> {
  // Both sides are sent the same requests, so that both have the same data afterwards.
  const [near, far] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true, maxSockets: 1 })];
  const times: { readonly embedded: number[]; readonly link: number[] } = { embedded: [], link: [] };
  const added: number[] = [];
  const processes = [embedded, hybrid.server, hybrid.agent];
  const spent = [0, 0, 0];
  /**
   * Of each round: what the link adds at the median of its requests, and how much slower than nominal the machine was
   * right after. Each request is compared with itself: requests differ in size, so that the difference of two medians
   * varies twice as much from round to round, with the same mean.
   */
  const rounds: { readonly added: number; readonly slower: number }[] = [];
  const timed = async (origin: string, asked: Asked, by: { token: string; agent: Agent }): Promise<number> => {
    const began = performance.now();
    await ask(origin, asked, by);
    return performance.now() - began;
  };
  try {
    for (let round = -Math.ceil(WARM_UP / PER_ROUND); round < ROUNDS; round++) {
      const requests = Array.from({ length: PER_ROUND }, next);
      const before = processes.map(({ pid }) => processorMs(pid) ?? Number.NaN);
      const near20: number[] = [];
      for (const asked of requests) near20.push(await timed(embedded.origin, asked, { token, agent: near }));
      const far20: number[] = [];
      for (const asked of requests)
        far20.push(await timed(hybrid.server.origin, asked, { token: hybrid.token, agent: far }));
      if (round < 0) continue;
      const added20 = far20.map((ms, i) => ms - (near20[i] ?? Number.NaN));
      rounds.push({ added: median(added20), slower: slowdown() });
      added.push(...added20);
      times.embedded.push(...near20);
      times.link.push(...far20);
      for (const [i, { pid }] of processes.entries())
        spent[i] = (spent[i] ?? 0) + (processorMs(pid) ?? Number.NaN) - (before[i] ?? 0);
    }
  } finally {
    near.destroy();
    far.destroy();
  }
  const [own, through] = [median(times.embedded), median(times.link)];
  const slower = median(rounds.map((round) => round.slower));
  const atNominal = median(rounds.map((round) => round.added / round.slower));
  const betweenMedians = (through - own) / slower;
  const [ownMs = 0, serverMs = 0, agentMs = 0] = spent.map((ms) => ms / (ROUNDS * PER_ROUND));
  const processor = `processor ${ownMs.toFixed(1)} → ${serverMs.toFixed(1)} + ${agentMs.toFixed(1)} ms`;
  return {
    key: 'link',
    name: `link against embedded, ${name}`,
    unit: 'ms',
    figure: through,
    raw: own,
    ratio: through / own,
    target: `p50 ≤ embedded + ${MOST_MS} ms at nominal speed: ${signed(atNominal)} ms, between the medians ${signed(betweenMedians)} (measured ${signed(median(added))}, ${slower.toFixed(1)} times slower); ${processor}`,
    met: Math.max(atNominal, betweenMedians) <= MOST_MS,
    details: {
      addedMs: median(added),
      atNominal,
      betweenMedians,
      rounds,
      processorMs: { embedded: ownMs, server: serverMs, agent: agentMs },
      p99: [times.embedded, times.link].map((all) =>
        percentile(
          all.toSorted((a, b) => a - b),
          0.99,
        ),
      ),
    },
  };
}

const signed = (ms: number): string => `${ms < 0 ? '−' : '+'}${Math.abs(ms).toFixed(2)}`;

/** Lists fill the page cache of the agent's database beforehand, so that it is not attributed to the export. */
async function exportRows({ embedded, hybrid, token }: Sides, contracts: number): Promise<Row[]> {
  const lists = Array.from({ length: Math.max(1, Math.floor(contracts / 20)) }, (_, i) => ({
    method: 'GET' as const,
    path: deepPath(i + 1),
  }));
  await underLoad(hybrid.server.origin, lists, { token: hybrid.token, seconds: WARM_UP_SECONDS });
  const processes = [hybrid.server, hybrid.agent];
  const before = processes.map(({ pid }) => residentMb(pid));
  const most = [...before];
  const look = setInterval(() => {
    for (const [i, { pid }] of processes.entries()) most[i] = Math.max(most[i] ?? 0, residentMb(pid) ?? 0);
  }, 20);
  const ms: number[] = [];
  let through = { bytes: 0, hash: '' };
  try {
    for (let round = 0; round < EXPORTS; round++) {
      const done = await fetched(hybrid.server, hybrid.token);
      ms.push(done.ms);
      through = done;
    }
  } finally {
    clearInterval(look);
  }
  const own = await fetched(embedded, token);
  // New contracts have other ids and times on either side; all of them have the same length.
  if (own.bytes !== through.bytes)
    throw new WrongAnswer(`export: ${through.bytes} bytes through the link, ${own.bytes} without`);
  const [figure, baseline] = [contracts / (median(ms) / 1_000), contracts / (own.ms / 1_000)];
  const rows: Row[] = [
    {
      key: 'link',
      name: `link against embedded, export full of ${contracts} contracts, ${(own.bytes / 1e6).toFixed(0)} MB: contracts`,
      unit: '/s',
      figure,
      raw: baseline,
      ratio: figure / baseline,
      target: 'none',
      met: true,
      details: { ms },
    },
  ];
  for (const [i, side] of ['server', 'agent'].entries()) {
    const [idle, peak] = [before[i], most[i]];
    if (idle === undefined || peak === undefined) continue;
    rows.push({
      key: 'link',
      name: `memory that an export through the link adds to the ${side}`,
      unit: 'MB',
      figure: peak - idle,
      raw: null,
      ratio: null,
      target: `≤ ${MOST_MB} MB`,
      met: peak - idle <= MOST_MB,
      details: { idle, peak },
    });
  }
  return rows;
}
