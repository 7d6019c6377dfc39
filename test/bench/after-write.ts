import { Agent } from 'node:http';
import type { Running } from '../support/process.js';
import { FIGURE_PATHS, newReceipts, type Subject } from './cases.js';
import { ask, median } from './load.js';
import type { Row } from './report.js';

const ROUNDS = 40;
const WARM_UP = 3;
const MOST_MS = 3;
const MOST_GROWTH = 1.3;

/** An organisation, with a line of its own to write to before each question. */
export interface Written {
  readonly token: string;
  readonly subject: Subject;
}

/** Statistics, each asked for right after a receipt, so that none comes from a cache that the receipt made stale. */
export async function afterWriteRows(ours: Running, whole: Written, small: Written): Promise<Row[]> {
  const rows: Row[] = [];
  for (const path of [...FIGURE_PATHS.stats, ...FIGURE_PATHS.analytics]) {
    const { figure, fewer } = await medians(ours.origin, path, { whole, small });
    rows.push({
      key: 'after-write',
      name: `${path.split('/').slice(3).join('/')} after a receipt`,
      unit: 'ms',
      figure,
      raw: null,
      ratio: figure / fewer,
      target: `p50 ≤ ${MOST_MS} ms, ≤ ${MOST_GROWTH} × of a fortieth of the contracts`,
      met: figure <= MOST_MS && figure <= MOST_GROWTH * fewer,
      details: { small: fewer },
    });
  }
  return rows;
}

/** Both organisations are asked in turn, so that a process that becomes faster meanwhile favours neither. */
async function medians(
  origin: string,
  path: string,
  { whole, small }: { readonly whole: Written; readonly small: Written },
): Promise<{ readonly figure: number; readonly fewer: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const of = ({ token, subject }: Written) => {
    const receiptOf = newReceipts(subject);
    return async () => {
      await ask(origin, { method: 'PATCH', ...receiptOf() }, { token, agent });
      const began = performance.now();
      await ask(origin, { method: 'GET', path }, { token, agent });
      return performance.now() - began;
    };
  };
  const [askWhole, askSmall] = [of(whole), of(small)];
  const times: { readonly whole: number[]; readonly small: number[] } = { whole: [], small: [] };
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const [inWhole, inSmall] = [await askWhole(), await askSmall()];
      if (round < 0) continue;
      times.whole.push(inWhole);
      times.small.push(inSmall);
    }
  } finally {
    agent.destroy();
  }
  return { figure: median(times.whole), fewer: median(times.small) };
}
