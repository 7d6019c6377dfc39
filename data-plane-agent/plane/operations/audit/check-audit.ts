import { s } from '../../../base/schema.js';
import { AuditCheck } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Verifies a part of the tenant's audit chain, from the link that an earlier call reached or from the beginning, up to
 * the position `until` if it is given. A check with `until` never reports that it is complete.
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
