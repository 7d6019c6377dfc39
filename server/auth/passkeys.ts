import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../http/request.js';
import { AuditStore } from '../store/audit.js';
import { PasskeyStore } from '../store/passkeys.js';
import { SessionStore } from '../store/sessions.js';
import type { LoginLimits } from './limits.js';
import { createCeremony, type RelyingParty } from './passkeys-ceremony.js';
import { createPasskeyLogin, type PasskeyLogin } from './passkeys-login.js';
import { createPasskeyRegistration, type PasskeyRegistration } from './passkeys-registration.js';
import { passkeyAnswer, type Passkey } from './passkeys-shapes.js';
import type { Principal } from './principal.js';
import { actorOf, type SessionIssue } from './session-issue.js';

/**
 * Passkeys (WebAuthn): what a member signs in with in place of a password and a second factor. They are added and removed only by a session
 * that was opened within the last ten minutes (RECENT_LOGIN_REQUIRED), so that a stolen token does not buy a way in that stays.
 */
export interface Passkeys {
  /** The caller's own, oldest first. */
  list(principal: Principal): Promise<Passkey[]>;
  readonly registration: PasskeyRegistration;
  readonly login: PasskeyLogin;
  /** Throws RECENT_LOGIN_REQUIRED, NOT_FOUND. */
  remove(passkey: { readonly id: string }, principal: Principal, request: RequestInfo): Promise<void>;
}

export function createPasskeys({ database, clock, keyRing, limits, issue, relyingParty }: {
  database: Database; clock: Clock; keyRing: KeyRing; limits: LoginLimits; issue: SessionIssue; relyingParty: RelyingParty;
}): Passkeys {
  const scope = { tenantId: null };
  const ceremony = createCeremony(relyingParty);

  const requireRecentLogin = async (tx: Transaction, { sessionId }: Pick<Principal, 'sessionId'>): Promise<void> => {
    const session = await new SessionStore(tx).byId(sessionId);
    if (!session || session.revokedAt !== null) throw fail('UNAUTHENTICATED', {});
    if (clock.now() - session.createdAt > RECENT_MS) throw fail('RECENT_LOGIN_REQUIRED', { maxAgeSeconds: RECENT_MS / 1_000 });
  };

  return {
    list: async ({ tenant, user }) => (await database.read(scope, (tx) => new PasskeyStore(tx, tenant.id).all({ memberId: user.id }))).map(passkeyAnswer),
    registration: createPasskeyRegistration({ database, clock, ceremony, requireRecentLogin }),
    login: createPasskeyLogin({ database, clock, ceremony, keyRing, limits, issue }),
    remove: ({ id }, principal, request) =>
      database.write(scope, async (tx) => {
        const { tenant, user } = principal;
        await requireRecentLogin(tx, principal);
        if (!(await new PasskeyStore(tx, tenant.id).delete({ id, memberId: user.id }))) throw fail('NOT_FOUND', {});
        await new AuditStore(tx).append({ tenantId: tenant.id, at: clock.now(), actor: actorOf(user, request), action: 'passkey_removed', recordKind: 'passkey', recordId: id });
      }),
  };
}

/** How old a session may be that changes the ways to sign in, in milliseconds. */
const RECENT_MS = 10 * 60_000;
