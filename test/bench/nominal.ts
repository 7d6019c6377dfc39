import { slowdown } from '../support/machine-speed.js';
import type { Row } from './report.js';

/** A time as measured, and what it would be on the machine that the bounds are for. */
export interface Timed {
  readonly measured: number;
  readonly atNominal: number;
}

slowdown(); // once beforehand, so that the functions of the reference work are compiled

/** Call this right after the times were measured: how much slower than nominal the machine is changes all the time. */
export function timed(times: readonly number[]): readonly Timed[] {
  const slower = slowdown();
  return times.map((measured) => ({ measured, atNominal: measured / slower }));
}

/** A row with a bound in milliseconds or seconds, which what was measured has to meet. The time at nominal speed explains it. */
export function boundRow({
  times,
  of,
  atMost,
  details,
  ...row
}: Pick<Row, 'key' | 'name' | 'details'> & {
  readonly unit: 'ms' | 's';
  readonly times: readonly Timed[];
  of(values: readonly number[]): number;
  readonly atMost: number;
}): Row {
  const figure = of(times.map(({ measured }) => measured));
  const atNominal = of(times.map((time) => time.atNominal));
  return {
    ...row,
    figure,
    raw: null,
    ratio: null,
    target: `≤ ${atMost} ${row.unit}; at nominal speed ${atNominal.toPrecision(3)} ${row.unit}`,
    met: figure <= atMost,
    details: { ...details, atNominal },
  };
}
