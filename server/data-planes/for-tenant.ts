import { fail } from '../../data-plane-agent/base/failures.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';

/** Where a tenant's contract data is. */
export interface DataPlanes {
  forTenant(tenantId: string): DataPlane<Operations>;
}

/** One data plane, in this process, for every tenant. */
export const embedded = (plane: DataPlane<Operations>): DataPlanes => ({ forTenant: () => plane });

/** Contract data is only behind agents. A tenant whose agent is not there is refused, and never served from here. */
export const agentsOnly = (): DataPlanes => ({
  forTenant: () => ({ invoke: () => Promise.reject(fail('DATA_PLANE_NOT_CONNECTED', {})) }),
});
