import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';

export type OperationName = keyof Operations;

/** The tenant's data plane, bound to the caller of one request. */
export type Plane = BoundPlane<Operations>;
