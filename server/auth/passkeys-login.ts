import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';
import { randomToken, sha256Hex, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { PasskeyFlowStore, type PasskeyFlow } from '../store/passkey-flows.js';
import { PasskeyStore, type PasskeyRecord } from '../store/passkeys.js';
import type { SessionRecord } from '../store/sessions.js';
import { TenantStore } from '../store/tenants.js';
import { actorOf } from '../access/actor.js';
import { addressKey, type LoginLimits } from './limits.js';
import { FLOW_MS, newPublicKey, type Ceremony, type Signed } from './passkeys-ceremony.js';
import { createDecoys } from './passkeys-decoys.js';
import type { AssertionResponse, LoginQuestion } from './passkeys.schemas.js';
import { INVALID_CREDENTIALS, type SessionIssue } from './session-issue.js';
import type { TokenPair } from './auth.schemas.js';
import { mayIssueSession, NO_MFA } from '../access/session-policy.js';

/** Sign-in with a passkey, which is both factors. Account locks do not apply, because a signature cannot be guessed. */
export interface PasskeyLogin {
  /** Returns options for any account, whether or not it exists or has passkeys. */
  begin(account: { readonly tenantSlug: string; readonly email: string }, request: RequestInfo): Promise<LoginQuestion>;
  /**
   * Invalidates the options before the response is verified. Throws UNAUTHENTICATED for options that are unknown, used
   * or expired, for an invalid response or one of another account, and for members who may not sign in;
   * TENANT_SUSPENDED for a valid response of an active member; RATE_LIMITED if an address fails too often.
   */
  finish(
    answer: { readonly flowId: string; readonly response: AssertionResponse },
    request: RequestInfo,
  ): Promise<TokenPair>;
}

export function createPasskeyLogin({
  database,
  clock,
  ceremony,
  keyRing,
  limits,
  issue,
}: {
  database: Database;
  clock: Clock;
  ceremony: Ceremony;
  keyRing: KeyRing;
  limits: LoginLimits;
  issue: SessionIssue;
}): PasskeyLogin {
  const scope = { tenantId: null };
  const decoysOf = createDecoys(keyRing);
  const decoyKey = onFirstUse(newPublicKey);

  const enter = async (
    tx: Transaction,
    { passkey, signed, request }: { passkey: PasskeyRecord; signed: Signed; request: RequestInfo },
  ): Promise<Outcome> => {
    const { tenantId, memberId } = passkey;
    const tenant = await new TenantStore(tx).byId(tenantId);
    const member = await new MemberStore(tx, tenantId).byId(memberId);
    if (tenant?.status === 'suspended' && member?.status === 'active') return refuseSuspended(tx, { member, request });
    if (!tenant || !member || mayIssueSession({ way: 'passkey', tenant, member, mfa: NO_MFA }) !== 'yes')
      return refuse(tx, { account: passkey, request, reason: 'standing' });
    // A device-bound key must not become a synced one.
    if (signed.synced !== passkey.synced) return refuse(tx, { account: passkey, request, reason: 'passkey' });
    if (!(await new PasskeyStore(tx, tenantId).use({ ...signed, id: passkey.id, memberId, at: clock.now() })))
      return refuse(tx, { account: passkey, request, reason: 'passkey_counter' });
    return { session: await issue.open(tx, { member, request, way: 'passkey' }), member };
  };

  /** The passkey was right, so this is not a failure. */
  const refuseSuspended = async (
    tx: Transaction,
    { member, request }: { member: MemberRecord; request: RequestInfo },
  ): Promise<Outcome> => {
    await new AuditStore(tx).append({
      tenantId: member.tenantId,
      at: clock.now(),
      actor: actorOf(member, request),
      action: 'login_failed',
      recordKind: 'member',
      recordId: member.id,
      changes: { reason: 'tenant_suspended' },
    });
    return { suspended: true };
  };

  /** Counts only for the address: counting for the account would allow anyone to lock a member's password. */
  const refuse = async (
    tx: Transaction,
    { account, request, reason }: { account: PasskeyFlow['account'] | undefined; request: RequestInfo; reason: string },
  ): Promise<Outcome> => {
    const wait = await limits.failed(tx, { account: null, ip: request.ip });
    if (wait !== undefined) return { wait };
    const { tenantId, memberId } = account ?? { tenantId: NOBODY, memberId: NOBODY };
    const member = await new MemberStore(tx, tenantId).byId(memberId);
    await new AuditStore(tx).append({
      tenantId: account?.tenantId ?? null,
      at: clock.now(),
      actor: {
        kind: 'user',
        id: member?.id ?? null,
        name: member?.name ?? 'unknown',
        ip: request.ip,
        requestId: request.id,
      },
      action: 'login_failed',
      recordKind: 'member',
      recordId: member?.id ?? null,
      changes: { reason },
    });
    return { refused: true };
  };

  return {
    begin: async ({ tenantSlug, email }, request) => {
      const decoys = decoysOf({ tenantSlug, email });
      const found = await database.read(scope, async (tx) => {
        const tenantId = (await new TenantStore(tx).bySlug(tenantSlug))?.id ?? NOBODY;
        const memberId = (await new MemberStore(tx, tenantId).byEmail(email))?.id ?? NOBODY;
        return { tenantId, memberId, passkeys: await new PasskeyStore(tx, tenantId).all({ memberId }) };
      });
      const has = found.passkeys.length > 0;
      const options = await ceremony.requestOptions(has ? found.passkeys : decoys);
      const flowId = randomToken();
      const flow: PasskeyFlow = {
        challengeHash: sha256Hex(options.challenge),
        account: has ? { tenantId: found.tenantId, memberId: found.memberId } : null,
        expiresAt: clock.now() + FLOW_MS,
      };
      await database.write(scope, (tx) =>
        new PasskeyFlowStore(tx).insert({
          flowHash: sha256Hex(flowId),
          sessionId: null,
          asker: addressKey(request.ip),
          flow,
        }),
      );
      return { flowId, options };
    },

    finish: async ({ flowId, response }, request) => {
      const { flow, passkey } = await database.write(scope, async (tx) => {
        const taken = await new PasskeyFlowStore(tx).takeLogin({ flowHash: sha256Hex(flowId), at: clock.now() });
        const { tenantId, memberId } = taken?.account ?? { tenantId: NOBODY, memberId: NOBODY };
        return {
          flow: taken,
          passkey: await new PasskeyStore(tx, tenantId).byCredential({
            memberId,
            credentialId: BASE64URL.test(response.id) ? response.id : '',
          }),
        };
      });
      // Verifies a signature even without a passkey, so that timing does not reveal which of the credential ids are
      // real.
      const question = {
        challengeHash: flow?.challengeHash ?? '',
        credentialId: response.id,
        publicKey: passkey?.publicKey ?? (await decoyKey()),
        memberId: flow?.account?.memberId ?? NOBODY,
      };
      const signed = await ceremony.assertion(response, question);
      const outcome = await database.write(scope, (tx) =>
        passkey && !('cause' in signed)
          ? enter(tx, { passkey, signed, request })
          : refuse(tx, { account: flow?.account, request, reason: flow ? 'passkey' : 'passkey_flow' }),
      );
      if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
      if ('suspended' in outcome) throw fail('TENANT_SUSPENDED', {});
      if (!('session' in outcome))
        throw fail(
          'UNAUTHENTICATED',
          { message: INVALID_CREDENTIALS },
          'cause' in signed ? { cause: signed.cause } : {},
        );
      return issue.tokensOf(outcome.session, outcome.member);
    },
  };
}

/** Returned instead of thrown, because failure counts and audit rows must be committed. */
type Outcome =
  | { readonly session: SessionRecord; readonly member: MemberRecord }
  | { readonly wait: number }
  | { readonly suspended: true }
  | { readonly refused: true };

/** The id of no tenant and no member: a lookup takes the same time as for an existing one. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Other characters cannot occur in a credential id, and some cannot be stored in the column. */
const BASE64URL = /^[A-Za-z0-9_-]+$/;
