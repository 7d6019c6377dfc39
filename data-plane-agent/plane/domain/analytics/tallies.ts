import { PART, type Entry, type GroupColumn } from '../../tables/rollups.js';
import { includes, type FigureScope, type Increments } from './increments.js';

/** What contracts are counted by. */
export const DIMENSIONS = ['type', 'status', 'stage', 'owner', 'subject', 'paymentStatus'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Contracts with the same value of a dimension, in one currency; `outstanding` includes lines of other contracts in it. */
export interface Tally {
  readonly key: string;
  readonly currencyCode: string;
  readonly contracts: number;
  readonly total: bigint;
  readonly outstanding: bigint;
}

/**
 * Contracts by each dimension by itself, so that there are no more than people and subject companies, however many
 * contracts there are. Those of which nothing is left may be missing.
 */
export type Tallies = Readonly<Record<Dimension, readonly Tally[]>>;

/** Whether anything of a tally is left. */
export const isLeft = ({ contracts, outstanding }: Tally): boolean => contracts > 0 || outstanding > 0n;

/** Some contracts of which each dimension is known. */
export interface Group extends Omit<Tally, 'key'> {
  readonly keys: Readonly<Record<Dimension, string>>;
}

/** The tallies with some groups more, or less. */
export function talliesWith(tallies: Tallies, groups: readonly Group[]): Tallies {
  if (groups.length === 0) return tallies;
  return byDimension((dimension) => added(tallies[dimension], dimension, groups));
}

const byDimension = (of: (dimension: Dimension) => readonly Tally[]): Tallies => ({
  type: of('type'),
  status: of('status'),
  stage: of('stage'),
  owner: of('owner'),
  subject: of('subject'),
  paymentStatus: of('paymentStatus'),
});

export const NO_TALLIES: Tallies = byDimension(() => []);

function added(tallies: readonly Tally[], dimension: Dimension, groups: readonly Group[]): readonly Tally[] {
  const found = new Map<string, { -readonly [K in keyof Tally]: Tally[K] }>();
  const nameOf = (key: string, currencyCode: string): string => `${currencyCode} ${key}`;
  // Those that do not change are shared.
  const unchanged = new Map(tallies.map((tally) => [nameOf(tally.key, tally.currencyCode), tally]));
  for (const { keys, currencyCode, contracts, total, outstanding } of groups) {
    const key = keys[dimension];
    const name = nameOf(key, currencyCode);
    let tally = found.get(name);
    if (!tally) {
      tally = { ...(unchanged.get(name) ?? { key, currencyCode, contracts: 0, total: 0n, outstanding: 0n }) };
      unchanged.delete(name);
      found.set(name, tally);
    }
    tally.contracts += contracts;
    tally.total += total;
    tally.outstanding += outstanding;
  }
  return [...unchanged.values(), ...found.values()];
}

/** The groups of increments in scope. */
export const groupsOf = (increments: readonly Increments[], scope: FigureScope): Group[] =>
  increments
    .filter((holder) => includes(scope, holder))
    .flatMap(({ subjectId, ownerId, groups }) =>
      groups.map(({ key, figures }: Entry<GroupColumn>): Group => {
        const [currencyCode = '', type = '', status = '', stage = '', paymentStatus = ''] = key;
        return {
          currencyCode,
          keys: { type, status, stage, owner: ownerId, subject: subjectId, paymentStatus },
          contracts: figures.contracts ?? 0,
          total: whole(figures.total_high, figures.total_low),
          outstanding: whole(figures.outstanding_high, figures.outstanding_low),
        };
      }),
    );

/** The sum of which `high` and `low` are the parts. */
export const whole = (high = 0, low = 0): bigint => BigInt(high) * BigInt(PART) + BigInt(low);
