import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { PlanCode } from '../access/permissions.js';
import type { Actor } from '../access/actor.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { MemberStore } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { createChange } from './change.js';
import type { Changes } from '../access/changes.js';
import { OWNER } from './roles.js';

/** A tenant as shown to operators. */
export interface TenantOverview extends TenantRecord {
  readonly ownerEmail: string | null;
  readonly members: { readonly active: number; readonly disabled: number };
  /** The number of active sessions. */
  readonly sessions: number;
  readonly lastLoginAt: number | null;
}

/**
 * Operations of an operator on whole organisations. Each change is audited; an unknown slug is NOT_FOUND. Running
 * servers apply the changes to the next request.
 */
export interface TenantOperator {
  /** By slug. */
  list(): Promise<TenantRecord[]>;
  show(slug: string): Promise<TenantOverview>;
  setPlan(change: { readonly slug: string; readonly planCode: PlanCode }, actor: Actor): Promise<void>;
  /** Members of a suspended organisation cannot sign in, and its sessions are refused; its data is kept. */
  setStatus(change: { readonly slug: string; readonly status: TenantRecord['status'] }, actor: Actor): Promise<void>;
}

export function createTenantOperator({
  database,
  clock,
  changes,
}: {
  database: Pick<KeyedDatabase, 'read' | 'write'>;
  clock: Clock;
  changes: Changes;
}): TenantOperator {
  const change = createChange({ database, clock, changes });
  const read = <T>(slug: string, work: (tx: Transaction, tenant: TenantRecord) => Promise<T>): Promise<T> =>
    database.read({ tenantId: null }, async (tx) => {
      const tenant = await new TenantStore(tx).bySlug(slug);
      if (!tenant) throw fail('NOT_FOUND', {});
      return work(tx, tenant);
    });
  const idOf = (slug: string) => read(slug, (_tx, { id }) => Promise.resolve(id));

  return {
    list: () => database.read({ tenantId: null }, (tx) => new TenantStore(tx).all()),

    show: (slug) =>
      read(slug, async (tx, tenant) => {
        const members = await new MemberStore(tx, tenant.id).list();
        const active = members.filter(({ status }) => status === 'active').length;
        return {
          ...tenant,
          ownerEmail: members.find(({ roleCode }) => roleCode === OWNER)?.email ?? null,
          members: { active, disabled: members.length - active },
          sessions: await new SessionStore(tx).countLive({ tenantId: tenant.id, at: clock.now() }),
          lastLoginAt: members.reduce<number | null>(
            (last, { lastLoginAt }) => (lastLoginAt === null ? last : Math.max(last ?? 0, lastLoginAt)),
            null,
          ),
        };
      }),

    setPlan: async ({ slug, planCode }, actor) =>
      change({ tenantId: await idOf(slug), actor, action: 'tenant_plan_changed' }, async (tx, tenant, at) => {
        if (tenant.planCode === planCode) return { answer: undefined, changed: null };
        await new TenantStore(tx).setPlan({ id: tenant.id, planCode, at });
        return { answer: undefined, changed: { planCode: { from: tenant.planCode, to: planCode } } };
      }),

    setStatus: async ({ slug, status }, actor) =>
      change(
        { tenantId: await idOf(slug), actor, action: status === 'suspended' ? 'tenant_suspended' : 'tenant_resumed' },
        async (tx, tenant, at) => {
          if (tenant.status === status) return { answer: undefined, changed: null };
          await new TenantStore(tx).setStatus({ id: tenant.id, status, at });
          return { answer: undefined, changed: { status: { from: tenant.status, to: status } } };
        },
      ),
  };
}
