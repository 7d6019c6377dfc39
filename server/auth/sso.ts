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
import { actorOf, stranger } from '../access/actor.js';
import { addressKey } from './limits.js';
import type { SessionIssue } from './session-issue.js';
import type { TokenPair } from './auth.schemas.js';
import { admit, auditRefusal } from './sso-admission.js';
import { createNextRule } from './sso-next.js';
import { createSsoProtocol, SsoRefusal, type Assertion, type Handshake } from './sso-protocol.js';
import { signsInTo, type SsoProvider } from './sso-providers.js';
import { isActiveAccount } from '../access/session-policy.js';

/**
 * Signing in at a provider of OpenID Connect. An unknown provider is NOT_FOUND; one that does not answer
 * SSO_PROVIDER_UNREACHABLE.
 */
export interface Sso {
  /** All of them, of whichever organisations: the list is public, and tells nothing of who they sign in. */
  readonly providers: readonly { readonly id: string; readonly name: string }[];
  /**
   * In which a browser carries what it is known by. Over https its name has browsers refuse one that another host of
   * the domain, or a page without TLS, would set: with it that one's own code could be pushed on somebody, who would
   * then go on in a stranger's session.
   */
  readonly cookie: { readonly name: string; readonly path: string };
  /**
   * Begins. `browser` goes into a cookie and must come back with the callback, and with the exchange. Throws NOT_FOUND
   * for an unknown tenant and for a provider that does not sign in to it, INVALID_INPUT for a `next` that is not ours.
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
   * The browser is back. Answers where it goes on: to its `next`, with `code`, or with `error`: `not_a_member`,
   * `access_denied` (the provider's user said no) or `sso_failed`; and what its cookie is to be from now on, for so
   * long as the code is good, where it needs one. Throws TOKEN_INVALID for a state that is unknown, used, over, or
   * another browser's or provider's.
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
   * Gives tokens for a code, once, to the browser that began or to the program that the code was sent to. Throws
   * TOKEN_INVALID for a code that is bad or over, for one that somebody else brings, which uses it up, and for one that
   * was used, whose session it ends.
   */
  exchange(
    came: { readonly code: string; readonly browser: string | undefined },
    request: RequestInfo,
  ): Promise<TokenPair>;
}

/** How long one may be at the provider, in milliseconds: the cookie's lifetime too. */
export const FLOW_MS = 10 * 60_000;
/** How long a code is good, in milliseconds: from the callback on the cookie's lifetime too. */
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

  /** Uses the state up. What is wrong with it is audited and not told. */
  const takeFlow = (came: Parameters<Sso['callback']>[0], request: RequestInfo): Promise<SsoFlow | undefined> =>
    database.write(scope, async (tx) => {
      const at = clock.now();
      const flow = await new SsoFlowStore(tx).take(sha256Hex(came.parameters.state));
      const wrong = flow && faultOf(flow, { ...came, at });
      if (!wrong) return flow;
      await auditRefusal(tx, { tenantId: flow.tenantId, provider: { id: came.provider }, reason: wrong, at, request });
      return undefined;
    });

  /** Which member it is, and a code for him; or where to go with which error. */
  const admitBy = async (
    assertion: Assertion,
    { flow, provider, request }: { flow: SsoFlow; provider: SsoProvider; request: RequestInfo },
  ): Promise<Readonly<Record<string, string>>> => {
    const { tenantId } = flow;
    const isLinked =
      (await database.read(scope, (tx) => new SsoIdentityStore(tx, tenantId).memberOf(assertion))) !== undefined;
    // Asks the provider once more, perhaps, so it is outside the transaction.
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
    if (admission.isNew) changes.tell({ kind: 'member', tenantId, memberId: admission.member.id });
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
    const fault = bringerFault(code, { browser, origin: request.origin });
    if (fault !== undefined) {
      await new AuditStore(tx).append({
        tenantId: code.tenantId,
        at,
        actor: stranger(request),
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
    cookie: ownOrigin.startsWith('https:') ? { name: `__Host-${COOKIE.name}`, path: '/' } : COOKIE,

    start: async ({ provider: id, tenantSlug, next, client }, request) => {
      const back = nextRule.check(next, { client });
      const { provider, protocol } = providerOf(id);
      const tenant = await database.read(scope, (tx) => new TenantStore(tx).bySlug(tenantSlug));
      if (tenant?.status !== 'active' || !signsInTo(provider, tenant.slug)) throw fail('NOT_FOUND', {});
      const [state, browser, nonce, codeVerifier] = [
        randomToken(32),
        randomToken(32),
        randomToken(32),
        randomToken(32),
      ];
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
      // Answered, not thrown: the end of a session whose code was stolen must be committed.
      const outcome = await database.write(scope, (tx) => open(tx, { codeHash: sha256Hex(code), browser, request }));
      if ('revoked' in outcome) changes.tell({ kind: 'session', sessionId: outcome.revoked });
      if (!('session' in outcome)) throw fail('TOKEN_INVALID', {});
      return issue.tokensOf(outcome.session, outcome.member);
    },
  };
}

/** For so long after its end a code's second use is recognised. */
const REMEMBERED_MS = 24 * 3_600_000;

/** The path takes in the exchange, after which the cookie is worth nothing and soon gone. */
const COOKIE = { name: 'service_tenant_sso', path: '/api/v1/auth/sso' } as const;

type Secrets = Pick<Handshake, 'nonce' | 'codeVerifier'>;

type Outcome =
  | { readonly session: SessionRecord; readonly member: MemberRecord }
  | { readonly revoked: string }
  | { readonly refused: true };

const contextOf = ({ tenantId, stateHash }: Pick<SsoFlow, 'tenantId' | 'stateHash'>): string =>
  `sso_flows.secrets_sealed.${tenantId}.${stateHash}`;

/**
 * Another provider's answer to our question is the mix-up attack; another browser's, somebody else's sign-in pushed on
 * this one.
 */
function faultOf(
  flow: SsoFlow,
  { provider, browser, at }: { provider: string; browser: string | undefined; at: number },
): string | undefined {
  if (flow.expiresAt <= at) return 'state_expired';
  if (flow.providerId !== provider) return 'state_of_another_provider';
  return browser === undefined || flow.browserHash !== sha256Hex(browser) ? 'state_of_another_browser' : undefined;
}

/**
 * Who brings another's code has stolen it, or has it from somebody who wants them to go on under that one's name: a
 * page that is told a program's code too.
 */
function bringerFault(
  { boundTo, browserHash }: SsoCode,
  { browser, origin }: { browser: string | undefined; origin: string | undefined },
): string | undefined {
  if (boundTo === 'browser')
    return browser === undefined || browserHash !== sha256Hex(browser) ? 'code_of_another_browser' : undefined;
  return origin === undefined || (URL.canParse(origin) && isLoopback(origin)) ? undefined : 'code_of_a_program';
}
