import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { residentMb, type Running } from '../support/process.js';
import { deepPath } from './cases.js';
import { median, oneByOne, p99, underLoad, WrongAnswer } from './load.js';
import type { Sides } from './measure.js';
import { boundRow, timed, type Timed } from './nominal.js';
import type { Row } from './report.js';

const PATH = '/api/v1/contracts/export?profile=full';
const LIST_PATH = deepPath(3);
const WARM_UP_SECONDS = 8;
const ROUNDS = 3;

/**
 * The complete export as CSV, alternating between both sides, with its effect on memory and on concurrent list
 * requests.
 */
export async function exportRows({ ours, raw, token }: Sides, contracts: number): Promise<Row[]> {
  // Lists from the whole data set fill the database's page cache (64 MB per connection) beforehand, so that it is not
  // attributed to the export.
  const all = Array.from({ length: Math.max(1, Math.floor(contracts / 20)) }, (_, i) => ({
    method: 'GET' as const,
    path: deepPath(i + 1),
  }));
  await underLoad(ours.origin, all, { token, seconds: WARM_UP_SECONDS });
  const before = residentMb(ours.pid);
  const [first, same] = [await fetched(ours, token), await fetched(raw, token)];
  if (first.hash !== same.hash)
    throw new WrongAnswer(
      `export: the product writes other bytes (${first.bytes}) than the raw program (${same.bytes})`,
    );
  const [mine, theirs]: [number[], number[]] = [[], []];
  let most = before ?? 0;
  const meanwhile: Timed[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const look = setInterval(() => (most = Math.max(most, residentMb(ours.pid) ?? 0)), 20);
    mine.push((await fetched(ours, token)).ms);
    clearInterval(look);
    theirs.push((await fetched(raw, token)).ms);
    const busy = { is: true };
    const running = fetched(ours, token).finally(() => (busy.is = false));
    const lists: number[] = [];
    while (busy.is) lists.push(...(await oneByOne(ours.origin, [LIST_PATH], { token, rounds: 10 })));
    await running;
    meanwhile.push(...timed(lists));
  }
  const [figure, baseline] = [contracts / (median(mine) / 1000), contracts / (median(theirs) / 1000)];
  return [
    {
      key: 'export',
      name: `export full, ${contracts} contracts, ${(first.bytes / 1e6).toFixed(0)} MB: contracts`,
      unit: '/s',
      figure,
      raw: baseline,
      ratio: figure / baseline,
      target: '≥ 0.7 × raw',
      met: figure >= 0.7 * baseline,
      details: { ours: mine, raw: theirs },
    },
    boundRow({
      key: 'export',
      name: 'list meanwhile, p99',
      unit: 'ms',
      times: meanwhile,
      of: p99,
      atMost: 50,
      details: { requests: meanwhile.length, longest: Math.max(...meanwhile.map(({ measured }) => measured)) },
    }),
    ...(before === undefined
      ? []
      : [
          {
            key: 'export',
            name: 'memory that an export adds',
            unit: 'MB' as const,
            figure: most - before,
            raw: null,
            ratio: null,
            target: '≤ 64 MB',
            met: most - before <= 64,
            details: { before, most },
          },
        ]),
  ];
}

/** Reads an export to its end and discards it. */
export function fetched(
  { origin }: Running,
  token: string,
): Promise<{ readonly ms: number; readonly bytes: number; readonly hash: string }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(`${origin}${PATH}`, { headers: { authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode !== 200) return reject(new WrongAnswer(`${PATH}: ${answer.statusCode}`));
      const hash = createHash('sha1');
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        hash.update(chunk);
      });
      answer
        .on('error', reject)
        .on('end', () => resolve({ ms: performance.now() - began, bytes, hash: hash.digest('hex') }));
    }).on('error', reject);
  });
}
