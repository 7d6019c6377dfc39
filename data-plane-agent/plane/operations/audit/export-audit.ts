import { s } from '../../../base/schema.js';
import { AuditFilter, AuditRow } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/** The tenant's complete audit events after an id, oldest first; empty at the end. */
export const exportAudit = operation({
  effect: 'read',
  input: s.object({ afterId: s.id(), ...AuditFilter.properties }),
  output: s.object({ rows: s.list(AuditRow, 1_000) }),
  fails: [],
  run: async ({ store }, _call, { afterId, ...filter }) => ({
    rows: await store.auditTrail.following(afterId, filter),
  }),
});
