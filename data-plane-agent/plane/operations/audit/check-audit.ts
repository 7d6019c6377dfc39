import { s } from '../../../base/schema.js';
import { AuditCheck } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Checks a stretch of the tenant's audit chain, from the link on that an earlier call came to; without one from the
 * beginning. With `until` it goes to that position at most, and is never the last.
 */
export const checkAudit = operation({
  effect: 'read',
  input: s.object({
    from: s.nullable(s.object({ position: s.integer({ max: Number.MAX_SAFE_INTEGER }), hash: s.text({ max: 64 }) })),
    until: s.optional(s.integer({ max: Number.MAX_SAFE_INTEGER })),
  }),
  output: AuditCheck,
  fails: [],
  run: ({ store }, _call, { from, until }) => store.auditTrail.check(from ?? undefined, until ?? undefined),
});
