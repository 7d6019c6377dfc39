import { fail } from '../../data-plane-agent/base/failures.js';
import { inSpan } from '../../data-plane-agent/base/tracing/spans.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { operationSpan } from '../../data-plane-agent/plane/contract/operation-span.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';

/** Finds the data plane of a tenant. */
export interface DataPlanes {
  forTenant(tenantId: string): DataPlane<Operations>;
}

/** One data plane in this process, for all tenants. */
export function embedded(plane: DataPlane<Operations>): DataPlanes {
  const traced: DataPlane<Operations> = {
    invoke: (name, asking, input) =>
      inSpan(operationSpan('internal', { name, call: asking.call }), async (span) => {
        const answer = await plane.invoke(name, asking, input);
        span?.add({ 'duebook.outcome': 'ok' });
        return answer;
      }),
  };
  return { forTenant: () => traced };
}

/**
 * Contract data is stored only by agents. A tenant without a connected agent is refused, never served from this
 * process.
 */
export const agentsOnly = (): DataPlanes => ({
  forTenant: () => ({ invoke: () => Promise.reject(fail('DATA_PLANE_NOT_CONNECTED', {})) }),
});
