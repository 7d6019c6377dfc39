import { createHash } from 'node:crypto';
import { sha256Hex } from '../../../base/secrets.js';
import type { MovedTable } from '../../tables/moved.js';

/** The end of a chain of hashes over rows. */
export interface RowDigest {
  readonly rows: number;
  readonly hash: string;
}

export const beginningOfDigest = (table: string): RowDigest => ({
  rows: 0,
  hash: sha256Hex(`duebook rows v1 ${table}`),
});

/** The digest with one more row, whose values are in the order of the columns. What belongs to a store is left out. */
export function digestAfter(
  { rows, hash }: RowDigest,
  { columns, ofStore }: Pick<MovedTable, 'columns' | 'ofStore'>,
  values: readonly unknown[],
): RowDigest {
  const compared = values.filter((_value, at) => columns[at] !== ofStore);
  return { rows: rows + 1, hash: createHash('sha256').update(hash).update(JSON.stringify(compared)).digest('hex') };
}
