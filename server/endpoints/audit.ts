import { fail } from '../../data-plane-agent/base/failures.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import { pageQuery } from '../../data-plane-agent/plane/contract/records/common.js';
import { periodOf } from '../audit/period.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';

const AuditQuery = s.object({
  source: s.optional(
    s.enum(
      ['platform', 'data'],
      '`platform`, the default: sign-ins, members, roles, settings. `data`: contracts and what belongs to them.',
    ),
  ),
  actor: s.optional(s.id("A member's id.")),
  record: s.optional(s.id("The id of the record that was changed; of contract data the contract's.")),
  action: s.optional(
    s.text({ max: 64, about: 'Such as `login_failed`, or on contract data the operation, such as `recordReceipt`.' }),
  ),
  from: s.optional(s.text({ max: 40, about: "A day in the tenant's time zone, or an instant with its offset." })),
  to: s.optional(s.text({ max: 40, about: 'A day, which is included, or an instant, which is not.' })),
  ...pageQuery,
});

const listAudit = endpoint('GET /audit', {
  summary: 'List who changed what',
  description:
    'Newest first. Each event is chained to the one before it within ten seconds: `hash` is SHA-256 over the previous hash and the event, so that `duebook audit verify` finds a removed or changed one. ' +
    "Of contract data only the contracts in the caller's scope are shown.",
  needs: edit('admin'),
  query: AuditQuery,
  returns: AuditPage,
  calls: ['listAudit'],
  fails: [],
  run: async ({ query, principal, plane, services }) => {
    const { source, actor, record, action } = query;
    const filter = {
      actorId: actor ?? null,
      recordId: record ?? null,
      action: action ?? null,
      ...periodOf(query, principal.settings.timezone),
    };
    if ((actor && !isId(actor)) || (record && !isId(record))) throw fail('NOT_FOUND', {});
    const asked = { page: query.page ?? 1, pageSize: query.pageSize ?? 20 };
    return source === 'data'
      ? plane.listAudit({ ...filter, ...asked })
      : services.audit.list({ tenantId: principal.tenant.id, filter, ...asked });
  },
});

export const auditEndpoints = { listAudit };
