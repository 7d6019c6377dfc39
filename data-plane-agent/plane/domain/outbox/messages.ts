const HOUR_MS = 3_600_000;

/** How long after its due time an undelivered message expires; longer than all tries together. */
export const KEPT_QUEUED_MS = 48 * HOUR_MS;
/** How long after its creation a message that is no longer queued is kept. */
export const KEPT_OVER_MS = 90 * 24 * HOUR_MS;

/** What became of a message whose delivery failed; `lost`: the caller no longer has the lease. */
export type FailedState =
  { readonly state: 'queued'; readonly dueAt: number } | { readonly state: 'failed' } | { readonly state: 'lost' };

/** Recorded with a message that an operator ended without sending it. */
export const DISCARDED = 'an operator discarded the message';
