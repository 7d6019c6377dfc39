import type { Log } from '../../data-plane-agent/base/log.js';

/**
 * Logs that a password reset was not mailed, with what the operator can do. The answer to the request must be the same
 * for every account, so it cannot contain this. `memberId` is null for an account that gets no reset.
 */
export function logResetNotSent(
  log: Log,
  { reason, ...about }: { reason: string; tenantId: string | null; memberId: string | null },
): void {
  log.warn({ ...about, reason }, `a password reset was not sent: ${reason}. ${RESET_REMEDY}`);
}

/** What the operator can do for a member who gets no mail. */
export const RESET_REMEDY =
  'The operator sets a new password with: duebook members reset-password --tenant SLUG --email EMAIL; "duebook doctor" checks the mail server';
