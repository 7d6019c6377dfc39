import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { PlanCode } from '../auth/permissions.js';
import type { Passwords } from '../auth/passwords.js';
import { AuditStore, type Actor } from '../store/audit.js';
import { SubjectStore, type SubjectRecord } from '../store/subjects.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Changes } from './changes.js';
import { createMembers, type Members } from './members.js';
import { insertTenant, type NewTenant, type TenantDraft } from './new-tenant.js';
import { checkSettings, settingsOf, type Settings } from './settings.js';

/** Tenants and what belongs to them. Each change is audited in its own transaction and bites on the next request. An unknown tenant is NOT_FOUND. */
export interface Tenants {
  /** A tenant with built-in roles, first subject company and owner. Throws TENANT_SLUG_TAKEN. Not bound by the public rules: the CLI and the demo call it. */
  create(draft: Omit<TenantDraft, 'owner'> & { readonly owner: Omit<TenantDraft['owner'], 'passwordHash'> & { readonly password: string } }, actor: Actor): Promise<NewTenant>;
  bySlug(slug: string): Promise<TenantRecord | undefined>;
  setPlan(change: { readonly tenantId: string; readonly planCode: PlanCode }, actor: Actor): Promise<void>;
  /** Changes the given settings and answers all of them. Throws INVALID_INPUT. */
  updateSettings(change: { readonly tenantId: string; readonly settings: Partial<Settings> }, actor: Actor): Promise<Settings>;
  readonly members: Members;
  readonly subjects: {
    add(subject: { readonly tenantId: string; readonly name: string } & Partial<Pick<SubjectRecord, 'legalName' | 'taxNo' | 'defaultPayeeAccount' | 'defaultPayeeBank'>>, actor: Actor): Promise<SubjectRecord>;
  };
}

export function createTenants({ database, clock, passwords, changes }: { database: Database; clock: Clock; passwords: Passwords; changes: Changes }): Tenants {
  const change = async <T>(
    { tenantId, actor, action }: { tenantId: string; actor: Actor; action: string },
    work: (tx: Transaction, tenant: TenantRecord, at: number) => Promise<{ answer: T; changed: Readonly<Record<string, unknown>>; recordKind?: string; recordId?: string }>,
  ): Promise<T> => {
    const result = await database.write({ tenantId: null }, async (tx) => {
      const tenant = isId(tenantId) ? await new TenantStore(tx).byId(tenantId) : undefined;
      if (!tenant) throw fail('NOT_FOUND', {});
      const at = clock.now();
      const { answer, changed, recordKind = 'tenant', recordId = tenantId } = await work(tx, tenant, at);
      await new AuditStore(tx).append({ tenantId, at, actor, action, recordKind, recordId, changes: changed });
      return answer;
    });
    changes.tell({ kind: 'tenant', tenantId });
    return result;
  };

  return {
    create: async ({ owner: { password, ...owner }, ...draft }, actor) => {
      const passwordHash = await passwords.hash(password);
      const email = owner.email.trim().toLowerCase();
      return database.write({ tenantId: null }, (tx) => insertTenant(tx, { ...draft, owner: { ...owner, email, passwordHash } }, { at: clock.now(), actor }));
    },

    bySlug: (slug) => database.read({ tenantId: null }, (tx) => new TenantStore(tx).bySlug(slug)),

    setPlan: ({ tenantId, planCode }, actor) =>
      change({ tenantId, actor, action: 'tenant_plan_changed' }, async (tx, tenant, at) => {
        await new TenantStore(tx).setPlan({ id: tenantId, planCode, at });
        return { answer: undefined, changed: { planCode: { from: tenant.planCode, to: planCode } } };
      }),

    updateSettings: ({ tenantId, settings }, actor) => {
      const patch = checkSettings(settings);
      return change({ tenantId, actor, action: 'tenant_settings_changed' }, async (tx, tenant, at) => {
        const store = new TenantStore(tx);
        const stored = (await store.lockSettings(tenantId)) ?? tenant.settings;
        await store.setSettings({ id: tenantId, settings: { ...stored, ...patch }, at });
        return { answer: settingsOf({ ...stored, ...patch }), changed: changedSettings(settingsOf(stored), patch) };
      });
    },

    members: createMembers({ database, clock, passwords, changes }),

    subjects: {
      add: ({ tenantId, name, legalName = null, taxNo = null, defaultPayeeAccount = null, defaultPayeeBank = null }, actor) =>
        change({ tenantId, actor, action: 'subject_added' }, async (tx, _tenant, at) => {
          const subject: SubjectRecord = { id: newId(), name, legalName, taxNo, defaultPayeeAccount, defaultPayeeBank, createdAt: at, updatedAt: at };
          await new SubjectStore(tx, tenantId).insert(subject);
          await new TenantStore(tx).touchDirectory(tenantId);
          return { answer: subject, changed: { name, legalName, taxNo }, recordKind: 'subject', recordId: subject.id };
        }),
    },
  };
}

function changedSettings(before: Settings, patch: Partial<Settings>): Record<string, unknown> {
  const values = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(patch).map(([key, to]) => [key, { from: values[key], to }]));
}
