import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { PlanCode } from '../access/permissions.js';
import type { NameProfile } from '../access/person.schemas.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SubjectStore } from '../store/subjects.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { BUILT_IN_ROLES, OWNER } from './roles.js';
import type { Settings } from '../access/settings.schemas.js';

export interface TenantDraft {
  readonly slug: string;
  readonly name: string;
  readonly planCode: PlanCode;
  /** The name of the first subject company; defaults to the tenant's name. */
  readonly subjectName?: string | null | undefined;
  readonly settings?: Partial<Settings>;
  readonly owner: {
    readonly name: string;
    readonly nameProfile?: NameProfile | null | undefined;
    readonly email: string;
    readonly passwordHash: string | null;
  };
}

export interface NewTenant {
  readonly tenant: TenantRecord;
  readonly owner: MemberRecord;
  readonly subjectId: string;
}

/**
 * Creates a tenant with its built-in roles, first subject company and owner, in the caller's transaction. Throws
 * TENANT_SLUG_TAKEN. If the actor has no identity (registration), the new owner is the actor.
 */
export async function insertTenant(
  tx: Transaction,
  draft: TenantDraft,
  { at, actor }: { at: number; actor: Actor | Pick<Actor, 'ip' | 'requestId'> },
): Promise<NewTenant> {
  const tenant: TenantRecord = {
    id: newId(),
    slug: draft.slug,
    name: draft.name,
    planCode: draft.planCode,
    status: 'active',
    settings: draft.settings ?? {},
    createdAt: at,
    updatedAt: at,
  };
  if (!(await new TenantStore(tx).insert(tenant))) throw fail('TENANT_SLUG_TAKEN', { tenantSlug: draft.slug });
  const roles = new RoleStore(tx, tenant.id);
  for (const [position, role] of BUILT_IN_ROLES.entries()) await roles.insert({ role, position, at });
  const subjectId = newId();
  await new SubjectStore(tx, tenant.id).insert({
    id: subjectId,
    name: draft.subjectName ?? draft.name,
    legalName: null,
    taxNo: null,
    defaultPayeeAccount: null,
    defaultPayeeBank: null,
    createdAt: at,
    updatedAt: at,
  });
  const owner: MemberRecord = {
    id: newId(),
    tenantId: tenant.id,
    email: draft.owner.email,
    name: draft.owner.name,
    nameProfile: draft.owner.nameProfile ?? null,
    status: 'active',
    roleCode: OWNER,
    subjectScope: null,
    preferences: {},
    passwordHash: draft.owner.passwordHash,
    lastLoginAt: null,
    createdAt: at,
    updatedAt: at,
  };
  await new MemberStore(tx, tenant.id).insert(owner);
  await new AuditStore(tx).append({
    tenantId: tenant.id,
    at,
    actor: 'kind' in actor ? actor : { ...actor, kind: 'user', id: owner.id, name: owner.name },
    action: 'tenant_created',
    recordKind: 'tenant',
    recordId: tenant.id,
    changes: { slug: tenant.slug, name: tenant.name, planCode: tenant.planCode, ownerId: owner.id, subjectId },
  });
  return { tenant, owner, subjectId };
}
