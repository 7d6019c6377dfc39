import { todayIn } from '../../data-plane-agent/base/day.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import type { Actor } from '../access/actor.js';

/** How long a job waits for an operation. */
const TIMEOUT_MS = 60_000;

/** A call that no member makes: a schedule's or the CLI's, over all of a tenant's contract data. */
export const systemCall = ({ tenantId, actor, at }: { tenantId: string; actor: Actor; at: number }): Call => ({
  tenantId,
  requestId: actor.requestId,
  timeoutMs: TIMEOUT_MS,
  actor: { kind: actor.kind, id: actor.id, name: actor.name, roleCode: null, ip: actor.ip },
  subjectScope: null,
  ownerScope: null,
  controls: {},
  rights: ALL_RIGHTS,
  timeZone: 'UTC',
  today: todayIn('UTC', at),
  reminderLeadDays: 0,
  currencyCode: 'CNY',
  language: 'en',
  idempotency: null,
  ifVersion: null,
});
