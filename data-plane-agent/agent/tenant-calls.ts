import { newId } from '../base/ids.js';
import { bind, type BoundPlane, type DataPlane } from '../plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../plane/operations/index.js';
import type { FindTenants } from '../host/upkeep.js';
import { systemCall } from '../host/system-call.js';
import type { AgentIdentity } from './identity.js';

/** The organisation of this agent, if its jobs are to run now. Jobs of a suspended organisation wait. */
export const linkedTenant =
  (identity: Pick<AgentIdentity, 'tenant'>): FindTenants =>
  (ids) => {
    const { tenant } = identity;
    return Promise.resolve(tenant.active && ids.includes(tenant.id) ? [tenant] : []);
  };

/** The plane, called by a job of the agent. */
export const planeOfJob = (
  plane: DataPlane<Operations>,
  {
    identity,
    job,
    at,
    signal,
  }: {
    readonly identity: Pick<AgentIdentity, 'tenant'>;
    readonly job: string;
    readonly at: number;
    readonly signal?: AbortSignal | undefined;
  },
): BoundPlane<Operations> =>
  bind(
    plane,
    systemCall({
      tenant: identity.tenant,
      actor: { kind: 'system', id: null, name: job, ip: null },
      requestId: newId(),
      at,
    }),
    { operations: OPERATIONS, signal },
  );
