import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { languageOf } from '../notifications/language.js';
import type { SignInChange } from '../notifications/templates/values.js';
import type { MailOutbox } from '../notifications/mail.js';
import { LoginCodeStore } from '../store/login-codes.js';
import { MemberStore } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import { TenantStore } from '../store/tenants.js';

/**
 * The rules for every change of a sign-in method, for a transfer of ownership and for granting admin (edit): it
 * requires a recent sign-in, so that a stolen session cannot gain permanent access; the owner of the account is
 * notified by mail; and their other sessions end.
 */
export interface SignInMethods {
  /**
   * Returns the session's id. Throws RECENT_LOGIN_REQUIRED if the session was started more than ten minutes ago, even
   * if it was refreshed since, and UNAUTHENTICATED if it has ended or does not exist.
   */
  requireRecentLogin(tx: Transaction, session: { readonly sessionId: string | undefined }): Promise<string>;
  /**
   * Call it in the transaction of the change, after the member was locked or updated, so that concurrent sign-ins are
   * either ended too or happen afterwards. Returns the number of ended sessions; the caller must notify `changes`
   * afterwards.
   */
  changed(tx: Transaction, change: SignInMethodChange): Promise<{ readonly sessionsRevoked: number }>;
}

export interface SignInMethodChange {
  readonly tenantId: string;
  readonly memberId: string;
  readonly change: SignInChange;
  /** The previous address; defaults to the member's address. */
  readonly to?: string;
  /** The session to keep, if any. */
  readonly sessionId: string | null;
}

export function createSignInMethods({ clock, mail }: { clock: Clock; mail: MailOutbox }): SignInMethods {
  return {
    requireRecentLogin: async (tx, { sessionId }) => {
      const session = sessionId === undefined ? undefined : await new SessionStore(tx).byId(sessionId);
      if (!session || session.revokedAt !== null) throw fail('UNAUTHENTICATED', {});
      if (clock.now() - session.createdAt > RECENT_MS)
        throw fail('RECENT_LOGIN_REQUIRED', { maxAgeSeconds: RECENT_MS / 1_000 });
      return session.id;
    },

    changed: async (tx, { tenantId, memberId, change, to, sessionId }) => {
      const at = clock.now();
      const tenant = await new TenantStore(tx).byId(tenantId);
      const member = await new MemberStore(tx, tenantId).byId(memberId);
      if (!tenant || !member) throw fail('UNAUTHENTICATED', {});
      await mail.enqueue(tx, {
        tenantId,
        to: to ?? member.email,
        template: 'sign_in_changed',
        values: { tenantName: tenant.name, change },
        language: languageOf({ tenant, member }),
        about: { kind: 'member', id: memberId },
      });
      const sessions = new SessionStore(tx);
      return {
        sessionsRevoked:
          sessionId === null
            ? await sessions.revokeAllOf({ tenantId, memberId, at })
            : await sessions.revokeOthersOf({ tenantId, memberId, sessionId, at }),
      };
    },
  };
}

/** The maximum age of a session that may change a sign-in method, in milliseconds. */
const RECENT_MS = 10 * 60_000;

/**
 * How long after a password reset or an email change no code sent by mail replaces an authenticator, in milliseconds:
 * one mailbox must not be both factors.
 */
const MAILBOX_ALONE_MS = 24 * 3_600_000;

/** Disables codes sent by mail, including those already sent. */
export const holdEmailCode = (
  tx: Transaction,
  { tenantId, memberId, at }: { tenantId: string; memberId: string; at: number },
): Promise<void> => new LoginCodeStore(tx, tenantId).hold({ memberId, until: at + MAILBOX_ALONE_MS });
