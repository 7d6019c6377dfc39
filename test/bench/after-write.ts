import { Agent } from 'node:http';
import type { Running } from '../support/process.js';
import { FIGURE_PATHS, newReceipts, type Subject } from './cases.js';
import { ask, percentile } from './load.js';
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
    const [figure, fewer] = [await p50(ours.origin, path, whole), await p50(ours.origin, path, small)];
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

async function p50(origin: string, path: string, { token, subject }: Written): Promise<number> {
  const receiptOf = newReceipts(subject);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      await ask(origin, { method: 'PATCH', ...receiptOf() }, { token, agent });
      const began = performance.now();
      await ask(origin, { method: 'GET', path }, { token, agent });
      if (round >= 0) times.push(performance.now() - began);
    }
  } finally {
    agent.destroy();
  }
  return percentile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
}
