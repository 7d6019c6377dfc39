import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Round } from '../../data-plane-agent/host/jobs.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATION_NAMES } from '../../data-plane-agent/plane/operations/index.js';
import { TenantStore } from '../store/tenants.js';
import type { DataPlanes } from './for-tenant.js';
import { systemCall } from './system-call.js';

/** Data planes that are asked at once: one that is slow holds up a few others only. */
const AT_ONCE = 4;
/** Steps of one tenant in a run: one with much to do lets the others have their turn. */
const STEPS = 50;

export interface TenantsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly dataPlanes: DataPlanes;
  readonly log: Log;
}

/**
 * Takes a step with every tenant's data plane, again while it says that there is more. Row-level security shows nobody which tenants have work that waits,
 * so each is asked. One that cannot be worked on holds up no other; one whose agent is away has its turn when it is back.
 */
export async function eachTenant({ database, clock, dataPlanes, log }: TenantsOptions, { job, signal, step }: Round): Promise<void> {
  const tenantIds = await database.read({ tenantId: null }, (tx) => new TenantStore(tx).ids());
  const waiting = tenantIds[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true && !signal?.aborted; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  async function work(tenantId: string): Promise<void> {
    const call = systemCall({ tenantId, actor: { kind: 'system', id: null, name: job, ip: null, requestId: newId() }, at: clock.now() });
    const plane = bind(dataPlanes.forTenant(tenantId), OPERATION_NAMES, call);
    try {
      for (let left = STEPS; left > 0 && !signal?.aborted; left -= 1) if (!(await step(plane, tenantId)).more) return;
    } catch (error) {
      if (!AWAY.some((code) => isFailure(error, code))) log.error({ err: error, job, tenantId }, 'not done for this organisation');
    }
  }
}

const AWAY = ['DATA_PLANE_NOT_CONNECTED', 'DATA_PLANE_UNAVAILABLE'] as const;
