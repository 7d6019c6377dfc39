import { iso } from '../../../data-plane-agent/base/instants.js';

/** A record with its instants as they are answered. */
export const stamped = <R extends { readonly createdAt: number; readonly updatedAt: number }>({
  createdAt,
  updatedAt,
  ...record
}: R) => ({ ...record, createdAt: iso(createdAt), updatedAt: iso(updatedAt) });
