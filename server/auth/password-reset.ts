import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import { logResetNotSent } from '../notifications/reset-not-sent.js';
import { AuditStore } from '../store/audit.js';
import { LoginFailureStore } from '../store/login-failures.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { PasswordResetStore } from '../store/password-resets.js';
import { SessionStore } from '../store/sessions.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import type { PasswordPolicy } from '../credentials/password-policy.js';
import type { Passwords } from '../credentials/passwords.js';
import { actorOf, anonymousActor } from '../access/actor.js';
import { newToken, refusedToken, tokenHash, tokenLink } from './single-use.js';
import { isActiveAccount } from '../access/session-policy.js';
import { holdEmailCode } from '../credentials/sign-in-methods.js';

/**
 * Reset of a forgotten password. A second factor does not change: a reset starts no session, and for 24 hours no code
 * sent by mail replaces the authenticator.
 */
export interface PasswordResets {
  /**
   * Mails a token to the account, if it exists and signs in by password. Neither the answer nor the duration reveals
   * whether it does: the same statements run in both cases. The sixth request for an account within an hour is treated
   * like one for an unknown account. Requests for unknown accounts share a fixed number of rows.
   */
  request(account: { readonly tenantSlug: string; readonly email: string }, request: RequestInfo): Promise<void>;
  /**
   * Sets the password, ends all sessions and sends a notice. Throws TOKEN_INVALID, PASSWORD_TOO_WEAK; a valid token
   * remains valid after either.
   */
  confirm(
    reset: { readonly token: string; readonly tenantSlug: string; readonly password: string },
    request: RequestInfo,
  ): Promise<void>;
}

const HOUR_MS = 3_600_000;
const LIFETIME_HOURS = 2;
/** Limits the mail that can be sent to a mailbox. */
const REQUESTS_PER_HOUR = 5;
/** The id of no tenant: looking for a member in it takes the same time as in an existing one. */
const NOWHERE = '00000000-0000-0000-0000-000000000000';

export function createPasswordResets({
  database,
  clock,
  passwords,
  policy,
  mail,
  changes,
  log,
  publicUrl,
}: {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  policy: PasswordPolicy;
  mail: MailOutbox;
  changes: Changes;
  log: Log;
  publicUrl: string;
}): PasswordResets {
  const scope = { tenantId: null };

  const issue = async (
    tx: Transaction,
    { tenantSlug, email }: { tenantSlug: string; email: string },
    request: RequestInfo,
  ): Promise<Named | undefined> => {
    const at = clock.now();
    const hash = accountHash({ tenantSlug, email });
    const tenant = await new TenantStore(tx).bySlug(tenantSlug);
    const member = await new MemberStore(tx, tenant?.id ?? NOWHERE).byEmail(email);
    const named =
      tenant && member && mayReset({ tenant, member }) ? { tenantId: tenant.id, memberId: member.id } : undefined;
    const asked = await new LoginFailureStore(tx).count({
      key: `reset:${named ? hash : placeOf(hash)}`,
      at,
      windowMs: HOUR_MS,
      slides: false,
    });
    const account = asked && asked.failures <= REQUESTS_PER_HOUR ? named : undefined;

    const { token, tokenHash: secret } = newToken();
    const expiresAt = at + LIFETIME_HOURS * HOUR_MS;
    await new PasswordResetStore(tx).put({
      accountHash: account ? hash : placeOf(hash),
      tokenHash: secret,
      member: account,
      expiresAt,
      at,
    });
    await new AuditStore(tx).append({
      tenantId: account?.tenantId ?? null,
      at,
      actor: anonymousActor(request),
      action: 'password_reset_requested',
      recordKind: 'member',
      recordId: account?.memberId ?? null,
    });

    const about = { kind: 'member', id: account?.memberId ?? NOWHERE };
    const values = {
      tenantName: tenant?.name ?? tenantSlug,
      hours: LIFETIME_HOURS,
      link: tokenLink({ publicUrl, page: 'reset-password', token, tenantSlug }),
    };
    // Mail that has not been sent contains the previous token.
    await mail.withdraw(tx, { tenantId: account?.tenantId ?? NOWHERE, template: 'password_reset', about });
    if (account)
      await mail.enqueue(tx, {
        tenantId: account.tenantId,
        to: email,
        template: 'password_reset',
        language: languageOf({ tenant, member }),
        values,
        about,
        notAfter: expiresAt,
      });
    else await mail.enqueuePlaceholder(tx, { template: 'password_reset', values, notAfter: expiresAt });
    return account;
  };

  /** Returns the token's account, if the token is valid for the tenant. */
  const find = async (
    tx: Transaction,
    { token, tenantSlug }: { token: string; tenantSlug: string },
  ): Promise<Account | undefined> => {
    const reset = await new PasswordResetStore(tx).find(tokenHash(token));
    if (!reset || reset.expiresAt <= clock.now()) return undefined;
    const tenant = await new TenantStore(tx).byId(reset.tenantId);
    const member = await new MemberStore(tx, reset.tenantId).byId(reset.memberId);
    // A token of another tenant, or sent to a previous address of the member.
    if (
      !tenant ||
      !member ||
      tenant.slug !== tenantSlug ||
      reset.accountHash !== accountHash({ tenantSlug, email: member.email })
    )
      return undefined;
    return mayReset({ tenant, member }) ? { tenant, member } : undefined;
  };

  return {
    request: async (account, request) => {
      const named = await database.write(scope, (tx) => issue(tx, account, request));
      // For unknown accounts too, so that the answer takes the same time.
      if (!mail.configured)
        logResetNotSent(log, {
          reason: 'no mail server is configured (SMTP_URL)',
          tenantId: named?.tenantId ?? null,
          memberId: named?.memberId ?? null,
        });
    },

    confirm: async ({ token, tenantSlug, password }, request) => {
      const found = await database.read(scope, (tx) => find(tx, { token, tenantSlug }));
      if (!found) throw await refusedToken({ database, clock, kind: 'password_reset', tenantId: null, request });
      await policy({ password, email: found.member.email, tenantSlug });
      const passwordHash = await passwords.hash(password);
      const member = await database.write(scope, async (tx) => {
        const at = clock.now();
        // Checked again: during the hashing the token may have been used, or the member disabled.
        const still = await find(tx, { token, tenantSlug });
        if (!still || !(await new PasswordResetStore(tx).take({ tokenHash: tokenHash(token), at }))) return undefined;
        const { tenant, member: owner } = still;
        if (!(await new MemberStore(tx, tenant.id).setPasswordHash({ id: owner.id, passwordHash, at })))
          throw fail('TOKEN_INVALID', {});
        await holdEmailCode(tx, { tenantId: tenant.id, memberId: owner.id, at });
        const sessionsRevoked = await new SessionStore(tx).revokeAllOf({ tenantId: tenant.id, memberId: owner.id, at });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(owner, request),
          action: 'password_reset',
          recordKind: 'member',
          recordId: owner.id,
          changes: { sessionsRevoked },
        });
        await mail.enqueue(tx, {
          tenantId: tenant.id,
          to: owner.email,
          template: 'password_changed',
          language: languageOf(still),
          values: { tenantName: tenant.name },
          about: { kind: 'member', id: owner.id },
        });
        return owner;
      });
      if (!member)
        throw await refusedToken({ database, clock, kind: 'password_reset', tenantId: found.tenant.id, request });
      changes.notify({ kind: 'member', tenantId: member.tenantId, memberId: member.id });
    },
  };
}

/** An account that gets a reset. */
interface Named {
  readonly tenantId: string;
  readonly memberId: string;
}

interface Account {
  readonly tenant: TenantRecord;
  readonly member: MemberRecord;
}

/** Members without a password sign in through the organisation's own provider, and must not bypass it. */
const mayReset = ({ tenant, member }: Account): boolean =>
  isActiveAccount({ tenant, member }) && member.passwordHash !== null;

/** The row for requests for an unknown account: one of 4 096, so that such requests cannot create more rows. */
const placeOf = (hash: string): string => `nobody:${hash.slice(0, 3)}`;

/** The digest of an account's name, whether or not it exists. */
export const accountHash = ({ tenantSlug, email }: { tenantSlug: string; email: string }): string =>
  sha256Hex(`${tenantSlug}\n${email}`);
