/** Formats an instant (epoch milliseconds) for responses and output: ISO 8601 UTC with milliseconds. */
export function iso(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}

// A record and its parts are mostly written at one instant.
let last = { ms: NaN, text: '' };

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
