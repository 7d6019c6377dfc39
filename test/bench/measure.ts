import { processorMs, type Running } from '../support/process.js';
import type { LoadCase } from './cases.js';
import { sameAnswers } from './compare.js';
import { CONNECTIONS, median, underLoad, type Load } from './load.js';
import type { Row } from './report.js';
import type { MemberName } from './service.js';
import { tailOf, type Tail } from './tail-process.js';

/** The product and the raw program, each in a separate process with its own copy of the data set. */
export interface Sides {
  readonly ours: Running;
  readonly raw: Running;
  /** Of the owner of the organisation. */
  readonly token: string;
  /** Of the other members. The owner's as well. */
  readonly tokens: Readonly<Record<MemberName, string>>;
  /** The duration of one round of one side. */
  readonly seconds: number;
}

/** `processorMs`: the server's processor time per request, which does not depend on the load of the machine. */
type Measured = Load & { readonly processorMs?: number };

/** The rounds of one side and one case that are counted. */
const COUNTED = 9;
/**
 * Rounds before them that are not: V8 compiles what runs often, which takes the product longer than a small program.
 * They alternate like the others, so that no side is idle for two seconds, gives its memory back and begins anew.
 */
const UNCOUNTED = 12;
/**
 * The duration, in rounds, of the load whose slowest requests count. In a single round the first request of each
 * connection, which all come at once after a round of silence, would be more than a hundredth of all.
 */
const TAIL = 10;

/** Rounds that alternate between the sides, after checking that both give the same answer. */
export async function loadRow({ key, name, requests, probes, atLeast, tail }: LoadCase, sides: Sides): Promise<Row> {
  await sameAnswers(sides, probes, { name, token: sides.token });
  const { token, seconds } = sides;
  const load = async ({ origin, pid }: Running, { perSecond }: Load): Promise<Measured> => {
    const before = processorMs(pid);
    const done = await underLoad(origin, requests, { token, seconds, amount: Math.round(perSecond * seconds) });
    const after = processorMs(pid);
    return {
      ...done,
      ...(before === undefined || after === undefined
        ? {}
        : { processorMs: (after - before) / (done.perSecond * done.seconds) }),
    };
  };
  let last = {
    ours: await underLoad(sides.ours.origin, requests, { token, seconds }),
    raw: await underLoad(sides.raw.origin, requests, { token, seconds }),
  };
  const ours: Measured[] = [];
  const raw: Measured[] = [];
  for (let round = 1; round < UNCOUNTED + COUNTED; round++) {
    const now = { ours: await load(sides.ours, last.ours), raw: await load(sides.raw, last.raw) };
    if (round >= UNCOUNTED) {
      ours.push(now.ours);
      raw.push(now.raw);
    }
    last = now;
  }
  const figure = median(ours.map(({ perSecond }) => perSecond));
  const theirs = median(raw.map(({ perSecond }) => perSecond));
  const end = tail === undefined ? undefined : { most: tail, ...(await spread(sides, requests)) };
  const target = `≥ ${atLeast} × raw${end === undefined ? '' : `; p99 ${end.spread.toFixed(1)} × p50 (≤ ${end.most})`}`;
  return {
    key,
    name,
    unit: '/s',
    figure,
    raw: theirs,
    ratio: figure / theirs,
    target,
    met: figure / theirs >= atLeast && (end === undefined || end.spread <= end.most),
    details: { connections: CONNECTIONS, ours, raw, ...(end ? { long: end.long } : {}) },
  };
}

/** How much longer the slowest hundredth takes than the median, in a load of several rounds. */
async function spread(
  { ours, token, seconds }: Sides,
  requests: LoadCase['requests'],
): Promise<{ readonly spread: number; readonly long: Tail }> {
  const long = await tailOf({ origin: ours.origin, requests, token, seconds: TAIL * seconds });
  return { spread: long.p99 / long.p50, long };
}
