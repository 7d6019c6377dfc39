import { iso } from '../../../data-plane-agent/base/instants.js';

/** Formats the timestamps of a record for an answer. */
export const stamped = <R extends { readonly createdAt: number; readonly updatedAt: number }>({
  createdAt,
  updatedAt,
  ...record
}: R) => ({ ...record, createdAt: iso(createdAt), updatedAt: iso(updatedAt) });
