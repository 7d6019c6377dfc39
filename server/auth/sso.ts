import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail, isFailure } from '../../data-plane-agent/base/failures.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import { randomToken, sha256Hex, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { MailOutbox } from '../notifications/mail.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { SessionStore, type SessionRecord } from '../store/sessions.js';
import { SsoCodeStore, SsoFlowStore, SsoIdentityStore, type SsoCode, type SsoFlow } from '../store/sso.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import { actorOf, anonymousActor } from '../access/actor.js';
import { addressKey } from './limits.js';
import type { SessionIssue } from './session-issue.js';
import type { TokenPair } from './auth.schemas.js';
import { admit, auditRefusal } from './sso-admission.js';
import { createNextRule } from './next-rule.js';
import { flowCookie, flowFault, FLOW_MS, newFlow, type FlowCookie } from './oauth-flow.js';
import { createSsoProtocol, SsoRefusal, type Assertion, type Handshake } from './sso-protocol.js';
import { signsInTo, type SsoProvider } from './sso-providers.js';
import { isActiveAccount } from '../access/session-policy.js';

/**
 * Sign-in at an OpenID Connect provider. An unknown provider is NOT_FOUND, an unreachable one SSO_PROVIDER_UNREACHABLE.
 */
export interface Sso {
  /** All providers of the installation: the list is public and does not reveal which organisations they serve. */
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  /** The cookie that identifies the browser. */
  readonly cookie: FlowCookie;
  /**
   * Starts a sign-in. `browser` is the value of the cookie that the callback and the exchange require. Throws NOT_FOUND
   * for an unknown tenant and for a provider that does not serve it, INVALID_INPUT for a `next` that is not allowed.
   */
  start(
    wish: {
      readonly provider: string;
      readonly tenantSlug: string;
      readonly next: string | null;
      readonly client: 'web' | 'cli';
    },
    request: RequestInfo,
  ): Promise<{ readonly location: string; readonly browser: string }>;
  /**
   * Handles the redirect from the provider. Returns the `next` URL with `code`, or with `error`: `not_a_member`,
   * `access_denied` (the user refused) or `sso_failed`; and the value of the cookie for the lifetime of the code, if it
   * needs one. Throws TOKEN_INVALID for a state that is unknown, used, expired, or of another browser or provider.
   */
  callback(
    came: {
      readonly provider: string;
      readonly browser: string | undefined;
      readonly parameters: Readonly<Record<string, string>> & { readonly state: string };
    },
    request: RequestInfo,
  ): Promise<{ readonly location: string; readonly browser: string | undefined }>;
  /**
   * Exchanges a code for tokens, once, for the browser that started the sign-in or the program that received the code.
   * Throws TOKEN_INVALID for an invalid or expired code, for a code sent by another client, which invalidates it, and
   * for a used code, which ends its session.
   */
  exchange(
    came: { readonly code: string; readonly browser: string | undefined },
    request: RequestInfo,
  ): Promise<TokenPair>;
}

/** The lifetime of a code and, after the callback, of the cookie, in milliseconds. */
export const CODE_MS = 2 * 60_000;

export function createSso({
  database,
  clock,
  keyRing,
  issue,
  changes,
  mail,
  providers,
  outbound,
  publicUrl,
  corsOrigins,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  issue: SessionIssue;
  changes: Changes;
  mail: MailOutbox;
  providers: readonly SsoProvider[];
  outbound: Outbound;
  publicUrl: string;
  corsOrigins: readonly string[];
}): Sso {
  const scope = { tenantId: null };
  const ownOrigin = new URL(publicUrl).origin;
  const nextRule = createNextRule({ ownOrigin, allowedOrigins: corsOrigins });
  const known = new Map(
    providers.map((provider) => [
      provider.id,
      { provider, protocol: createSsoProtocol({ provider, outbound, clock }) },
    ]),
  );
  const providerOf = (id: string) => {
    const found = known.get(id);
    if (!found) throw fail('NOT_FOUND', {});
    return found;
  };
  const redirectUriOf = (id: string): string => `${ownOrigin}/api/v1/auth/sso/${id}/callback`;

  /** Invalidates the state. Its fault is audited but not revealed. */
  const takeFlow = (came: Parameters<Sso['callback']>[0], request: RequestInfo): Promise<SsoFlow | undefined> =>
    database.write(scope, async (tx) => {
      const at = clock.now();
      const flow = await new SsoFlowStore(tx).take(sha256Hex(came.parameters.state));
      const wrong = flow && flowFault(flow, { ...came, at });
      if (!wrong) return flow;
      await auditRefusal(tx, { tenantId: flow.tenantId, provider: { id: came.provider }, reason: wrong, at, request });
      return undefined;
    });

  /** Finds the member and creates a code, or returns the error. */
  const admitBy = async (
    assertion: Assertion,
    { flow, provider, request }: { flow: SsoFlow; provider: SsoProvider; request: RequestInfo },
  ): Promise<Readonly<Record<string, string>>> => {
    const { tenantId } = flow;
    const isLinked =
      (await database.read(scope, (tx) => new SsoIdentityStore(tx, tenantId).memberOf(assertion))) !== undefined;
    // Outside the transaction, because it may call the provider.
    const profile = isLinked ? undefined : await assertion.profile();
    const code = randomToken(32);
    const admission = await database.write(scope, async (tx) => {
      const at = clock.now();
      const found = await admit(
        tx,
        { tenantId, provider, issuer: assertion.issuer, subject: assertion.subject, profile },
        { at, request, mail },
      );
      if (!('member' in found)) return found;
      const { boundTo } = flow;
      const browserHash = boundTo === 'browser' ? flow.browserHash : null;
      await new SsoCodeStore(tx).insert({
        codeHash: sha256Hex(code),
        tenantId,
        memberId: found.member.id,
        boundTo,
        browserHash,
        expiresAt: at + CODE_MS,
        at,
        keptSince: at - REMEMBERED_MS,
      });
      return found;
    });
    if ('refused' in admission) return { error: 'not_a_member' };
    if (admission.isNew) changes.notify({ kind: 'member', tenantId, memberId: admission.member.id });
    return { code };
  };

  const open = async (
    tx: Transaction,
    { codeHash, browser, request }: { codeHash: string; browser: string | undefined; request: RequestInfo },
  ): Promise<Outcome> => {
    const at = clock.now();
    const codes = new SsoCodeStore(tx);
    const taken = await codes.take({ codeHash, at });
    const code = await codes.find(codeHash);
    if (!code) return { refused: true };
    const member = await new MemberStore(tx, code.tenantId).byId(code.memberId);
    const tenant = await new TenantStore(tx).byId(code.tenantId);
    if (!taken) {
      const { sessionId } = code;
      if (!member || sessionId === null || !(await new SessionStore(tx).revoke({ id: sessionId, at })))
        return { refused: true };
      await new AuditStore(tx).append({
        tenantId: code.tenantId,
        at,
        actor: actorOf(member, request),
        action: 'sso_code_reuse',
        recordKind: 'session',
        recordId: sessionId,
      });
      return { revoked: sessionId };
    }
    const fault = senderFault(code, { browser, origin: request.origin });
    if (fault !== undefined) {
      await new AuditStore(tx).append({
        tenantId: code.tenantId,
        at,
        actor: anonymousActor(request),
        action: 'sso_refused',
        recordKind: 'member',
        recordId: code.memberId,
        changes: { reason: fault },
      });
      return { refused: true };
    }
    if (!tenant || !member || !isActiveAccount({ tenant, member })) return { refused: true };
    const session = await issue.open(tx, { member, request, way: 'sso' });
    await codes.setSession({ codeHash, sessionId: session.id });
    return { session, member };
  };

  return {
    providers: providers.map(({ id, name }) => ({ id, name })),
    cookie: flowCookie(ownOrigin, COOKIE),

    start: async ({ provider: id, tenantSlug, next, client }, request) => {
      const back = nextRule.check(next, { client });
      const { provider, protocol } = providerOf(id);
      const tenant = await database.read(scope, (tx) => new TenantStore(tx).bySlug(tenantSlug));
      if (tenant?.status !== 'active' || !signsInTo(provider, tenant.slug)) throw fail('NOT_FOUND', {});
      const { state, browser, codeVerifier } = newFlow();
      const nonce = randomToken(32);
      const location = await protocol.authorizationUrl({ redirectUri: redirectUriOf(id), state, nonce, codeVerifier });
      const stateHash = sha256Hex(state);
      const secrets: Secrets = { nonce, codeVerifier };
      const at = clock.now();
      await database.write(scope, (tx) =>
        new SsoFlowStore(tx).insert({
          stateHash,
          tenantId: tenant.id,
          providerId: id,
          browserHash: sha256Hex(browser),
          secretsSealed: keyRing.seal(JSON.stringify(secrets), contextOf({ tenantId: tenant.id, stateHash })),
          next: back,
          boundTo: nextRule.isOfProgram(back, { client }) ? 'loopback' : 'browser',
          expiresAt: at + FLOW_MS,
          createdAt: at,
          asker: addressKey(request.ip),
        }),
      );
      return { location, browser };
    },

    callback: async (came, request) => {
      const { provider, protocol } = providerOf(came.provider);
      const flow = await takeFlow(came, request);
      if (!flow) throw fail('TOKEN_INVALID', {});
      const handshake: Handshake = {
        redirectUri: redirectUriOf(provider.id),
        state: came.parameters.state,
        ...(JSON.parse(keyRing.openText(flow.secretsSealed, contextOf(flow))) as Secrets),
      };
      try {
        const assertion = await protocol.complete(handshake, came.parameters);
        const outcome = await admitBy(assertion, { flow, provider, request });
        return {
          location: nextRule.withParameters(flow.next, outcome),
          browser: 'code' in outcome && flow.boundTo === 'browser' ? came.browser : undefined,
        };
      } catch (error) {
        const isRefusal = error instanceof SsoRefusal;
        if (!isRefusal && !isFailure(error, 'SSO_PROVIDER_UNREACHABLE')) throw error;
        const reason = isRefusal ? error.reason : 'provider_unreachable';
        await database.write(scope, (tx) =>
          auditRefusal(tx, { tenantId: flow.tenantId, provider, reason, at: clock.now(), request }),
        );
        if (!isRefusal) throw error;
        return {
          location: nextRule.withParameters(flow.next, {
            error: error.reason === 'access_denied' ? 'access_denied' : 'sso_failed',
          }),
          browser: undefined,
        };
      }
    },

    exchange: async ({ code, browser }, request) => {
      // Returned instead of thrown, because ending the session of a stolen code must be committed.
      const outcome = await database.write(scope, (tx) => open(tx, { codeHash: sha256Hex(code), browser, request }));
      if ('revoked' in outcome) changes.notify({ kind: 'session', sessionId: outcome.revoked });
      if (!('session' in outcome)) throw fail('TOKEN_INVALID', {});
      return issue.tokensOf(outcome.session, outcome.member);
    },
  };
}

/** How long after its expiry the reuse of a code is detected. */
const REMEMBERED_MS = 24 * 3_600_000;

/** The path includes the exchange, after which the cookie is useless and soon expires. */
const COOKIE = { name: 'service_tenant_sso', path: '/api/v1/auth/sso' } as const;

type Secrets = Pick<Handshake, 'nonce' | 'codeVerifier'>;

type Outcome =
  | { readonly session: SessionRecord; readonly member: MemberRecord }
  | { readonly revoked: string }
  | { readonly refused: true };

const contextOf = ({ tenantId, stateHash }: Pick<SsoFlow, 'tenantId' | 'stateHash'>): string =>
  `sso_flows.secrets_sealed.${tenantId}.${stateHash}`;

/**
 * A client that sends the code of another client has stolen it, or was given it to continue in someone else's session.
 * This includes a web page with a program's code.
 */
function senderFault(
  { boundTo, browserHash }: SsoCode,
  { browser, origin }: { browser: string | undefined; origin: string | undefined },
): string | undefined {
  if (boundTo === 'browser')
    return browser === undefined || browserHash !== sha256Hex(browser) ? 'code_of_another_browser' : undefined;
  return origin === undefined || (URL.canParse(origin) && isLoopback(origin)) ? undefined : 'code_of_a_program';
}
