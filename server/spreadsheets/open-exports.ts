import { fail } from '../../data-plane-agent/base/failures.js';

/** The maximum number of concurrent exports of a tenant in a process. */
export const EXPORTS_AT_ONCE = 10;
/** Sent to a client above the limit. */
const RETRY_AFTER_SECONDS = 30;

const open = new Map<string, number>();

/**
 * Yields the pieces of a file as one of the limited concurrent exports of a tenant. Throws RATE_LIMITED before the
 * first piece above the limit.
 */
export async function* limitedExport(
  tenantId: string,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string, void, void> {
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
