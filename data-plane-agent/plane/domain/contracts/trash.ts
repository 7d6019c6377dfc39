import type { TrashedContract } from '../../contract/records/trash.js';
import { iso } from '../../../base/instants.js';
import { contractSummary, type Reader } from './presenter.js';
import type { ShownContract } from '../fields/shown.js';

const DAY_MS = 86_400_000;

/** How long a deleted contract can be restored, in milliseconds. */
export const RESTORABLE_MS = 30 * DAY_MS;

export const isRestorable = (deletedAt: number, now: number): boolean => deletedAt + RESTORABLE_MS > now;

/** A deleted contract in the trash list. Its last change was the deletion; it has no due amounts. */
export const trashedContract = (
  row: ShownContract & { readonly deletedAt: number },
  reader: Reader,
): TrashedContract => ({
  ...contractSummary(row, [], reader),
  deletedAt: iso(row.deletedAt),
  deletedBy: row.updatedBy,
  restorableUntil: iso(row.deletedAt + RESTORABLE_MS),
});
