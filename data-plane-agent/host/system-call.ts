import { todayIn } from '../base/day.js';
import { ALL_RIGHTS, type Call } from '../plane/contract/call.js';

/** How long a job waits for an operation: nobody sits in front of it, and a scan or a sweep takes its time. */
const TIMEOUT_MS = 600_000;

/** A tenant as a job needs to know it: whose time and money it is. */
export interface WorkedTenant {
  readonly id: string;
  readonly timeZone: string;
  readonly reminderLeadDays: number;
  readonly currencyCode: string;
  readonly language: string;
}

/** A call that no member makes, over all of a tenant's contract data. */
export const systemCall = ({
  tenant,
  actor,
  requestId,
  at,
}: {
  readonly tenant: WorkedTenant;
  readonly actor: Omit<Call['actor'], 'roleCode'>;
  readonly requestId: string;
  readonly at: number;
}): Call => ({
  tenantId: tenant.id,
  requestId,
  timeoutMs: TIMEOUT_MS,
  actor: { kind: actor.kind, id: actor.id, name: actor.name, roleCode: null, ip: actor.ip },
  subjectScope: null,
  ownerScope: null,
  controls: {},
  rights: ALL_RIGHTS,
  timeZone: tenant.timeZone,
  today: todayIn(tenant.timeZone, at),
  reminderLeadDays: tenant.reminderLeadDays,
  currencyCode: tenant.currencyCode,
  language: tenant.language,
  idempotency: null,
  ifVersion: null,
});
