import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { TenantStore } from '../store/tenants.js';
import type { DataPlanes } from './for-tenant.js';
import { systemCall } from './system-call.js';

/** The data plane of an organisation, bound to a call by the system under the name. Throws NOT_FOUND. */
export const systemPlanes =
  (
    {
      database,
      clock,
      dataPlanes,
    }: { readonly database: Database; readonly clock: Clock; readonly dataPlanes: DataPlanes },
    name: string,
  ) =>
  async (tenantId: string): Promise<BoundPlane<Operations>> => {
    const tenant = await database.read({ tenantId: null }, (tx) => new TenantStore(tx).byId(tenantId));
    if (!tenant) throw fail('NOT_FOUND', {});
    const call = systemCall({
      tenantId,
      settings: tenant.settings,
      actor: { kind: 'system', id: null, name, ip: null, requestId: newId() },
      at: clock.now(),
    });
    return bind(dataPlanes.forTenant(tenantId), call, { operations: OPERATIONS });
  };
