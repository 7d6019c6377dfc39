import { AuthorizationResponseError } from 'openid-client';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../../data-plane-agent/base/database/database.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../../data-plane-agent/base/http/request.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Outbound } from '../../../data-plane-agent/base/outbound.js';
import { sha256Hex, type KeyRing } from '../../../data-plane-agent/base/secrets.js';
import { actorOf, anonymousActor } from '../../access/actor.js';
import { edit, meets } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import { isActiveAccount } from '../../access/session-policy.js';
import type { NextRule } from '../../auth/next-rule.js';
import { flowFault, FLOW_MS, newFlow } from '../../auth/oauth-flow.js';
import { AuditStore } from '../../store/audit.js';
import { CalendarConnectionStore } from '../../store/calendar-connections.js';
import { calendarFlowContext, CalendarFlowStore, type CalendarFlow } from '../../store/calendar-flows.js';
import { SessionStore } from '../../store/sessions.js';
import { TenantStore } from '../../store/tenants.js';
import { endCalendar } from '../../tenants/calendar-end.js';
import { createCalendarApi, type Wait } from './api.js';
import { GrantError, type CalendarOauth, type Grant } from './oauth.js';
import { CalendarFault } from './provider.js';
import type { ConfiguredProvider } from './providers.js';
import { nextPush } from './sync.js';
import { sealedTokens } from './tokens.js';

export interface ConnectParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly outbound: Outbound;
  readonly wait: Wait;
  readonly configured: ConfiguredProvider;
  readonly oauth: CalendarOauth;
  readonly nextRule: NextRule;
  readonly redirectUri: string;
}

/** What the provider sent with the browser. */
export interface CameBack {
  /** The value of the browser's cookie. */
  readonly browser: string | undefined;
  readonly parameters: Readonly<Record<string, string>> & { readonly state: string };
}

/** Connecting a tenant's calendar: the redirect to the provider, and back. */
export interface Connect {
  /** Returns the address at the provider, and the value of the cookie that the callback requires. */
  start(principal: Principal, next: string | null): Promise<{ readonly location: string; readonly browser: string }>;
  /** Returns where the browser goes on. Throws TOKEN_INVALID for a state that is not of this browser and session. */
  callback(came: CameBack, request: RequestInfo): Promise<string>;
}

/** How long the provider may take to answer who the account is, in milliseconds. */
const ACCOUNT_MS = 10_000;

export function createConnect(parts: ConnectParts): Connect {
  const { database, clock, keyRing, configured, oauth, nextRule, redirectUri } = parts;
  const scope = { tenantId: null };
  const providerId = configured.provider.id;

  /** Invalidates the state. Its fault is audited but not revealed. */
  const takeFlow = ({ browser, parameters }: CameBack, request: RequestInfo): Promise<CalendarFlow | undefined> =>
    database.write(scope, async (tx) => {
      const at = clock.now();
      const flow = await new CalendarFlowStore(tx).take(sha256Hex(parameters.state));
      if (!flow) return undefined;
      const fault = flowFault(flow, { provider: providerId, browser, at }) ?? (await sessionFault(tx, flow, at));
      if (fault === undefined) return flow;
      await auditRefusal(tx, { flow, reason: fault, at, request });
      return undefined;
    });

  const accountOf = ({ accessToken }: Grant, tenantId: string): Promise<string | null> => {
    const api = createCalendarApi({
      apiUrl: configured.apiUrl,
      outbound: parts.outbound,
      clock,
      wait: parts.wait,
      token: () => Promise.resolve(accessToken),
      endsAt: clock.now() + ACCOUNT_MS,
      signal: AbortSignal.timeout(ACCOUNT_MS),
    });
    return configured.provider.open(api, tenantId).account();
  };

  const insert = async (
    tx: Transaction,
    { flow: { tenantId, memberId }, grant, state, nextAt, at }: Insertion,
  ): Promise<string> => {
    const place = { tenantId, id: newId() };
    const { account, refreshToken } = grant;
    await new CalendarConnectionStore(tx).insert({
      ...place,
      providerId,
      clientId: configured.clientId,
      account: account === null ? null : [...account].slice(0, 320).join(''),
      memberId,
      state,
      ...sealedTokens(place, { ...grant, refreshToken: refreshToken ?? '' }, keyRing),
      // An earlier connection may have left events in this calendar.
      settled: false,
      lastSyncAt: null,
      lastError: null,
      nextAt,
      attempts: 0,
      createdAt: at,
    });
    return place.id;
  };

  const store = (flow: CalendarFlow, grant: NamedGrant, request: RequestInfo) =>
    database.write(scope, async (tx) => {
      const { tenantId, memberId, sessionId } = flow;
      const at = clock.now();
      // Locked, so that of two administrators who connect at the same time the later one replaces the other.
      const tenant = await new TenantStore(tx).lock(tenantId);
      const fault = await sessionFault(tx, flow, at);
      const holder = await new SessionStore(tx).holder(sessionId);
      if (!tenant || !holder || fault !== undefined) {
        await auditRefusal(tx, { flow, reason: fault ?? 'session_ended', at, request });
        // The schedule revokes the grant, which is not used.
        await insert(tx, { flow, grant, state: 'ending', nextAt: at, at });
        return false;
      }
      const actor = actorOf({ id: memberId, name: holder.member.name }, request);
      await endCalendar(tx, { tenantId, at, actor, reason: 'connected_again' });
      const id = await insert(tx, { flow, grant, state: 'connected', nextAt: nextPush(tenant, at), at });
      await new AuditStore(tx).append({
        tenantId,
        at,
        actor,
        action: 'calendar_connected',
        recordKind: 'calendar_connection',
        recordId: id,
        changes: { provider: providerId },
      });
      return true;
    });

  return {
    start: async ({ tenant, user, sessionId }, next) => {
      const back = nextRule.check(next, { client: 'web' });
      const { state, browser, codeVerifier } = newFlow();
      const stateHash = sha256Hex(state);
      const location = await oauth.authorizationUrl({ redirectUri, state, codeVerifier });
      const at = clock.now();
      const secrets: Secrets = { codeVerifier };
      await database.write(scope, (tx) =>
        new CalendarFlowStore(tx).insert({
          stateHash,
          tenantId: tenant.id,
          providerId,
          memberId: user.id,
          sessionId,
          browserHash: sha256Hex(browser),
          secretsSealed: keyRing.seal(JSON.stringify(secrets), calendarFlowContext({ tenantId: tenant.id, stateHash })),
          next: back,
          expiresAt: at + FLOW_MS,
          createdAt: at,
        }),
      );
      return { location, browser };
    },

    callback: async (came, request) => {
      const flow = await takeFlow(came, request);
      if (!flow) throw fail('TOKEN_INVALID', {});
      const { codeVerifier } = JSON.parse(keyRing.openText(flow.secretsSealed, calendarFlowContext(flow))) as Secrets;
      try {
        const grant = await oauth.complete(
          { redirectUri, state: came.parameters.state, codeVerifier },
          came.parameters,
        );
        const account = await accountOf(grant, flow.tenantId);
        if (!(await store(flow, { ...grant, account }, request))) throw fail('TOKEN_INVALID', {});
        return nextRule.withParameters(flow.next, { calendar: 'connected' });
      } catch (error) {
        const refusal = refusalOf(error);
        if (!refusal) throw error;
        await database.write(scope, (tx) =>
          auditRefusal(tx, { flow, reason: refusal.reason, at: clock.now(), request }),
        );
        return nextRule.withParameters(flow.next, { error: refusal.error });
      }
    },
  };
}

interface Secrets {
  readonly codeVerifier: string;
}

type NamedGrant = Grant & { readonly account: string | null };

interface Insertion {
  readonly flow: CalendarFlow;
  readonly grant: NamedGrant;
  readonly state: 'connected' | 'ending';
  readonly nextAt: number;
  readonly at: number;
}

/** The session must be active, and its member an administrator, until the calendar is connected. */
async function sessionFault(
  tx: Transaction,
  { sessionId, tenantId }: CalendarFlow,
  at: number,
): Promise<string | undefined> {
  const holder = await new SessionStore(tx).holder(sessionId);
  if (!holder || holder.session.tenantId !== tenantId) return 'session_ended';
  const { session, tenant, member, role } = holder;
  const isLive = session.revokedAt === null && session.idleExpiresAt > at && session.absoluteExpiresAt > at;
  if (!isLive || !isActiveAccount({ tenant, member })) return 'session_ended';
  return meets(role.permissions, edit('admin')) ? undefined : 'member_not_admin';
}

/** The code for the audit, and the one that the page at `next` gets. */
function refusalOf(error: unknown): { readonly reason: string; readonly error: string } | undefined {
  if (error instanceof GrantError) {
    const denied = error.cause instanceof AuthorizationResponseError && error.reason === 'access_denied';
    return {
      reason: error.reason,
      error: denied ? 'access_denied' : error.kind === 'unreachable' ? 'calendar_unreachable' : 'calendar_failed',
    };
  }
  if (!(error instanceof CalendarFault)) return undefined;
  const away = error.kind === 'unreachable' || error.kind === 'throttled';
  return { reason: `calendar_${error.kind}`, error: away ? 'calendar_unreachable' : 'calendar_failed' };
}

const auditRefusal = (
  tx: Transaction,
  { flow, reason, at, request }: { flow: CalendarFlow; reason: string; at: number; request: RequestInfo },
): Promise<void> =>
  new AuditStore(tx).append({
    tenantId: flow.tenantId,
    at,
    actor: anonymousActor(request),
    action: 'calendar_refused',
    recordKind: 'calendar_provider',
    recordId: flow.providerId,
    changes: { reason },
  });
