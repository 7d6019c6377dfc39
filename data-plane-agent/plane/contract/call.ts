import { s, type Static } from '../../base/schema.js';
import { CONTROLS } from './vocabulary.js';

/**
 * What the caller may see or write beside what the endpoint itself asks for: an operation whose input mixes modules
 * looks here.
 */
export const Rights = s.object({
  /** Account numbers in full (`sensitive_data`, view); else the last four characters. */
  sensitive: s.flag(),
  /** Money received (`payment_entry`, edit). */
  paymentEntry: s.flag(),
  /** Invoice fields (`invoice`, edit). */
  invoice: s.flag(),
  /** `admin` (edit). */
  admin: s.flag(),
  /** The tenant's plan has `workflowAutomation`. */
  workflowAutomation: s.flag(),
});
export type Rights = Static<typeof Rights>;

/** Those of a job, and of whoever has the machine. */
export const ALL_RIGHTS: Rights = {
  sensitive: true,
  paymentEntry: true,
  invoice: true,
  admin: true,
  workflowAutomation: true,
};

/**
 * Who calls, for whom and under which settings. It travels with every operation, whether or not that crosses a wire.
 * The control plane decides modules and plan features before it calls; the data plane decides which rows, from the
 * scopes in here.
 */
export const Call = s.object({
  tenantId: s.id(),
  requestId: s.text({ max: 128 }),
  /** How long the caller waits from now on, in milliseconds: what is not done by then is given up. */
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
  /** Only contracts of which this member is owner or superior; `null` is no such limit. */
  ownerScope: s.nullable(s.id()),
  /** The role's workflow control levels by stage category or stage code. A missing one is `none`. */
  controls: s.map(s.enum(CONTROLS), 500),
  rights: Rights,
  timeZone: s.text({ max: 64 }),
  /** The civil day in the tenant's time zone, taken once per request. */
  today: s.day(),
  reminderLeadDays: s.integer({ max: 90 }),
  currencyCode: s.currency(),
  language: s.text({ max: 35 }),
  /** A write that is sent twice under one key happens once. */
  idempotency: s.nullable(s.object({ key: s.text({ max: 128 }), requestHash: s.text({ max: 128 }) })),
  /** From `If-Match`: a write of one contract is refused when it has another version by now. */
  ifVersion: s.nullable(s.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
});
export type Call = Static<typeof Call>;
