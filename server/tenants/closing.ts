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

/** Short, because the caller waits for the answer. */
const TIMEOUT_MS = 10_000;

/** A deletion across two databases: the data plane closes the record, then the platform deletes it. */
interface Removal<T> {
  readonly tenantId: string;
  readonly close: (plane: Plane, closingId: string) => Promise<T>;
  /** Throws if the record is still referenced. */
  readonly remove: (closed: T) => Promise<void>;
}

/**
 * Deletes a record that contract data may refer to: the data plane closes it first, so that no new reference is
 * created, and reopens it if it is not deleted.
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
    // Not under the client's idempotency key: the answer of the data plane must be current.
    const plane = bind(
      dataPlanes.forTenant(tenantId),
      { ...systemCall({ tenantId, actor, at: clock.now() }), timeoutMs: TIMEOUT_MS },
      { operations: OPERATIONS },
    );
    const closingId = newId();
    const closed = await close(plane, closingId);
    await remove(closed).catch(async (error: unknown) => {
      // After a refusal the record remains. After any other error the result is unknown, and the data plane reopens the
      // record itself.
      if (isFailure(error)) await plane.reopenClosed({ closingId });
      throw error;
    });
  };
}
