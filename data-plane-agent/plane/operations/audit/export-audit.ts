import { s } from '../../../base/schema.js';
import { AuditFilter, AuditRow } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/** The tenant's next audit events after an id, oldest first and whole; none when there are no more. */
export const exportAudit = operation({
  effect: 'read',
  input: s.object({ afterId: s.id(), ...AuditFilter.properties }),
  output: s.object({ rows: s.list(AuditRow, 1_000) }),
  fails: [],
  run: async ({ store }, _call, { afterId, ...filter }) => ({
    rows: await store.auditTrail.following(afterId, filter),
  }),
});
