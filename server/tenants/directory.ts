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

/** Changes by other replicas are visible within this time, in milliseconds; changes by this process immediately. */
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
      const loading = load(database, { tenantId, entry });
      known.set(tenantId, { checkedAt: now, directory: loading });
      loading.catch(() => {
        // The error is handled where the promise is awaited; the next call tries again.
        if (known.peek(tenantId)?.directory === loading) known.delete(tenantId);
      });
      return loading;
    },
  };
}

interface Entry {
  readonly checkedAt: number;
  readonly directory: Promise<Versioned>;
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
