import { s, type Static } from '../../base/schema.js';
import { CONTROLS } from './vocabulary.js';

/**
 * Additional rights of the caller, beyond those checked by the endpoint: operations whose input concerns several
 * modules use them.
 */
export const Rights = s.object({
  /** Account numbers in full (`sensitive_data`, view); otherwise only the last four characters. */
  sensitive: s.flag(),
  /** May record money received (`payment_entry`, edit). */
  paymentEntry: s.flag(),
  /** May change invoice fields (`invoice`, edit). */
  invoice: s.flag(),
  /** `admin` (edit). */
  admin: s.flag(),
  /** The tenant's plan has `workflowAutomation`. */
  workflowAutomation: s.flag(),
});
export type Rights = Static<typeof Rights>;

/** The rights of a job, and of the operator of the machine. */
export const ALL_RIGHTS: Rights = {
  sensitive: true,
  paymentEntry: true,
  invoice: true,
  admin: true,
  workflowAutomation: true,
};

/**
 * The caller, the tenant and its settings; passed with every operation. The control plane checks modules and plan
 * features before the call; the data plane limits the rows by the scopes in it.
 */
export const Call = s.object({
  tenantId: s.id(),
  requestId: s.text({ max: 128 }),
  /** The timeout in milliseconds: work that is not finished by then is aborted. */
  timeoutMs: s.integer({ min: 1, max: 600_000 }),
  actor: s.object({
    kind: s.enum(['user', 'system', 'cli']),
    /** The member's id; `null` for a job. */
    id: s.nullable(s.id()),
    name: s.text({ max: 200 }),
    roleCode: s.nullable(s.text({ max: 64 })),
    ip: s.nullable(s.text({ max: 64 })),
  }),
  /** Subject companies whose contracts the caller may see; `null` is all, an empty list none. */
  subjectScope: s.nullable(s.list(s.id(), 1_000)),
  /** Limits the call to contracts of which this member is owner or superior; `null` for no limit. */
  ownerScope: s.nullable(s.id()),
  /** The role's workflow control levels by stage category or stage code. A missing one is `none`. */
  controls: s.map(s.enum(CONTROLS), 500),
  rights: Rights,
  timeZone: s.text({ max: 64 }),
  /** The current day in the tenant's time zone, determined once per request. */
  today: s.day(),
  reminderLeadDays: s.integer({ max: 90 }),
  /** Days after the due date on which reminders are escalated; 0 for never. */
  reminderEscalationDays: s.integer({ max: 90 }),
  /** The hour of the day, in the time zone, from which reminders are sent. */
  reminderHour: s.integer({ max: 23 }),
  currencyCode: s.currency(),
  language: s.text({ max: 35 }),
  /** A write sent twice with one key runs once. */
  idempotency: s.nullable(s.object({ key: s.text({ max: 128 }), requestHash: s.text({ max: 128 }) })),
  /** From `If-Match`: a write to a contract is refused if its version differs. */
  ifVersion: s.nullable(s.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
});
export type Call = Static<typeof Call>;
