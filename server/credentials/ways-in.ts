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
 * What every change of how somebody signs in has in common, a transfer of ownership too, and whatever gives admin
 * (edit): it is made only soon after a sign-in, so that a stolen session buys no way in that stays; the one whose
 * account it is is told by mail; and their other sessions end.
 */
export interface WaysIn {
  /**
   * Answers the session's id. Throws RECENT_LOGIN_REQUIRED where the session was opened more than ten minutes ago,
   * however often it was refreshed since, and UNAUTHENTICATED where it has ended meanwhile, or there is none.
   */
  requireRecentLogin(tx: Transaction, session: { readonly sessionId: string | undefined }): Promise<string>;
  /**
   * In the transaction of the change, once the member is held or written: whoever signs in meanwhile comes wholly
   * before, and is ended with the rest, or after. Answers how many sessions ended; whoever calls tells `changes` of the
   * member afterwards.
   */
  changed(tx: Transaction, change: WayInChanged): Promise<{ readonly sessionsRevoked: number }>;
}

export interface WayInChanged {
  readonly tenantId: string;
  readonly memberId: string;
  readonly change: SignInChange;
  /** The address of before; the member's own unless given. */
  readonly to?: string;
  /** The session that goes on, if one does. */
  readonly sessionId: string | null;
}

export function createWaysIn({ clock, mail }: { clock: Clock; mail: MailOutbox }): WaysIn {
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

/** How old a session may be that changes a way in, in milliseconds. */
const RECENT_MS = 10 * 60_000;

/**
 * For so long after a password reset or a change of address, in milliseconds, no code by mail stands in for an
 * authenticator: one mailbox must not be both factors.
 */
const MAILBOX_ALONE_MS = 24 * 3_600_000;

/** From now on no code by mail is good or sent, also none that is on its way. */
export const holdEmailCode = (
  tx: Transaction,
  { tenantId, memberId, at }: { tenantId: string; memberId: string; at: number },
): Promise<void> => new LoginCodeStore(tx, tenantId).hold({ memberId, until: at + MAILBOX_ALONE_MS });
