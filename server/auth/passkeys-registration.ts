import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { randomToken, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import { PasskeyFlowStore } from '../store/passkey-flows.js';
import { PasskeyStore, type PasskeyRecord } from '../store/passkeys.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import { challengeHashOf, FLOW_MS, type Ceremony, type NewCredential } from './passkeys-ceremony.js';
import {
  passkeyAnswer,
  type AttestationResponse,
  type Passkey,
  type RegistrationQuestion,
} from './passkeys.schemas.js';
import type { Principal } from '../access/principal.js';
import { actorOf } from '../access/actor.js';
import { isActiveAccount } from '../access/session-policy.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';

/**
 * Registration of a passkey: options for the authenticator, and its response in the same session within five minutes.
 */
export interface PasskeyRegistration {
  /** Throws RECENT_LOGIN_REQUIRED, LIMIT_REACHED. */
  begin(principal: Principal): Promise<RegistrationQuestion>;
  /**
   * Invalidates the options before the response is verified; a response to none of the session's options invalidates
   * them all. The member is notified by mail, and their other sessions end. Throws PASSKEY_INVALID,
   * RECENT_LOGIN_REQUIRED, PASSKEY_EXISTS, LIMIT_REACHED.
   */
  finish(
    answer: { readonly response: AttestationResponse; readonly label: string | null },
    principal: Principal,
    request: RequestInfo,
  ): Promise<Passkey>;
}

export function createPasskeyRegistration({
  database,
  clock,
  ceremony,
  signInMethods,
  changes,
}: {
  database: Database;
  clock: Clock;
  ceremony: Ceremony;
  signInMethods: SignInMethods;
  changes: Changes;
}): PasskeyRegistration {
  const scope = { tenantId: null };

  const add = async (
    tx: Transaction,
    {
      credential,
      label,
      principal,
      request,
    }: { credential: NewCredential; label: string | null; principal: Principal; request: RequestInfo },
  ): Promise<PasskeyRecord> => {
    const {
      tenant: { id: tenantId },
      user: { id: memberId },
    } = principal;
    // Locked, so that concurrent registrations cannot exceed the limit, and to serialise with disabling the member or
    // deleting their passkeys.
    const member = await new MemberStore(tx, tenantId).lock(memberId);
    const tenant = await new TenantStore(tx).byId(tenantId);
    if (!tenant || !member || !isActiveAccount({ tenant, member })) throw fail('UNAUTHENTICATED', {});
    // Checked again, because the response may arrive late.
    await signInMethods.requireRecentLogin(tx, principal);
    const at = clock.now();
    const store = new PasskeyStore(tx, tenantId);
    if ((await store.count({ memberId })) >= MAX_PASSKEYS) throw fail('LIMIT_REACHED', { limit: MAX_PASSKEYS });
    const passkey: PasskeyRecord = {
      ...credential,
      id: newId(),
      tenantId,
      memberId,
      label,
      createdAt: at,
      lastUsedAt: null,
    };
    if (!(await store.insert(passkey))) throw fail('PASSKEY_EXISTS', {});
    const ended = await signInMethods.changed(tx, {
      tenantId,
      memberId,
      change: 'passkey_added',
      sessionId: principal.sessionId,
    });
    await new AuditStore(tx).append({
      tenantId,
      at,
      actor: actorOf(principal.user, request),
      action: 'passkey_added',
      recordKind: 'passkey',
      recordId: passkey.id,
      changes: { label, synced: passkey.synced, ...ended },
    });
    return passkey;
  };

  return {
    begin: async (principal) => {
      const { tenant, user, sessionId } = principal;
      const present = await database.read(scope, async (tx) => {
        await signInMethods.requireRecentLogin(tx, principal);
        return new PasskeyStore(tx, tenant.id).all({ memberId: user.id });
      });
      if (present.length >= MAX_PASSKEYS) throw fail('LIMIT_REACHED', { limit: MAX_PASSKEYS });
      const options = await ceremony.creationOptions(user, present);
      const flowId = randomToken();
      const flow = {
        challengeHash: sha256Hex(options.challenge),
        account: { tenantId: tenant.id, memberId: user.id },
        expiresAt: clock.now() + FLOW_MS,
      };
      await database.write(scope, (tx) =>
        new PasskeyFlowStore(tx).insert({
          flowHash: sha256Hex(flowId),
          sessionId,
          asker: `session:${sessionId}`,
          flow,
        }),
      );
      return { flowId, options };
    },

    finish: async ({ response, label }, principal, request) => {
      const challengeHash = challengeHashOf(response.response.clientDataJSON);
      const flow = await database.write(scope, (tx) =>
        new PasskeyFlowStore(tx).takeRegistration({ sessionId: principal.sessionId, challengeHash, at: clock.now() }),
      );
      const credential = flow ? await ceremony.attestation(response, flow) : { cause: undefined };
      if ('cause' in credential) {
        await database.write(scope, (tx) =>
          new AuditStore(tx).append({
            tenantId: principal.tenant.id,
            at: clock.now(),
            actor: actorOf(principal.user, request),
            action: 'passkey_refused',
            recordKind: 'member',
            recordId: principal.user.id,
            changes: { asked: flow !== undefined },
          }),
        );
        throw fail('PASSKEY_INVALID', {}, { cause: credential.cause });
      }
      const passkey = await database.write(scope, (tx) => add(tx, { credential, label, principal, request }));
      changes.notify({ kind: 'member', tenantId: passkey.tenantId, memberId: passkey.memberId });
      return passkeyAnswer(passkey);
    },
  };
}

const MAX_PASSKEYS = 10;
