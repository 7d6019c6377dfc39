import type { Transaction } from '../../base/database/database.js';

/**
 * PostgreSQL makes writers of one row wait for each other's commit, so what every write of a tenant moves is spread
 * over a few rows there; SQLite has one writer anyway.
 */
const SLOTS = 32;

/** A transaction has one slot to its end: two that had several each would wait for each other crosswise. */
export function slotOf(tx: Transaction): number {
  if (tx.dialect === 'sqlite') return 0;
  const known = slots.get(tx) ?? Math.floor(Math.random() * SLOTS);
  slots.set(tx, known);
  return known;
}

const slots = new WeakMap<Transaction, number>();
