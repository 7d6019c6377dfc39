/** An instant (epoch milliseconds) as it is answered and printed: ISO 8601 UTC with milliseconds. */
export const iso = (ms: number): string => new Date(ms).toISOString();

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
