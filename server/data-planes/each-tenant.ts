import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { FindTenants } from '../../data-plane-agent/host/upkeep.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { isAway } from './away.js';
import type { DataPlanes } from './for-tenant.js';
import { systemCall, workedTenant } from './system-call.js';

/** The number of data planes called concurrently, so that a slow one delays only a few others. */
const AT_ONCE = 4;
/** The maximum number of steps per tenant and run, so that one tenant does not delay the others. */
const STEPS = 50;

export interface TenantsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly dataPlanes: DataPlanes;
  readonly log: Log;
}

/** A step for each tenant's data plane, repeated while it reports more work. */
export interface Round {
  /** The job's name in the audit and the log. */
  readonly job: string;
  readonly signal?: AbortSignal | undefined;
  readonly step: (plane: BoundPlane<Operations>, tenantId: string) => Promise<{ readonly more: boolean }>;
}

/** Of the given tenants, returns those that are not suspended. */
export const workedFor =
  ({ database }: Pick<TenantsOptions, 'database'>): FindTenants =>
  async (ids) =>
    (await database.read({ tenantId: null }, (tx) => new TenantStore(tx).among(ids)))
      .filter(({ status }) => status === 'active')
      .map(workedTenant);

/**
 * Runs a step for every tenant's data plane, repeated while it reports more work. Used for jobs that run once a day;
 * more frequent work is scheduled by the data plane itself. A failing data plane does not block the others; one whose
 * agent is disconnected is retried in the next run.
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
      if (!isAway(error)) log.error({ err: error, job, tenantId }, 'scheduled work failed for an organisation');
    }
  }
}
