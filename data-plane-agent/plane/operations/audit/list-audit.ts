import { AuditListQuery, AuditPage } from '../../contract/records/audit.js';
import { pageOf } from '../../contract/records/common.js';
import { auditEntry } from '../../domain/audit-entry.js';
import { operation } from '../tools.js';

/** What was done to contract data, newest first; of contracts only those in the caller's scope. */
export const listAudit = operation({
  effect: 'read',
  input: AuditListQuery,
  output: AuditPage,
  fails: [],
  run: async ({ store }, _call, { page, pageSize, ...filter }) => {
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.auditTrail.page(filter, asked);
    return pageOf(rows.map(auditEntry), { ...asked, total });
  },
});
