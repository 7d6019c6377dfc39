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
      '`platform`, the default: sign-ins, members, roles, settings. `data`: contracts and their related records.',
    ),
  ),
  actor: s.optional(s.id("A member's id.")),
  record: s.optional(s.id("The id of the record that was changed; for contract data, the contract's id.")),
  action: s.optional(
    s.text({
      max: 64,
      about: 'For example `login_failed`; for contract data the operation, for example `recordReceipt`.',
    }),
  ),
  from: s.optional(s.text({ max: 40, about: "A day in the tenant's time zone, or an instant with its UTC offset." })),
  to: s.optional(s.text({ max: 40, about: 'A day (inclusive), or an instant (exclusive).' })),
  ...pageQuery,
});

const listAuditEvents = endpoint('GET /audit', {
  summary: 'List audit events',
  description:
    'Newest first. Within ten seconds each event is chained to the previous one: `hash` is SHA-256 over the previous hash and the event, so that `duebook audit verify` detects removed or changed events. ' +
    "For contract data, only events of contracts in the caller's scope are returned.",
  needs: edit('admin'),
  query: AuditQuery,
  returns: AuditPage,
  calls: ['listAudit'],
  fails: ['NOT_FOUND'],
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

export const auditEndpoints = { listAuditEvents };
