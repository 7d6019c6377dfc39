import type { Request } from 'autocannon';
import type { Running } from '../support/process.js';
import { newReceipts, type Subject } from './cases.js';
import { sameAnswers } from './compare.js';
import type { DrawnList } from './drawn-lists.js';
import { CONNECTIONS, median, openLoop, underLoad, WrongAnswer } from './load.js';
import type { Sides } from './measure.js';
import type { Row } from './report.js';
import type { MemberName } from './service.js';

/** The share of a round's seconds that one list of many gets on one side. */
const SHARE = 0.25;
const SHORTEST_SECONDS = 0.5;
/** Receipts while lists are asked for: twenty a second. */
const RECEIPT_EVERY_MS = 50;
const AT_LEAST = 0.7;

interface Drawn {
  readonly key: string;
  readonly name: string;
  readonly lists: readonly DrawnList[];
  /** Twenty receipts a second go to the side that is measured. */
  readonly receipts?: Subject;
}

/**
 * Each list in turn on both sides. Its row has the median of the ratios as its ratio, the worst in its target, and
 * every list with its figures in the details.
 */
export async function drawnRow(
  { key, name, lists, receipts }: Drawn,
  sides: Sides,
  { atLeast = AT_LEAST }: { readonly atLeast?: number } = {},
): Promise<Row> {
  // Answers are compared before anything is written: the raw program does not count.
  if (!receipts)
    for (const { path, reader } of lists)
      await sameAnswers(sides, [{ method: 'GET', path }], { name, token: sides.tokens[reader.name as MemberName] });
  const seconds = Math.max(SHORTEST_SECONDS, sides.seconds * SHARE);
  const measured: { path: string; total: number; ours: number; raw: number; ratio: number }[] = [];
  const newReceipt = receipts && newReceipts(receipts);
  /** Lists during which a receipt was refused: the row has not met its target then. */
  const refused: string[] = [];
  const load = async (side: Running, { path, reader }: DrawnList): Promise<number> => {
    const requests: Request[] = [{ method: 'GET', path }];
    const writes =
      newReceipt &&
      openLoop(side.origin, () => ({ method: 'PATCH', ...newReceipt() }), {
        token: sides.token,
        everyMs: RECEIPT_EVERY_MS,
      });
    try {
      const token = sides.tokens[reader.name as MemberName];
      return (await underLoad(side.origin, requests, { token, seconds })).perSecond;
    } finally {
      await writes?.stop().catch((error: unknown) => {
        if (!(error instanceof WrongAnswer)) throw error;
        refused.push(`${side === sides.ours ? 'the product' : 'the raw program'}: ${error.message}`);
      });
    }
  };
  for (const list of lists) {
    const [ours, raw] = [await load(sides.ours, list), await load(sides.raw, list)];
    measured.push({ path: list.path, total: list.total, ours, raw, ratio: ours / raw });
  }
  const worst = measured.toSorted((a, b) => a.ratio - b.ratio)[0];
  const ratio = median(measured.map((one) => one.ratio));
  return {
    key,
    name,
    unit: '/s',
    figure: median(measured.map((one) => one.ours)),
    raw: median(measured.map((one) => one.raw)),
    ratio,
    target: `median ≥ ${atLeast} × raw; worst ${worst?.ratio.toFixed(2)}${refused.length === 0 ? '' : `; receipts refused during ${refused.length} lists`}`,
    met: ratio >= atLeast && refused.length === 0,
    details: { connections: CONNECTIONS, worst, refused, lists: measured },
  };
}
