import { todayIn } from '../base/day.js';
import { ALL_RIGHTS, type Call } from '../plane/contract/call.js';

/** The timeout of a job's operation: no user waits for it, and scans and sweeps take long. */
const TIMEOUT_MS = 600_000;

/** The data of a tenant that a job needs. */
export interface WorkedTenant {
  readonly id: string;
  readonly timeZone: string;
  readonly reminderLeadDays: number;
  readonly reminderEscalationDays: number;
  readonly reminderHour: number;
  readonly currencyCode: string;
  readonly language: string;
}

/** A call made by the system, with access to all of a tenant's contract data. */
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
  reminderEscalationDays: tenant.reminderEscalationDays,
  reminderHour: tenant.reminderHour,
  currencyCode: tenant.currencyCode,
  language: tenant.language,
  idempotency: null,
  ifVersion: null,
});
