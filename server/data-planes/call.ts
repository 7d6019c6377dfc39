import { todayIn } from '../../data-plane-agent/base/day.js';
import type { Call, Rights } from '../../data-plane-agent/plane/contract/call.js';
import { edit, meets, view } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';

/** The default timeout of an operation. */
const TIMEOUT_MS = 10_000;

/** Roles that see only their own contracts if the tenant enables this. */
const OWNER_SCOPED: ReadonlySet<string> = new Set(['sales', 'manager']);

/** The context of a request for the data plane: the caller, the visible rows, and the caller's present date. */
export function callOf({
  principal,
  request,
  idempotency,
  ifVersion,
  timeoutMs = TIMEOUT_MS,
}: Pick<Call, 'idempotency' | 'ifVersion'> & {
  readonly principal: Principal;
  readonly request: RequestInfo;
  readonly timeoutMs?: number | undefined;
}): Call {
  const { tenant, user, settings, controls } = principal;
  return {
    tenantId: tenant.id,
    requestId: request.id,
    timeoutMs,
    actor: { kind: 'user', id: user.id, name: user.name, roleCode: user.roleCode, ip: request.ip },
    subjectScope: user.subjectScope && [...user.subjectScope],
    ownerScope: ownerScopeOf(user, settings),
    controls,
    rights: rightsOf(principal),
    timeZone: settings.timezone,
    today: todayIn(settings.timezone, request.receivedAt),
    reminderLeadDays: settings.reminderLeadDays,
    reminderEscalationDays: settings.reminderEscalationDays,
    reminderHour: settings.reminderHour,
    currencyCode: settings.defaultCurrency,
    language: settings.defaultLanguage,
    idempotency,
    ifVersion,
  };
}

/** The member to whose contracts a member is limited; `null` if they see those of others too. */
export const ownerScopeOf = (
  { id, roleCode }: { readonly id: string; readonly roleCode: string },
  { ownerScopeEnabled }: Pick<Principal['settings'], 'ownerScopeEnabled'>,
): string | null => (ownerScopeEnabled && OWNER_SCOPED.has(roleCode) ? id : null);

const rightsOf = ({ permissions, features }: Principal): Rights => ({
  sensitive: meets(permissions, view('sensitive_data')),
  paymentEntry: meets(permissions, edit('payment_entry')),
  invoice: meets(permissions, edit('invoice')),
  admin: meets(permissions, edit('admin')),
  workflowAutomation: features.workflowAutomation,
});
