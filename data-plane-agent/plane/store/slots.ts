import type { Transaction } from '../../base/database/database.js';

/**
 * On PostgreSQL writers of one row wait for each other's commit, so rows that every write of a tenant changes are
 * spread over a few slots. SQLite has one writer anyway.
 */
export const SLOTS = 32;

/** What is committed together uses one slot; with several, two transactions could deadlock. */
export function slotOf(tx: Transaction): number {
  if (tx.dialect === 'sqlite') return 0;
  const known = slots.get(tx.whole) ?? Math.floor(Math.random() * SLOTS);
  slots.set(tx.whole, known);
  return known;
}

const slots = new WeakMap<object, number>();
