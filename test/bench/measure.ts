import { processorMs, residentMb, type Running } from '../support/process.js';
import { deepPath, FIGURE_PATHS, SEARCHES, searchPath, type LoadCase } from './cases.js';
import { ask, CONNECTIONS, median, oneByOne, percentile, underLoad, WrongAnswer, type Load } from './load.js';
import type { Row } from './report.js';
import { startService } from './service.js';

/** The product and the raw program, each in a separate process with its own copy of the data set. */
export interface Sides {
  readonly ours: Running;
  readonly raw: Running;
  readonly token: string;
  /** The duration of one round of one side. */
  readonly seconds: number;
}

/** `processorMs`: the server's processor time per request, which does not depend on the load of the machine. */
type Measured = Load & { readonly processorMs?: number };

const ROUNDS = 3;

/** Three rounds, alternating between the sides, after checking that both give the same answer. */
export async function loadRow({ key, name, requests, probe, atLeast, tail }: LoadCase, sides: Sides): Promise<Row> {
  if (probe)
    sameAnswer(
      { ours: await ask(sides.ours.origin, probe, sides), raw: await ask(sides.raw.origin, probe, sides) },
      name,
    );
  const load = async ({ origin, pid }: Running, seconds: number): Promise<Measured> => {
    const before = processorMs(pid);
    const done = await underLoad(origin, requests, { token: sides.token, seconds });
    const after = processorMs(pid);
    return {
      ...done,
      ...(before === undefined || after === undefined
        ? {}
        : { processorMs: (after - before) / (done.perSecond * done.seconds) }),
    };
  };
  await load(sides.ours, 1);
  await load(sides.raw, 1);
  const ours: Measured[] = [];
  const raw: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await load(sides.ours, sides.seconds));
    raw.push(await load(sides.raw, sides.seconds));
  }
  const figure = median(ours.map(({ perSecond }) => perSecond));
  const theirs = median(raw.map(({ perSecond }) => perSecond));
  const spread = median(ours.map(({ p50, p99 }) => p99 / p50));
  const target = `≥ ${atLeast} × raw${tail === undefined ? '' : `; p99 ${spread.toFixed(1)} × p50 (≤ ${tail})`}`;
  return {
    key,
    name,
    unit: '/s',
    figure,
    raw: theirs,
    ratio: figure / theirs,
    target,
    met: figure / theirs >= atLeast && (tail === undefined || spread <= tail),
    details: { connections: CONNECTIONS, ours, raw },
  };
}

/** Ids and instants created by a write differ; everything else must be equal. */
function sameAnswer({ ours, raw }: { readonly ours: string; readonly raw: string }, name: string): void {
  const [a, b] = [ours, raw].map(comparable);
  if (a === b) return;
  const from = [...(a ?? '')].findIndex((character, i) => character !== b?.[i]);
  const excerpt = (text: string | undefined) => text?.slice(Math.max(0, from - 60), from + 120);
  throw new WrongAnswer(`${name}: the product answers …${excerpt(a)}… where the raw program answers …${excerpt(b)}…`);
}

const comparable = (text: string): string => {
  const isNew = new Map<string, string>();
  const named = (id: string) => isNew.get(id) ?? (isNew.set(id, `<id ${isNew.size}>`), `<id ${isNew.size - 1}>`);
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>');
};

interface LatencyOptions {
  /** Token of the tenant with a fortieth of the contracts. */
  readonly smallToken: string;
  readonly contracts: number;
  isWanted(key: string): boolean;
}

/** Cases whose target is a time instead of a share of the raw figure; requests are sent sequentially. */
export async function latencyRows(
  { ours: { origin: ours }, token }: Sides,
  { smallToken, contracts, isWanted }: LatencyOptions,
): Promise<Row[]> {
  const rows: Row[] = [];
  const times = async (paths: readonly string[], { rounds = 40, as = token } = {}) => {
    await oneByOne(ours, paths, { token: as, rounds: 3 });
    return oneByOne(ours, paths, { token: as, rounds });
  };
  const p50 = (sorted: readonly number[]) => percentile(sorted, 0.5);
  if (isWanted('deep')) {
    const page = Math.min(2_000, Math.floor(contracts / 20));
    const first = p50(await times([deepPath(1)]));
    const deep = p50(await times([deepPath(page)]));
    rows.push({
      key: 'deep',
      name: `deep page (${page} of 20) against page 1`,
      unit: 'ms',
      figure: deep,
      raw: null,
      ratio: deep / first,
      target: 'p50 ≤ 3 × page 1',
      met: deep <= 3 * first,
      details: { page1: first },
    });
  }
  if (isWanted('q')) {
    for (const [what, q] of Object.entries(SEARCHES)) {
      const { total } = JSON.parse(await ask(ours, { method: 'GET', path: searchPath(q) }, { token })) as {
        total: number;
      };
      if (total === 0) throw new WrongAnswer(`q=${q} finds nothing, although the data set contains it`);
      const figure = p50(await times([searchPath(q)]));
      rows.push({
        key: 'q',
        name: `q ${what} (${total} found)`,
        unit: 'ms',
        figure,
        raw: null,
        ratio: null,
        target: 'p50 ≤ 10 ms',
        met: figure <= 10,
        details: { q, total },
      });
    }
  }
  for (const [key, paths] of Object.entries(FIGURE_PATHS)) {
    if (!isWanted(key)) continue;
    for (const path of paths) {
      const figure = p50(await times([path]));
      const small = p50(await times([path], { as: smallToken }));
      rows.push({
        key,
        name: path.split('/').slice(3).join('/'),
        unit: 'ms',
        figure,
        raw: null,
        ratio: figure / small,
        target: 'p50 ≤ 3 ms, ≤ 1.5 × of a fortieth of the contracts',
        met: figure <= 3 && figure <= 1.5 * small,
        details: { small },
      });
    }
  }
  return rows;
}

/** The time from the start of the process to its first `/health`, and its memory at that time. */
export async function coldStart(dataDir: string): Promise<Row[]> {
  const starts: number[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startService(dataDir);
    starts.push(service.startedInMs);
    const size = residentMb(service.pid);
    if (size !== undefined) sizes.push(size);
    await service.stop();
  }
  const start = median(starts);
  const row: Row = {
    key: 'start',
    name: 'cold start to first /health',
    unit: 'ms',
    figure: start,
    raw: null,
    ratio: null,
    target: '≤ 1000 ms',
    met: start <= 1_000,
    details: { starts },
  };
  if (sizes.length === 0) return [row];
  const size = median(sizes);
  return [
    row,
    {
      key: 'start',
      name: 'idle memory',
      unit: 'MB',
      figure: size,
      raw: null,
      ratio: null,
      target: '≤ 130 MB',
      met: size <= 130,
      details: { sizes },
    },
  ];
}
