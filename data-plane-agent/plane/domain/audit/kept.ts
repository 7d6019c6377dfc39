import type { AuditRow } from '../../../base/audit/records.js';

export type Move = readonly [before: unknown, after: unknown];

/**
 * The change of one record as the trail stores it permanently: column names of the storage, amounts in minor units,
 * instants in epoch milliseconds.
 */
export interface KeptChange {
  readonly record: string;
  readonly id: string;
  /** For amounts: the currency before and after. The oldest events lack it. */
  readonly currency?: Move;
  readonly fields: Readonly<Record<string, Move>>;
}

export const keptChanges = ({ changes }: Pick<AuditRow, 'changes'>): KeptChange[] =>
  JSON.parse(changes) as KeptChange[]; // only the recorder writes them
