import type { Day } from '../../../base/day.js';
import type { DayColumn, DayCount, DaySum, Figures } from '../../tables/rollups.js';
import { includes, type FigureScope, type Increments } from './increments.js';
import { whole } from './tallies.js';

/** Figures of one currency on the days between two cuts. */
export interface Segment<F extends DayCount | DaySum> {
  readonly currencyCode: string;
  /** The number of cuts on or before these days. */
  readonly index: number;
  readonly figures: Readonly<Record<F, bigint>>;
}

/** Which figures of days are asked for, and the days at which they are cut. */
export interface DayFigures<C extends DayCount, S extends DaySum> {
  readonly cuts: readonly Day[];
  readonly counts: readonly C[];
  readonly sums: readonly S[];
}

/** The segments with the increments in scope. */
export function segmentsWith<C extends DayCount, S extends DaySum>(
  segments: readonly Segment<C | S>[],
  increments: readonly Increments[],
  { scope, asked: { cuts, counts, sums } }: { readonly scope: FigureScope; readonly asked: DayFigures<C, S> },
): readonly Segment<C | S>[] {
  const found = new Map(segments.map((segment) => [nameOf(segment), segment]));
  for (const { days } of increments.filter((holder) => includes(scope, holder)))
    for (const { key, figures: more } of days) {
      const [currencyCode = '', day = ''] = key;
      const before = cuts.findIndex((cut) => day < cut);
      const place = { currencyCode, index: before === -1 ? cuts.length : before };
      const known = found.get(nameOf(place))?.figures;
      const figures: Partial<Record<C | S, bigint>> = {};
      for (const name of counts) figures[name] = (known?.[name] ?? 0n) + BigInt(more[name] ?? 0);
      for (const name of sums) figures[name] = (known?.[name] ?? 0n) + sumOf(more, name);
      found.set(nameOf(place), { ...place, figures: figures as Record<C | S, bigint> }); // each figure was just set
    }
  return [...found.values()];
}

const nameOf = ({ currencyCode, index }: { readonly currencyCode: string; readonly index: number }): string =>
  `${currencyCode} ${index}`;

const sumOf = (figures: Figures<DayColumn>, name: DaySum): bigint =>
  whole(figures[`${name}_high`], figures[`${name}_low`]);
