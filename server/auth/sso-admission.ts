import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { asName } from '../../data-plane-agent/base/names.js';
import { normalCut } from '../../data-plane-agent/base/text.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SsoIdentityStore } from '../store/sso.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { actorOf, anonymousActor } from '../access/actor.js';
import type { Profile } from './sso-protocol.js';
import { signsInTo, vouchesFor, type SsoProvider } from './sso-providers.js';
import { isActiveAccount } from '../access/session-policy.js';

/** The user that a provider has authenticated, for one tenant. */
export interface Applicant {
  readonly tenantId: string;
  readonly provider: SsoProvider;
  readonly issuer: string;
  readonly subject: string;
  /** Not requested if the subject is already linked. */
  readonly profile: Profile | undefined;
}

export type Admission = { readonly member: MemberRecord; readonly isNew: boolean } | { readonly refused: string };

/**
 * Finds the member for a subject: the linked one; otherwise, once per issuer, an active member with the verified email
 * address, who is notified by mail; otherwise, if the provider allows it, a new member. Linking once means that a
 * reassigned address does not give access to the account. Every result is audited.
 */
export async function admit(
  tx: Transaction,
  applicant: Applicant,
  { at, request, mail }: Circumstances,
): Promise<Admission> {
  const admission = await find(tx, applicant, { at, request, mail });
  if ('refused' in admission) await auditRefusal(tx, { ...applicant, reason: admission.refused, at, request });
  return admission;
}

export async function auditRefusal(
  tx: Transaction,
  {
    tenantId,
    provider,
    reason,
    at,
    request,
  }: { tenantId: string; provider: Pick<SsoProvider, 'id'>; reason: string; at: number; request: RequestInfo },
): Promise<void> {
  await new AuditStore(tx).append({
    tenantId,
    at,
    actor: anonymousActor(request),
    action: 'sso_refused',
    recordKind: 'sso_provider',
    recordId: provider.id,
    changes: { reason },
  });
}

interface Circumstances {
  readonly at: number;
  readonly request: RequestInfo;
  readonly mail: MailOutbox;
}

async function find(tx: Transaction, applicant: Applicant, { at, request, mail }: Circumstances): Promise<Admission> {
  const { tenantId, issuer, subject, profile, provider } = applicant;
  const tenant = await new TenantStore(tx).byId(tenantId);
  if (!tenant || tenant.status !== 'active') return { refused: 'tenant_suspended' };
  // Checked at the start too, but the settings may have changed since.
  if (!signsInTo(provider, tenant.slug)) return { refused: 'provider_of_other_tenants' };
  const identities = new SsoIdentityStore(tx, tenantId);
  const members = new MemberStore(tx, tenantId);

  const linkedTo = await identities.memberOf({ issuer, subject });
  const linked = linkedTo === undefined ? undefined : await members.byId(linkedTo);
  if (linked)
    return isActiveAccount({ tenant, member: linked })
      ? { member: linked, isNew: false }
      : { refused: 'member_disabled' };

  const email = profile?.verifiedEmail;
  if (email === undefined) return { refused: 'no_verified_email' };
  if (!vouchesFor(provider, email)) return { refused: 'email_domain_not_allowed' };
  const known = await members.byEmail(email);
  const made = known ? undefined : await provision(tx, { applicant, email, at, request });
  // A concurrent request of the same browser may have created the member or the link.
  const member = known ?? made ?? (await members.byEmail(email));
  if (!member) return { refused: 'not_a_member' };
  if (member.status !== 'active') return { refused: 'member_disabled' };
  if (await identities.link({ issuer, subject, memberId: member.id, at })) {
    await new AuditStore(tx).append({
      tenantId,
      at,
      actor: actorOf(member, request),
      action: 'sso_linked',
      recordKind: 'member',
      recordId: member.id,
      changes: { provider: provider.id, issuer, email },
    });
    if (known) await notifyOfLink(tx, { member, tenant, provider, mail });
  } else if ((await identities.memberOf({ issuer, subject })) !== member.id)
    return { refused: 'linked_to_another_subject' };
  return { member, isNew: made !== undefined };
}

/** Notifies the member, who may not have linked the account themselves. */
const notifyOfLink = (
  tx: Transaction,
  {
    member,
    tenant,
    provider,
    mail,
  }: { member: MemberRecord; tenant: TenantRecord; provider: SsoProvider; mail: MailOutbox },
): Promise<void> =>
  mail.enqueue(tx, {
    tenantId: tenant.id,
    to: member.email,
    template: 'sso_linked',
    language: languageOf({ tenant, member }),
    values: { tenantName: tenant.name, providerName: provider.name },
    about: { kind: 'member', id: member.id },
  });

/** Creates the member if the provider allows it. The caller has checked the email's domain. */
async function provision(
  tx: Transaction,
  {
    applicant: { tenantId, provider, profile },
    email,
    at,
    request,
  }: { applicant: Applicant; email: string; at: number; request: RequestInfo },
): Promise<MemberRecord | undefined> {
  const roleCode = provider.autoProvisionRoleCode;
  if (
    roleCode === null ||
    provider.allowedDomains.length === 0 ||
    !(await new RoleStore(tx, tenantId).exists(roleCode))
  )
    return undefined;
  const member: MemberRecord = {
    id: newId(),
    tenantId,
    email,
    name: nameOf(asName(profile?.name ?? ''), email),
    nameProfile: null,
    status: 'active',
    roleCode,
    subjectScope: null,
    preferences: {},
    passwordHash: null,
    lastLoginAt: null,
    createdAt: at,
    updatedAt: at,
  };
  if (!(await new MemberStore(tx, tenantId).insert(member))) return undefined;
  await new TenantStore(tx).touchDirectory(tenantId);
  await new AuditStore(tx).append({
    tenantId,
    at,
    actor: actorOf(member, request),
    action: 'member_added',
    recordKind: 'member',
    recordId: member.id,
    changes: { email, name: member.name, roleCode, subjectScope: null, provider: provider.id },
  });
  return member;
}

/** The name given by the provider, normalised and shortened; otherwise the local part of the email address. */
function nameOf(given: string | undefined, email: string): string {
  const plain = normalCut(given ?? '', { max: 1_000 })
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  const name = plain === '' ? email.slice(0, email.lastIndexOf('@')) : plain;
  return [...name].slice(0, 100).join('').slice(0, 100).toWellFormed().trim();
}
