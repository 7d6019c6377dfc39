import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import { PasskeyStore } from '../store/passkeys.js';
import type { Changes } from '../access/changes.js';
import type { LoginLimits } from './limits.js';
import { createCeremony, type RelyingParty } from './passkeys-ceremony.js';
import { createPasskeyLogin, type PasskeyLogin } from './passkeys-login.js';
import { createPasskeyRegistration, type PasskeyRegistration } from './passkeys-registration.js';
import { passkeyAnswer, type Passkey } from './passkeys.schemas.js';
import type { Principal } from '../access/principal.js';
import { actorOf } from '../access/actor.js';
import type { SessionIssue } from './session-issue.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';

/**
 * Passkeys (WebAuthn), which replace the password and second factor. They are added and deleted only in a session that
 * was started within the last ten minutes (RECENT_LOGIN_REQUIRED), so that a stolen token cannot give permanent access.
 * The member is notified by mail, and their other sessions end.
 */
export interface Passkeys {
  /** The caller's passkeys, oldest first. */
  list(principal: Principal): Promise<Passkey[]>;
  readonly registration: PasskeyRegistration;
  readonly login: PasskeyLogin;
  /** Throws RECENT_LOGIN_REQUIRED, NOT_FOUND. */
  remove(passkey: { readonly id: string }, principal: Principal, request: RequestInfo): Promise<void>;
}

export function createPasskeys({
  database,
  clock,
  keyRing,
  limits,
  issue,
  signInMethods,
  changes,
  relyingParty,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  limits: LoginLimits;
  issue: SessionIssue;
  signInMethods: SignInMethods;
  changes: Changes;
  relyingParty: RelyingParty;
}): Passkeys {
  const scope = { tenantId: null };
  const ceremony = createCeremony(relyingParty);

  return {
    list: async ({ tenant, user }) =>
      (await database.read(scope, (tx) => new PasskeyStore(tx, tenant.id).all({ memberId: user.id }))).map(
        passkeyAnswer,
      ),
    registration: createPasskeyRegistration({ database, clock, ceremony, signInMethods, changes }),
    login: createPasskeyLogin({ database, clock, ceremony, keyRing, limits, issue }),
    remove: async ({ id }, principal, request) => {
      const { tenant, user, sessionId } = principal;
      await database.write(scope, async (tx) => {
        // Locked first, to serialise with a concurrent sign-in.
        await new MemberStore(tx, tenant.id).lock(user.id);
        await signInMethods.requireRecentLogin(tx, principal);
        if (!(await new PasskeyStore(tx, tenant.id).delete({ id, memberId: user.id }))) throw fail('NOT_FOUND', {});
        const ended = await signInMethods.changed(tx, {
          tenantId: tenant.id,
          memberId: user.id,
          change: 'passkey_removed',
          sessionId,
        });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at: clock.now(),
          actor: actorOf(user, request),
          action: 'passkey_removed',
          recordKind: 'passkey',
          recordId: id,
          changes: ended,
        });
      });
      changes.notify({ kind: 'member', tenantId: tenant.id, memberId: user.id });
    },
  };
}
