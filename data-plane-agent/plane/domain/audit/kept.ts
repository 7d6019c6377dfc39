import type { AuditRow } from '../../../base/audit/records.js';

export type Move = readonly [before: unknown, after: unknown];

/**
 * One record's part of an event as the trail keeps it, for good: under the names of storage, amounts in minor units,
 * instants in milliseconds.
 */
export interface KeptChange {
  readonly record: string;
  readonly id: string;
  /** Of amounts: the currency before and after. The oldest events lack it. */
  readonly currency?: Move;
  readonly fields: Readonly<Record<string, Move>>;
}

export const keptChanges = ({ changes }: Pick<AuditRow, 'changes'>): KeptChange[] =>
  JSON.parse(changes) as KeptChange[]; // nothing but the recorder writes them
