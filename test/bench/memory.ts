import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb, type Running } from '../support/process.js';
import type { Row } from './report.js';

const AFTER_MS = 10_000;
const MOST_MB = 300;

/** The memory that the server still holds some time after the load has ended. */
export async function memoryAfterLoad({ pid }: Running, prefix: string): Promise<Row[]> {
  const atTheEnd = residentMb(pid);
  await sleep(AFTER_MS);
  const figure = residentMb(pid);
  if (figure === undefined) return [];
  return [
    {
      key: 'memory',
      name: `${prefix}memory ${AFTER_MS / 1_000} s after the load`,
      unit: 'MB',
      figure,
      raw: null,
      ratio: null,
      target: `≤ ${MOST_MB} MB`,
      met: figure <= MOST_MB,
      details: { atTheEnd },
    },
  ];
}
