import { deepPath, FIGURE_PATHS, SEARCHES, searchPath } from './cases.js';
import { ask, oneByOne, percentile, WrongAnswer } from './load.js';
import type { Sides } from './measure.js';
import type { Row } from './report.js';

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
