import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { MOST_LISTED } from '../../data-plane-agent/plane/contract/records/manual-reminders.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Principal } from '../access/principal.js';
import { callOf } from '../data-planes/call.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import type { ReminderRun } from './collections.schemas.js';
import type { Sweep } from './sweep.js';

/** Runs the automatic reminders of an organisation for a request. */
export type RunReminders = (caller: {
  readonly principal: Principal;
  readonly request: RequestInfo;
}) => Promise<ReminderRun>;

/** A write of a hundred lines takes milliseconds; the rest is for an agent far away. */
const TIMEOUT_MS = 30_000;

/**
 * Decides on the lines in the caller's scope, sends what can be sent within a few seconds, and answers how the run stands
 * then. A repeated request with the same idempotency key gets the same answer; without one, it finds nothing left to do.
 */
export const createRunReminders =
  ({
    database,
    dataPlanes,
    sweep,
    deliveries,
  }: {
    readonly database: KeyedDatabase;
    readonly dataPlanes: DataPlanes;
    readonly sweep: Sweep;
    readonly deliveries: Pick<Deliveries, 'drain'>;
  }): RunReminders =>
  async ({ principal, request }) => {
    const before = await database.answered<ReminderRun>(request.keyed);
    if (before) return before.answer;
    const tenantId = principal.tenant.id;
    // Not under the client's idempotency key, which stands for one write of the data plane; a run has one for each page.
    const call = callOf({ principal, request, idempotency: null, ifVersion: null, timeoutMs: TIMEOUT_MS });
    const plane = bind(dataPlanes.forTenant(tenantId), call, { operations: OPERATIONS });
    const { runId, evaluated } = await sweep({ tenantId, plane });
    await deliveries.drain(tenantId);
    const { counts, items } = await plane.getReminderRun({ runId, limit: MOST_LISTED });
    const results = items.map(
      ({ id: deliveryId, paymentId, contractId, step, occurrence, status, reason, channelId, recipients }) => ({
        deliveryId,
        paymentId,
        contractId,
        step,
        occurrence,
        status,
        reason,
        channelId,
        recipients,
      }),
    );
    const answer: ReminderRun = { runId, localDate: call.today, evaluated, ...counts, results };
    return database.write({ tenantId: null, keyed: request.keyed }, () => Promise.resolve(answer));
  };
