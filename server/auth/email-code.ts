import { randomInt } from 'node:crypto';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { constantTimeEqual, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { MailOutbox } from '../notifications/mail.js';
import { AuditStore } from '../store/audit.js';
import { LoginCodeStore } from '../store/login-codes.js';
import type { MemberRecord } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import { RoleStore } from '../store/roles.js';
import { settingsOf } from '../access/settings.js';
import type { LoginLimits } from './limits.js';
import type { Account, Checked, Credentials, PasswordCheck } from './password-check.js';
import { edit, meets, type Permissions } from '../access/permissions.js';
import { actorOf } from '../access/actor.js';
import type { DeliveryStatus } from './auth.schemas.js';

/** Who may use codes sent by mail. `members` excludes roles with admin (edit). */
export const EMAIL_FALLBACKS = ['all', 'members', 'off'] as const;
export type EmailFallback = (typeof EMAIL_FALLBACKS)[number];

/**
 * Six digits sent by mail, which replace an authenticator code at a login: never the password, and only for members
 * with an authenticator. Not within 24 hours of a password reset or an email change, when the mailbox alone would be
 * both factors.
 */
export interface EmailCodes {
  /**
   * Whether codes are not allowed for a role with these permissions. Checked for each request in a session that was
   * started with a code, because permissions may be added during the session.
   */
  exclude(permissions: Permissions): boolean;
  /** Whether the member can request and use a code. */
  availableTo(tx: Transaction, member: CodeHolder): Promise<boolean>;
  /**
   * Sends a code if the credentials are right and the account has an authenticator: at most one a minute and five an
   * hour. The answer does not reveal whether it was sent. A new code replaces the previous one. Throws RATE_LIMITED
   * like a login after too many failures.
   */
  send(credentials: Credentials, request: RequestInfo): Promise<{ ok: true; deliveryStatus: DeliveryStatus }>;
  /** Verifies and invalidates a code; each code allows five attempts. */
  take(tx: Transaction, member: CodeHolder, code: string): Promise<boolean>;
}

type CodeHolder = Pick<MemberRecord, 'id' | 'tenantId' | 'roleCode'>;

export function createEmailCodes({
  database,
  clock,
  keyRing,
  mail,
  passwordCheck,
  limits,
  fallback,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  mail: MailOutbox;
  passwordCheck: PasswordCheck;
  limits: LoginLimits;
  fallback: EmailFallback;
}): EmailCodes {
  const exclude = (permissions: Permissions): boolean =>
    fallback === 'off' || (fallback === 'members' && meets(permissions, edit('admin')));

  /** The reason why the member cannot use codes at present; `undefined` if there is none. */
  const obstacle = async (
    tx: Transaction,
    { id: memberId, tenantId, roleCode }: CodeHolder,
  ): Promise<string | undefined> => {
    if (!mail.configured) return 'mail_not_configured';
    if (fallback === 'off') return 'switched_off';
    const role = await new RoleStore(tx, tenantId).byCode(roleCode);
    if (role && exclude(role.permissions)) return 'not_for_administrators';
    return (await new LoginCodeStore(tx, tenantId).heldUntil({ memberId })) > clock.now() ? 'mailbox_alone' : undefined;
  };

  /** Returns the reason if nothing was sent. */
  const put = async (tx: Transaction, { tenant, member }: Account, code: string): Promise<string | undefined> => {
    const reason = await obstacle(tx, member);
    if (reason !== undefined) return reason;
    if ((await new MfaStore(tx, tenant.id).totp(member.id)) === undefined) return 'not_enrolled';
    const at = clock.now();
    const codes = new LoginCodeStore(tx, tenant.id);
    const sends = (await codes.sends({ memberId: member.id })).filter((sent) => sent > at - HOUR_MS);
    if (sends.length >= SENDS_PER_HOUR) return 'too_many';
    // Encrypted instead of hashed: a million digests are quickly computed.
    const codeSealed = keyRing.seal(code, sealContext(member));
    if (!(await codes.replace({ memberId: member.id, codeSealed, at, sends: [...sends, at], before: at - BETWEEN_MS })))
      return 'too_many';
    const about = { kind: 'member', id: member.id };
    await mail.withdraw(tx, { tenantId: tenant.id, template: 'login_code', about });
    await mail.enqueue(tx, {
      tenantId: tenant.id,
      to: member.email,
      template: 'login_code',
      values: valuesOf(tenant.name, code),
      language: languageOf({ tenant, member }),
      about,
      notAfter: at + LIFETIME_MS,
    });
    return undefined;
  };

  const sendTo = async (
    tx: Transaction,
    { checked, request }: { checked: Checked; request: RequestInfo },
  ): Promise<number | undefined> => {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const account = await passwordCheck.stillHolds(tx, checked);
    // A suspended tenant is reported by the login only: this answer is the same for all accounts.
    if (!account || account === 'tenant_suspended') {
      const wait = await passwordCheck.refuse(tx, checked, { request, action: 'login_code_refused' });
      if (wait === undefined)
        await mail.enqueuePlaceholder(tx, {
          template: 'login_code',
          values: valuesOf('', code),
          notAfter: clock.now(),
        });
      return wait;
    }
    const wait = await limits.locked(tx, checked.attempt);
    if (wait !== undefined) return wait;
    const reason = await put(tx, account, code);
    const { tenant, member } = account;
    await new AuditStore(tx).append({
      tenantId: tenant.id,
      at: clock.now(),
      actor: actorOf(member, request),
      action: reason === undefined ? 'login_code_queued' : 'login_code_not_sent',
      recordKind: 'member',
      recordId: member.id,
      changes: reason === undefined ? {} : { reason },
    });
    return undefined;
  };

  return {
    exclude,
    availableTo: async (tx, member) => (await obstacle(tx, member)) === undefined,
    send: async (credentials, request) => {
      const checked = await passwordCheck.begin(credentials, request);
      const wait = await database.write({ tenantId: null }, (tx) => sendTo(tx, { checked, request }));
      if (wait !== undefined) throw fail('RATE_LIMITED', { retryAfterSeconds: wait });
      return { ok: true, deliveryStatus: mail.configured ? 'queued' : 'not_sent' };
    },

    take: async (tx, member, code) => {
      const { id, tenantId } = member;
      // Checked here too: since the code was sent, the password or address may have been changed through the same
      // mailbox.
      if ((await obstacle(tx, member)) !== undefined) return false;
      const codes = new LoginCodeStore(tx, tenantId);
      const codeSealed = await codes.beginTry({ memberId: id, tries: TRIES, sentSince: clock.now() - LIFETIME_MS });
      if (
        codeSealed === undefined ||
        !constantTimeEqual(keyRing.openText(codeSealed, sealContext({ id, tenantId })), code)
      )
        return false;
      return codes.use({ memberId: id, codeSealed });
    },
  };
}

const LIFETIME_MS = 10 * 60_000;
const TRIES = 5;
const BETWEEN_MS = 60_000;
const HOUR_MS = 3_600_000;
const SENDS_PER_HOUR = 5;

const sealContext = ({ id, tenantId }: Pick<MemberRecord, 'id' | 'tenantId'>): string =>
  `login_codes.code_sealed.${tenantId}.${id}`;

const valuesOf = (tenantName: string, code: string) => ({ tenantName, code, minutes: LIFETIME_MS / 60_000 });

function languageOf({ tenant, member }: Account): string {
  const own = member.preferences['language'];
  return typeof own === 'string' ? own : settingsOf(tenant.settings).defaultLanguage;
}
