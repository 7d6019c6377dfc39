import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { TellTenants } from '../../data-plane-agent/host/upkeep.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { DataPlanes } from './for-tenant.js';
import { systemCall, workedTenant } from './system-call.js';

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

/** A step that is taken with each tenant's data plane, again while it says that there is more. */
export interface Round {
  /** In whose name: the audit and the log tell it. */
  readonly job: string;
  readonly signal?: AbortSignal | undefined;
  readonly step: (plane: BoundPlane<Operations>, tenantId: string) => Promise<{ readonly more: boolean }>;
}

/** Of tenants that have something due, those that are worked for: not those that are suspended. */
export const workedFor =
  ({ database }: Pick<TenantsOptions, 'database'>): TellTenants =>
  async (ids) =>
    (await database.read({ tenantId: null }, (tx) => new TenantStore(tx).among(ids)))
      .filter(({ status }) => status === 'active')
      .map(workedTenant);

/**
 * Takes a step with every tenant's data plane, again while it says that there is more: for what is told of each once a
 * day. What comes round more often is due work, which a data plane finds by itself. One that cannot be worked on holds
 * up no other; one whose agent is away has its turn when it is back.
 */
export async function eachTenant(
  { database, clock, dataPlanes, log }: TenantsOptions,
  { job, signal, step }: Round,
): Promise<void> {
  const tenants = await database.read({ tenantId: null }, (tx) => new TenantStore(tx).all());
  const waiting = tenants[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true && !signal?.aborted; next = waiting.next())
      await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  async function work({ id: tenantId, settings }: TenantRecord): Promise<void> {
    const call = systemCall({
      tenantId,
      settings,
      actor: { kind: 'system', id: null, name: job, ip: null, requestId: newId() },
      at: clock.now(),
    });
    const plane = bind(dataPlanes.forTenant(tenantId), call, { operations: OPERATIONS, signal });
    try {
      for (let left = STEPS; left > 0 && !signal?.aborted; left -= 1) if (!(await step(plane, tenantId)).more) return;
    } catch (error) {
      if (!AWAY.some((code) => isFailure(error, code)))
        log.error({ err: error, job, tenantId }, 'not done for this organisation');
    }
  }
}

const AWAY = ['DATA_PLANE_NOT_CONNECTED', 'DATA_PLANE_UNAVAILABLE'] as const;
