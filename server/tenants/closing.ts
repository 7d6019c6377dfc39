import type { Clock } from '../../data-plane-agent/base/clock.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { Actor } from '../access/actor.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import type { Plane } from '../data-planes/plane.js';
import { systemCall } from '../data-planes/system-call.js';
import type { KeyedDatabase } from '../store/keyed-database.js';

/** Somebody waits for it. */
const TIMEOUT_MS = 10_000;

/** A removal over two databases: what the data plane says of the closing, and what the platform then does with it. */
interface Removal<T> {
  readonly tenantId: string;
  readonly close: (plane: Plane, closingId: string) => Promise<T>;
  /** Refuses where something names the record. */
  readonly remove: (closed: T) => Promise<void>;
}

/**
 * Removes what contract data may name: the data plane closes it first, so that nothing comes to name it meanwhile, and
 * opens it again where it stays.
 */
export type RemoveClosed = <T>(removal: Removal<T>, actor: Actor) => Promise<void>;

export function createRemoveClosed({
  database,
  clock,
  dataPlanes,
}: {
  database: KeyedDatabase;
  clock: Clock;
  dataPlanes: DataPlanes;
}): RemoveClosed {
  return async ({ tenantId, close, remove }, actor) => {
    if (await database.answered<null>(actor.keyed)) return;
    // Asked for by ourselves and under no key: what the data plane says must be so now.
    const plane = bind(
      dataPlanes.forTenant(tenantId),
      { ...systemCall({ tenantId, actor, at: clock.now() }), timeoutMs: TIMEOUT_MS },
      { operations: OPERATIONS },
    );
    const closingId = newId();
    const closed = await close(plane, closingId);
    await remove(closed).catch(async (error: unknown) => {
      // A refusal: it stays. Of anything else it is not known what came of it, and the data plane opens it again by
      // itself.
      if (isFailure(error)) await plane.reopenClosed({ closingId });
      throw error;
    });
  };
}
