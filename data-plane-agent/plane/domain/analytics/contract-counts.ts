import type { Day } from '../../../base/day.js';
import type { ContractRow } from '../../tables/contracts.js';
import { includes, type FigureScope, type Increments } from './increments.js';

/** What filters of lists compare, besides the owner and the subject company. */
export type Compared = Pick<
  ContractRow,
  | 'type'
  | 'typeCode'
  | 'status'
  | 'statusCode'
  | 'paymentStatus'
  | 'stageCategory'
  | 'stageCode'
  /** Contracts with an open line that was due before a day have an earlier one here. */
  | 'nextDueDate'
>;

/** How many contracts more there are with such values. */
export interface Counted {
  readonly of: Compared;
  readonly contracts: number;
}

/** What contracts are counted: those with all given values. */
export type CountFilter = {
  readonly [K in Exclude<keyof Compared, 'nextDueDate'> | 'ownerId' | 'subjectId']?: string | null | undefined;
} & {
  /** With an open line that was due before this day. */
  readonly dueBefore?: Day | undefined;
};

/** How many more of these contracts there are after some increments, within the scope of a caller. */
export function contractsAdded(
  increments: readonly Increments[],
  {
    filter: { ownerId, subjectId, dueBefore, ...values },
    scope,
  }: { readonly filter: CountFilter; readonly scope: Omit<FigureScope, 'subjectId'> },
): number {
  const equal = Object.entries(values) as readonly [
    Exclude<keyof Compared, 'nextDueDate'>,
    string | null | undefined,
  ][];
  let added = 0;
  for (const holder of increments) {
    if (!includes({ ...scope, subjectId: null }, holder)) continue;
    if (!isAs(ownerId, holder.ownerId) || !isAs(subjectId, holder.subjectId)) continue;
    for (const { of, contracts } of holder.contracts)
      if (equal.every(([name, value]) => isAs(value, of[name])) && isBefore(of.nextDueDate, dueBefore))
        added += contracts;
  }
  return added;
}

const isAs = (given: string | null | undefined, value: string | null): boolean =>
  given === undefined || given === null || given === value;

const isBefore = (dueDate: Day | null, day: Day | undefined): boolean =>
  day === undefined || (dueDate !== null && dueDate < day);
