import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { stranger } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { LoginFailureStore } from '../store/login-failures.js';
import { TenantStore } from '../store/tenants.js';
import { addressKey } from './limits.js';

/**
 * Which organisations an email signs in to. It tells who is a member of what, by its very purpose: so it is counted
 * strictly, by address and by email, over all replicas, and audited; and it can be switched off, when it finds nothing.
 * Throws RATE_LIMITED.
 */
export type Resolve = (
  given: { /** Lower-cased. */ readonly email: string },
  request: RequestInfo,
) => Promise<{ tenants: { slug: string; name: string }[] }>;

/** `perMinute`: look-ups from one address; 0 switches it off. */
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
      // The digest, because people type passwords into the email's place.
      await new AuditStore(tx).append({
        tenantId: null,
        at,
        actor: stranger(request),
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
