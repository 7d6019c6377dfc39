import { LRUCache } from 'lru-cache';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { MemberStore } from '../store/members.js';
import { SubjectStore, type SubjectRecord } from '../store/subjects.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';

/** Names of members and subject companies, which contract data refers to by id. */
export interface Directory {
  of(tenantId: string): Promise<TenantDirectory>;
  /**
   * Called with the version that a request found when it was admitted: what the request gets from `of` is at least as
   * new, whichever process has changed it.
   */
  seen(tenantId: string, version: number): void;
}

export interface DirectoryMember {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly active: boolean;
}

/** A snapshot of a tenant's directory. */
export interface TenantDirectory {
  /** `null` for an id that the tenant does not have. */
  subjectName(id: string): string | null;
  /** Includes disabled members. `null` for an id that the tenant does not have. */
  memberName(id: string): string | null;
  /** In the order of creation. */
  subjects(): readonly SubjectRecord[];
  /** Includes disabled members. */
  members(): readonly DirectoryMember[];
  hasSubject(id: string): boolean;
  hasActiveMember(id: string): boolean;
}

/**
 * Work without a request sees changes by other processes within this time, in milliseconds; requests see all that were
 * made before them.
 */
const FRESH_MS = 5_000;
const MAX_TENANTS = 1_000;

export function createDirectory({
  database,
  clock,
  changes,
}: {
  database: Database;
  clock: Clock;
  changes: Changes;
}): Directory {
  // Promises are cached, not results, so that an entry evicted while loading is not added again.
  const known = new LRUCache<string, Entry>({ max: MAX_TENANTS });
  changes.listen((change) => {
    if (change.kind !== 'session') known.delete(change.tenantId);
  });

  return {
    of: (tenantId) => {
      const entry = known.get(tenantId);
      const now = clock.now();
      if (entry && now - entry.checkedAt < FRESH_MS) return entry.directory;
      const wanted = { atLeast: 0 };
      const loading = load(database, { tenantId, entry }).then((loaded) =>
        // It was read before a request that waits for it has seen a newer one.
        loaded.version < wanted.atLeast ? load(database, { tenantId, entry }) : loaded,
      );
      const loaded: Entry = { checkedAt: now, directory: loading, wanted, version: undefined };
      known.set(tenantId, loaded);
      loading.then(
        ({ version }) => (loaded.version = version),
        () => {
          // The error is handled where the promise is awaited; the next call tries again.
          if (known.peek(tenantId) === loaded) known.delete(tenantId);
        },
      );
      return loading;
    },

    seen: (tenantId, version) => {
      const entry = known.peek(tenantId);
      if (!entry) return;
      if (entry.version === undefined) entry.wanted.atLeast = Math.max(entry.wanted.atLeast, version);
      else if (entry.version < version) entry.checkedAt = -Infinity;
      else entry.checkedAt = clock.now();
    },
  };
}

interface Entry {
  checkedAt: number;
  readonly directory: Promise<Versioned>;
  /** While it is being read: the lowest version that it may have. */
  readonly wanted: { atLeast: number };
  /** Undefined while it is being read. */
  version: number | undefined;
}
type Versioned = TenantDirectory & { readonly version: number };

/** Reuses the previous directory while its version is current. */
async function load(
  database: Database,
  { tenantId, entry }: { tenantId: string; entry: Entry | undefined },
): Promise<Versioned> {
  const before = await entry?.directory.catch(() => undefined);
  return database.read({ tenantId: null }, async (tx) => {
    const version = (await new TenantStore(tx).directoryVersion(tenantId)) ?? 0;
    if (before && before.version === version) return before;
    const subjects = await new SubjectStore(tx, tenantId).all();
    const members = await new MemberStore(tx, tenantId).names();
    const subjectNames = new Map(subjects.map(({ id, name }) => [id, name]));
    const memberNames = new Map(members.map(({ id, name }) => [id, name]));
    const active = new Set(members.filter((member) => member.active).map(({ id }) => id));
    return {
      version,
      subjectName: (id) => subjectNames.get(id) ?? null,
      memberName: (id) => memberNames.get(id) ?? null,
      subjects: () => subjects,
      members: () => members,
      hasSubject: (id) => subjectNames.has(id),
      hasActiveMember: (id) => active.has(id),
    };
  });
}
