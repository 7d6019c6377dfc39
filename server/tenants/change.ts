import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';

/** The result of a change: the answer, and the changed fields with before and after for the audit, without secrets. */
export interface Changed<T> {
  readonly answer: T;
  /** `null` if nothing changed; nothing is audited then. */
  readonly changed: Readonly<Record<string, unknown>> | null;
  readonly recordId?: string;
}

export interface Ask {
  readonly tenantId: string;
  readonly actor: Actor;
  /** What happened, in the past tense. */
  readonly action: string;
  readonly recordKind?: string;
  /** Set if names or states of members or subject companies change, which replicas cache. */
  readonly inDirectory?: boolean;
  /** The id of the audit row, if the caller needs it for the answer. */
  readonly auditId?: string;
}

/**
 * Changes a tenant's data in the platform database: locks the tenant, so that concurrent changes are serialised, and
 * writes the audit row in the same transaction. Afterwards cached copies are discarded; requests to other processes see
 * the change, too. An unknown tenant is NOT_FOUND.
 */
export type ChangeTenant = <T>(
  ask: Ask,
  work: (tx: Transaction, tenant: TenantRecord, at: number) => Promise<Changed<T>>,
) => Promise<T>;

export function createChange({
  database,
  clock,
  changes,
}: {
  database: Pick<KeyedDatabase, 'write'>;
  clock: Clock;
  changes: Changes;
}): ChangeTenant {
  return async (ask, work) => {
    const { tenantId, actor, action, recordKind = 'tenant', inDirectory = false } = ask;
    const result = await database.write({ tenantId: null, keyed: actor.keyed }, async (tx) => {
      const tenant = isId(tenantId) ? await new TenantStore(tx).lock(tenantId) : undefined;
      if (!tenant) throw fail('NOT_FOUND', {});
      const at = clock.now();
      const { answer, changed, recordId = tenantId } = await work(tx, tenant, at);
      if (changed && inDirectory) await new TenantStore(tx).touchDirectory(tenantId);
      if (changed)
        await new AuditStore(tx).append({
          id: ask.auditId ?? newId(), // generated under the lock: ids order events of the same millisecond
          tenantId,
          at,
          actor,
          action,
          recordKind,
          recordId,
          changes: changed,
        });
      return answer;
    });
    changes.notify({ kind: 'tenant', tenantId });
    return result;
  };
}

/** The fields of a patch that differ from the record, with before and after; `null` if there are none. */
export function differences<R extends object>(
  before: R,
  patch: Partial<R>,
): Record<string, { from: unknown; to: unknown }> | null {
  const changed = (Object.entries(patch) as [keyof R & string, unknown][]).filter(
    ([key, to]) => to !== undefined && JSON.stringify(to) !== JSON.stringify(before[key]),
  );
  return changed.length === 0 ? null : Object.fromEntries(changed.map(([key, to]) => [key, { from: before[key], to }]));
}
