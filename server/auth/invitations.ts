import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import { AuditStore } from '../store/audit.js';
import { findInvitation, InvitationStore, type InvitationRecord } from '../store/invitations.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { LoginFailureStore } from '../store/login-failures.js';
import { MailStore, type MailStatus } from '../store/mail.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { SubjectStore } from '../store/subjects.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import { administers, checkRole, checkScope, mayInvite } from '../tenants/member-rules.js';
import type { PasswordPolicy } from '../credentials/password-policy.js';
import type { Passwords } from '../credentials/passwords.js';
import type { Principal } from '../access/principal.js';
import { actorOf } from '../access/actor.js';
import type { SessionIssue } from './session-issue.js';
import type { NameProfile } from '../access/person.schemas.js';
import type { AuthLoginResult } from './auth.schemas.js';
import { newToken, refusedToken, tokenHash, tokenLink } from './single-use.js';
import { isActiveAccount } from '../access/session-policy.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';

/**
 * Invitations of members to an existing tenant. An unknown or accepted invitation is NOT_FOUND. A tenant can send 100
 * an hour, including those sent again.
 */
export interface Invitations {
  /**
   * A role with admin (edit) requires a recent sign-in, as in `resend`: RECENT_LOGIN_REQUIRED. Throws
   * OWNER_TRANSFER_REQUIRED, REFERENCE_INVALID, MEMBER_EXISTS, INVITATION_OPEN, RATE_LIMITED.
   */
  create(
    invitation: { readonly email: string; readonly roleCode: string; readonly subjectScope: readonly string[] | null },
    principal: Principal,
    request: RequestInfo,
  ): Promise<SentInvitation>;
  /** Invitations that were not accepted, including expired ones; newest first, at most 1 000. */
  list(tenantId: string): Promise<Invitation[]>;
  /**
   * Sends a new token, valid for another seven days; the previous one becomes invalid. The caller becomes the inviter.
   * Throws RECENT_LOGIN_REQUIRED, MEMBER_EXISTS, RATE_LIMITED.
   */
  resend(invitation: { readonly id: string }, principal: Principal, request: RequestInfo): Promise<SentInvitation>;
  withdraw(invitation: { readonly id: string }, principal: Principal, request: RequestInfo): Promise<void>;
  /**
   * Creates the member with the invitation's address, role and scope, and signs them in. Throws TOKEN_INVALID, also if
   * the inviter is no longer an active member with permission to invite; PASSWORD_TOO_WEAK, MEMBER_EXISTS.
   */
  accept(acceptance: Acceptance, request: RequestInfo): Promise<AuthLoginResult>;
}

export interface Acceptance {
  readonly token: string;
  /** If given, the token must belong to this tenant. */
  readonly tenantSlug: string | null;
  readonly name: string;
  readonly nameProfile: NameProfile | null;
  readonly password: string;
}

export interface Invitation extends InvitationRecord {
  readonly status: 'open' | 'expired';
  readonly deliveryStatus: Exclude<MailStatus, 'void'>;
}

export interface SentInvitation extends Invitation {
  /** Returned once, and only if no mail server is configured. */
  readonly inviteLink: string | null;
}

const DAYS = 7;
const DAY_MS = 24 * 3_600_000;
const ABOUT = 'invitation';
/** Each invitation sends mail in our name to an arbitrary address. */
const PER_HOUR = 100;
const HOUR_MS = 3_600_000;

export function createInvitations({
  database,
  clock,
  passwords,
  policy,
  issue,
  mail,
  signInMethods,
  changes,
  publicUrl,
}: {
  database: KeyedDatabase;
  clock: Clock;
  passwords: Passwords;
  policy: PasswordPolicy;
  issue: SessionIssue;
  mail: MailOutbox;
  signInMethods: Pick<SignInMethods, 'requireRecentLogin'>;
  changes: Changes;
  publicUrl: string;
}): Invitations {
  const scope = { tenantId: null };

  /** Enqueues the mail and returns the invitation with its delivery status. */
  const send = async (
    tx: Transaction,
    {
      invitation,
      token,
      principal: { tenant, user },
    }: { invitation: InvitationRecord; token: string; principal: Principal },
  ): Promise<SentInvitation> => {
    await countOne(tx, { tenantId: tenant.id, at: invitation.updatedAt });
    const link = tokenLink({ publicUrl, page: 'accept-invitation', token, tenantSlug: tenant.slug });
    const about = { kind: ABOUT, id: invitation.id };
    const language = languageOf({ tenant: await new TenantStore(tx).byId(tenant.id) });
    // Mail that has not been sent contains the previous token.
    await mail.withdraw(tx, { tenantId: tenant.id, template: 'invitation', about });
    await mail.enqueue(tx, {
      tenantId: tenant.id,
      to: invitation.email,
      template: 'invitation',
      language,
      values: { tenantName: tenant.name, inviterName: user.name, link, days: DAYS },
      about,
      notAfter: invitation.expiresAt,
    });
    return {
      ...invitation,
      status: 'open',
      deliveryStatus: mail.configured ? 'queued' : 'not_sent',
      inviteLink: mail.configured ? null : link,
    };
  };

  const refuseMember = async (
    tx: Transaction,
    { tenantId, email }: { tenantId: string; email: string },
  ): Promise<void> => {
    if (await new MemberStore(tx, tenantId).byEmail(email)) throw fail('MEMBER_EXISTS', { email });
  };

  /** Inviting an administrator gives permanent access. */
  const checkRecent = async (
    tx: Transaction,
    { roleCode, principal }: { roleCode: string; principal: Principal },
  ): Promise<void> => {
    if (await administers(tx, { tenantId: principal.tenant.id, roleCode }))
      await signInMethods.requireRecentLogin(tx, principal);
  };

  /** Returns the invitation of a valid token, with its tenant. */
  const find = async (
    tx: Transaction,
    { token, tenantSlug }: Pick<Acceptance, 'token' | 'tenantSlug'>,
  ): Promise<{ invitation: InvitationRecord; tenant: TenantRecord } | undefined> => {
    const invitation = await findInvitation(tx, tokenHash(token));
    if (!invitation || invitation.expiresAt <= clock.now()) return undefined;
    const tenant = await new TenantStore(tx).byId(invitation.tenantId);
    if (!tenant || (tenantSlug !== null && tenant.slug !== tenantSlug)) return undefined;
    if (!isActiveAccount({ tenant, member: { status: 'active' } })) return undefined;
    const { tenantId, invitedBy: inviterId, roleCode } = invitation;
    return (await mayInvite(tx, { tenantId, inviterId, roleCode })) ? { invitation, tenant } : undefined;
  };

  return {
    create: ({ email, roleCode, subjectScope: given }, principal, request) =>
      database.write({ ...scope, keyed: request.keyed }, async (tx) => {
        const { tenant, user } = principal;
        await checkRole(tx, { tenantId: tenant.id, roleCode });
        await checkRecent(tx, { roleCode, principal });
        await checkScope(tx, { tenantId: tenant.id, subjectScope: given });
        const subjectScope = given && [...new Set(given)];
        await refuseMember(tx, { tenantId: tenant.id, email });
        const at = clock.now();
        const { token, tokenHash: hash } = newToken();
        const invitation: InvitationRecord = {
          id: newId(),
          tenantId: tenant.id,
          email,
          roleCode,
          subjectScope,
          expiresAt: at + DAYS * DAY_MS,
          invitedBy: user.id,
          createdAt: at,
          updatedAt: at,
        };
        if (!(await new InvitationStore(tx, tenant.id).insert({ ...invitation, tokenHash: hash })))
          throw fail('INVITATION_OPEN', { email });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action: 'invitation_created',
          recordKind: ABOUT,
          recordId: invitation.id,
          changes: { email, roleCode, subjectScope },
        });
        return send(tx, { invitation, token, principal });
      }),

    list: (tenantId) =>
      database.read(scope, async (tx) => {
        const at = clock.now();
        const statuses = await new MailStore(tx).statuses({ tenantId, aboutKind: ABOUT });
        return (await new InvitationStore(tx, tenantId).all({ limit: 1_000 })).map((invitation) => {
          const delivery = statuses.get(invitation.id) ?? 'not_sent';
          return {
            ...invitation,
            status: invitation.expiresAt > at ? 'open' : 'expired',
            deliveryStatus: delivery === 'void' ? 'not_sent' : delivery,
          };
        });
      }),

    resend: ({ id }, principal, request) =>
      database.write({ ...scope, keyed: request.keyed }, async (tx) => {
        const { tenant, user } = principal;
        const store = new InvitationStore(tx, tenant.id);
        const invitation = await store.byId(id);
        if (!invitation) throw fail('NOT_FOUND', {});
        await checkRecent(tx, { roleCode: invitation.roleCode, principal });
        await refuseMember(tx, { tenantId: tenant.id, email: invitation.email });
        const at = clock.now();
        const expiresAt = at + DAYS * DAY_MS;
        const { token, tokenHash: hash } = newToken();
        if (!(await store.renew({ id, tokenHash: hash, invitedBy: user.id, expiresAt, at })))
          throw fail('NOT_FOUND', {});
        const vouches =
          invitation.invitedBy === user.id ? {} : { invitedBy: { from: invitation.invitedBy, to: user.id } };
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action: 'invitation_resent',
          recordKind: ABOUT,
          recordId: id,
          changes: { email: invitation.email, ...vouches },
        });
        return send(tx, {
          invitation: { ...invitation, invitedBy: user.id, expiresAt, updatedAt: at },
          token,
          principal,
        });
      }),

    withdraw: ({ id }, { tenant, user }, request) =>
      database.write({ ...scope, keyed: request.keyed }, async (tx) => {
        const store = new InvitationStore(tx, tenant.id);
        const invitation = await store.byId(id);
        if (!invitation || !(await store.delete(id))) throw fail('NOT_FOUND', {});
        await mail.withdraw(tx, { tenantId: tenant.id, template: 'invitation', about: { kind: ABOUT, id } });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at: clock.now(),
          actor: actorOf(user, request),
          action: 'invitation_withdrawn',
          recordKind: ABOUT,
          recordId: id,
          changes: { email: invitation.email },
        });
      }),

    accept: async ({ token, tenantSlug, name, nameProfile, password }, request) => {
      const found = await database.read(scope, (tx) => find(tx, { token, tenantSlug }));
      if (!found) throw await refusedToken({ database, clock, kind: 'invitation', tenantId: null, request });
      await policy({ password, email: found.invitation.email, tenantSlug: found.tenant.slug });
      const passwordHash = await passwords.hash(password);
      const entry = await database.write(scope, async (tx) => {
        const at = clock.now();
        // Checked again: during the hashing the invitation may have been accepted, or the tenant changed.
        const still = await find(tx, { token, tenantSlug });
        if (!still || !(await new InvitationStore(tx, still.tenant.id).take({ tokenHash: tokenHash(token), at })))
          return undefined;
        const { invitation, tenant } = still;
        const member = await join(tx, { invitation, name, nameProfile, passwordHash, at });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(member, request),
          action: 'member_joined',
          recordKind: 'member',
          recordId: member.id,
          changes: {
            email: member.email,
            name,
            roleCode: member.roleCode,
            subjectScope: member.subjectScope,
            invitationId: invitation.id,
            invitedBy: invitation.invitedBy,
          },
        });
        return { tenant, member, session: await issue.open(tx, { member, request, way: 'invitation' }) };
      });
      if (!entry) throw await refusedToken({ database, clock, kind: 'invitation', tenantId: found.tenant.id, request });
      changes.notify({ kind: 'member', tenantId: entry.tenant.id, memberId: entry.member.id });
      return issue.loginResult(entry);
    },
  };
}

/** In the transaction of the invitation, so that refused ones do not count. */
async function countOne(tx: Transaction, { tenantId, at }: { tenantId: string; at: number }): Promise<void> {
  const counted = await new LoginFailureStore(tx).count({
    key: `invitations:${tenantId}`,
    at,
    windowMs: HOUR_MS,
    slides: false,
  });
  if (counted && counted.failures > PER_HOUR)
    throw fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil((counted.expiresAt - at) / 1_000)) });
}

/**
 * The invitation determines the email address, role and scope; deleted subject companies are removed from the scope.
 */
async function join(
  tx: Transaction,
  {
    invitation,
    name,
    nameProfile,
    passwordHash,
    at,
  }: { invitation: InvitationRecord; name: string; nameProfile: NameProfile | null; passwordHash: string; at: number },
): Promise<MemberRecord> {
  const { tenantId, email, roleCode } = invitation;
  const subjects = new Set((await new SubjectStore(tx, tenantId).all()).map(({ id }) => id));
  const member: MemberRecord = {
    id: newId(),
    tenantId,
    email,
    name,
    nameProfile,
    status: 'active',
    roleCode,
    subjectScope: invitation.subjectScope?.filter((id) => subjects.has(id)) ?? null,
    preferences: {},
    passwordHash,
    lastLoginAt: null,
    createdAt: at,
    updatedAt: at,
  };
  if (!(await new MemberStore(tx, tenantId).insert(member))) throw fail('MEMBER_EXISTS', { email });
  await new TenantStore(tx).touchDirectory(tenantId);
  return member;
}
