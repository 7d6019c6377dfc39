import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { anonymousActor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { LoginFailureStore } from '../store/login-failures.js';
import { TenantStore } from '../store/tenants.js';
import { addressKey } from './limits.js';

/**
 * Finds the organisations that an email address can sign in to. This reveals memberships by design, so it is strictly
 * rate-limited by IP and email address across all replicas, audited, and can be disabled, in which case nothing is
 * found. Throws RATE_LIMITED.
 */
export type Resolve = (
  given: { /** Lower-cased. */ readonly email: string },
  request: RequestInfo,
) => Promise<{ tenants: { slug: string; name: string }[] }>;

/** `perMinute`: lookups per IP address; 0 disables the lookup. */
export function createResolve({
  database,
  clock,
  perMinute,
}: {
  database: Database;
  clock: Clock;
  perMinute: number;
}): Resolve {
  return async ({ email }, request) => {
    if (perMinute === 0) return { tenants: [] };
    const outcome = await database.write({ tenantId: null }, async (tx) => {
      const at = clock.now();
      const emailHash = sha256Hex(email);
      const counts = new LoginFailureStore(tx);
      await counts.deleteExpired({ at });
      for (const { key, windowMs, limit } of [
        { key: `resolve:${addressKey(request.ip)}`, windowMs: MINUTE_MS, limit: perMinute },
        { key: `resolve:email:${emailHash}`, windowMs: 60 * MINUTE_MS, limit: PER_EMAIL_AND_HOUR },
      ]) {
        const counted = await counts.count({ key, at, windowMs, slides: false });
        if (counted && counted.failures > limit)
          return { wait: Math.max(1, Math.ceil((counted.expiresAt - at) / 1_000)) };
      }
      const tenants = await new TenantStore(tx).ofActiveMember(email);
      // Only the digest, because users sometimes type a password into the email field.
      await new AuditStore(tx).append({
        tenantId: null,
        at,
        actor: anonymousActor(request),
        action: 'login_resolved',
        recordKind: 'email',
        recordId: null,
        changes: { emailHash, found: tenants.length },
      });
      return { tenants };
    });
    if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
    return outcome;
  };
}

const MINUTE_MS = 60_000;
const PER_EMAIL_AND_HOUR = 20;
