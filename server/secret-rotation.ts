import type { Clock } from '../data-plane-agent/base/clock.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import {
  countSeals,
  reseal,
  type SealCount,
  type SealedColumn,
} from '../data-plane-agent/base/database/sealed-columns.js';
import type { KeyRing } from '../data-plane-agent/base/secrets.js';
import { TENANT_SEALED_COLUMNS } from '../data-plane-agent/host/sealed-columns.js';
import type { Actor } from './access/actor.js';
import { AuditStore } from './store/audit.js';
import { PLATFORM_SEALED_COLUMNS } from './store/sealed-columns.js';
import { TenantStore } from './store/tenants.js';
import { sealTargets } from './tenants/sealed-targets.js';

/** The databases of this installation; agents encrypt their data with their own keys. */
export interface SealedDatabases {
  readonly platform: Database;
  readonly tenant: Database | undefined;
}

export interface PlacedSealCount extends SealCount {
  readonly database: 'platform' | 'tenant';
}

/** Counts the rows of every sealed column by key. */
export async function sealStatus(databases: SealedDatabases): Promise<PlacedSealCount[]> {
  const totals = new Map<string, PlacedSealCount>();
  for (const { name, database, tenantId, columns } of await placesOf(databases)) {
    for (const count of await countSeals({ database, tenantId }, columns)) {
      const key = [name, count.table, count.column, count.keyId].join('/');
      totals.set(key, { database: name, ...count, rows: count.rows + (totals.get(key)?.rows ?? 0) });
    }
  }
  return [...totals.values()];
}

/**
 * Re-encrypts all values that were sealed with another key than the active one, and encrypts those that are stored in
 * plain text. May be interrupted and repeated at any time. `unreadable` counts values that no key decrypts;
 * `onProgress` gets the number of values done so far.
 */
export async function resealEverything(
  databases: SealedDatabases,
  {
    keyRing,
    clock,
    actor,
    onProgress,
  }: { keyRing: KeyRing; clock: Clock; actor: Actor; onProgress: (rows: number) => void },
): Promise<{ resealed: number; unreadable: number }> {
  let resealed = await sealTargets(databases.platform, keyRing);
  let unreadable = 0;
  for (const { database, tenantId, columns } of await placesOf(databases)) {
    for (const column of columns) {
      const done = await reseal({ database, tenantId }, column, {
        keyRing,
        onProgress: (rows) => onProgress((resealed += rows)),
      });
      unreadable += done.unreadable;
    }
  }
  await databases.platform.write({ tenantId: null }, (tx) =>
    new AuditStore(tx).append({
      tenantId: null,
      at: clock.now(),
      actor,
      action: 'secrets_reencrypted',
      recordKind: 'key_ring',
      recordId: null,
      changes: { keyId: keyRing.active, resealed, unreadable },
    }),
  );
  return { resealed, unreadable };
}

interface SealedTable {
  readonly name: 'platform' | 'tenant';
  readonly database: Database;
  readonly tenantId: string | null;
  readonly columns: readonly SealedColumn[];
}

/** Row-level security limits each query of the tenant database to one tenant. */
async function placesOf({ platform, tenant }: SealedDatabases): Promise<SealedTable[]> {
  const places: SealedTable[] = [
    { name: 'platform', database: platform, tenantId: null, columns: PLATFORM_SEALED_COLUMNS },
  ];
  if (!tenant) return places;
  const ids = await platform.read({ tenantId: null }, (tx) => new TenantStore(tx).ids());
  return [
    ...places,
    ...ids.map((tenantId): SealedTable => ({
      name: 'tenant',
      database: tenant,
      tenantId,
      columns: TENANT_SEALED_COLUMNS,
    })),
  ];
}
