/** A record with its instants as they are answered. */
export const stamped = <R extends { readonly createdAt: number; readonly updatedAt: number }>({ createdAt, updatedAt, ...record }: R) => ({ ...record, createdAt: instant(createdAt), updatedAt: instant(updatedAt) });

/** ISO 8601 in UTC, of epoch milliseconds. */
export const instant = (ms: number): string => new Date(ms).toISOString();
