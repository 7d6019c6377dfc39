import { fail } from '../../data-plane-agent/base/failures.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';

/** Finds the data plane of a tenant. */
export interface DataPlanes {
  forTenant(tenantId: string): DataPlane<Operations>;
}

/** One data plane in this process, for all tenants. */
export const embedded = (plane: DataPlane<Operations>): DataPlanes => ({ forTenant: () => plane });

/**
 * Contract data is stored only by agents. A tenant without a connected agent is refused, never served from this
 * process.
 */
export const agentsOnly = (): DataPlanes => ({
  forTenant: () => ({ invoke: () => Promise.reject(fail('DATA_PLANE_NOT_CONNECTED', {})) }),
});
