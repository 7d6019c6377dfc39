import { fail } from '../../data-plane-agent/base/failures.js';

/** Exports of one tenant that a process has under way at a time. */
export const EXPORTS_AT_ONCE = 10;
/** A client that wants more of them than that has to wait for one of its own to end. */
const RETRY_AFTER_SECONDS = 30;

const open = new Map<string, number>();

/**
 * The pieces of a file, as one of the few that a tenant may have under way; of one too many RATE_LIMITED, before its
 * first piece.
 */
export async function* oneOfFew(tenantId: string, pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  const others = open.get(tenantId) ?? 0;
  if (others >= EXPORTS_AT_ONCE) throw fail('RATE_LIMITED', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  open.set(tenantId, others + 1);
  try {
    yield* pieces;
  } finally {
    const left = (open.get(tenantId) ?? 1) - 1;
    if (left > 0) open.set(tenantId, left);
    else open.delete(tenantId);
  }
}
