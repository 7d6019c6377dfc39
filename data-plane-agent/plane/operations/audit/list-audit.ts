import { auditEntry } from '../../../base/audit/entry.js';
import { AuditListQuery, AuditPage } from '../../contract/records/audit.js';
import { pageOf } from '../../contract/records/common.js';
import { auditChanges } from '../../domain/audit/entry.js';
import { keptChanges } from '../../domain/audit/kept.js';
import { visibleTo } from '../../domain/fields/definition.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Changes of contract data, newest first, limited to contracts in the caller's scope and custom values that they may
 * see.
 */
export const listAudit = operation({
  effect: 'read',
  input: AuditListQuery,
  output: AuditPage,
  fails: [],
  run: async ({ store }, call, { page, pageSize, ...filter }) => {
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.auditTrail.page(filter, asked);
    const events = rows.map((row) => ({ row, kept: keptChanges(row) }));
    const currencyOf = await store.currencies.of(events.flatMap(({ kept }) => kept));
    const hiddenFields = new Set(
      (await store.fields.all()).filter((field) => !visibleTo(field, call.actor.roleCode)).map(({ id }) => id),
    );
    const entries = events.map(({ row, kept }) =>
      auditEntry(
        row,
        kept.flatMap((change) => auditChanges(change, { currencyOf, hiddenFields })),
      ),
    );
    return pageOf(entries, { ...asked, total });
  },
});
