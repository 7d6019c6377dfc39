import type { Database } from '../../data-plane-agent/base/database/database.js';
import { RoleStore } from '../store/roles.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';

export type { TenantRecord };

/** Finds organisations, for callers that work on all of them or know a slug. */
export interface TenantLookup {
  /** Whether there is any organisation. */
  any(): Promise<boolean>;
  /** By slug. */
  all(): Promise<TenantRecord[]>;
  bySlug(slug: string): Promise<TenantRecord | undefined>;
  /** The codes of the organisation's roles, in their order. */
  roleCodes(tenantId: string): Promise<string[]>;
}

export function createTenantLookup({ database }: { database: Pick<Database, 'read'> }): TenantLookup {
  const scope = { tenantId: null };
  return {
    any: () => database.read(scope, (tx) => new TenantStore(tx).any()),
    all: () => database.read(scope, (tx) => new TenantStore(tx).all()),
    bySlug: (slug) => database.read(scope, (tx) => new TenantStore(tx).bySlug(slug)),
    roleCodes: async (tenantId) =>
      (await database.read(scope, (tx) => new RoleStore(tx, tenantId).all())).map(({ code }) => code),
  };
}
