import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { instantOf, todayIn, addDays } from '../../../data-plane-agent/base/day.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { Outbound } from '../../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import { bind } from '../../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../../data-plane-agent/plane/operations/index.js';
import type { Actor } from '../../access/actor.js';
import type { Edition } from '../../access/edition.js';
import { settingsOf } from '../../access/settings.js';
import { ownerScopeOf } from '../../data-planes/call.js';
import type { DataPlanes } from '../../data-planes/for-tenant.js';
import { systemCall } from '../../data-planes/system-call.js';
import { AuditStore } from '../../store/audit.js';
import { CalendarConnectionStore, type CalendarConnection } from '../../store/calendar-connections.js';
import type { KeyedDatabase } from '../../store/keyed-database.js';
import { MemberStore, type MemberRecord } from '../../store/members.js';
import { TenantStore, type TenantRecord } from '../../store/tenants.js';
import { endCalendar } from '../../tenants/calendar-end.js';
import { administers } from '../../tenants/member-rules.js';
import { createCalendarApi, type Wait } from './api.js';
import { digestKey } from './event.js';
import { GrantError, type CalendarOauth } from './oauth.js';
import type { ConfiguredProvider } from './providers.js';
import { errorText, RunReplaced, runSync, type RunResult } from './run.js';
import { accessTokens } from './tokens.js';

export interface SyncParts {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly dataPlanes: DataPlanes;
  readonly outbound: Outbound;
  readonly edition: Edition;
  readonly configured: ConfiguredProvider;
  readonly oauth: CalendarOauth;
  readonly wait: Wait;
  readonly log: Log;
}

/**
 * `ran`: the result was recorded. `busy`: another run holds the connection. `ended`: there is no usable connection (any
 * more), and why.
 */
export type SyncOutcome =
  | { readonly is: 'ran'; readonly result: RunResult }
  | { readonly is: 'busy' }
  | { readonly is: 'ended'; readonly reason: string };

export interface SyncRequest {
  readonly connection: CalendarConnection;
  readonly actor: Actor;
  /** How long the run may take, in milliseconds. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

export type Sync = (request: SyncRequest) => Promise<SyncOutcome>;

/** A run of a process that died is replaced after this time, which is longer than one request with its retries. */
const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Operations on contract data during a run. */
const CALL_MS = 10_000;

/** Pushes the open lines of one tenant to its calendar, records the result, and audits it. */
export function createSync(parts: SyncParts): Sync {
  const { database, clock, keyRing, configured, oauth, log } = parts;
  const scope = { tenantId: null };

  return async ({ connection: { tenantId, id }, actor, budgetMs, signal }) => {
    const token = newId();
    const began = clock.now();
    const claimed = await database.write(scope, async (tx) => {
      const connections = new CalendarConnectionStore(tx);
      const tenant = await new TenantStore(tx).byId(tenantId);
      const connection = await connections.byId({ tenantId, id });
      if (!tenant || connection?.state !== 'connected') return undefined;
      const member = await new MemberStore(tx, tenantId).byId(connection.memberId);
      // Their calendar shows what they may see, so it must not go on when they may not administer any more.
      if (member?.status !== 'active' || !(await administers(tx, member))) {
        await endCalendar(tx, { tenantId, at: began, actor, reason: 'member_not_admin' });
        return undefined;
      }
      const isFree = await connections.claim({ tenantId, id, token, at: began, until: began + LEASE_MS });
      return { tenant, connection, member, isFree };
    });
    if (!claimed) return { is: 'ended', reason: ENDED };
    if (!claimed.isFree) return { is: 'busy' };
    const { tenant, connection, member } = claimed;

    const calendar = configured.provider.open(
      createCalendarApi({
        apiUrl: configured.apiUrl,
        outbound: parts.outbound,
        clock,
        wait: parts.wait,
        token: accessTokens(connection, { database, clock, keyRing, oauth }),
        endsAt: began + budgetMs,
        signal,
      }),
      tenantId,
    );
    const settings = settingsOf(tenant.settings);
    // One event with its retries may take longer than the lease.
    const renewal = setInterval(() => void renewed(), LEASE_MS / 2);
    const renewed = async (): Promise<void> => {
      try {
        await database.write(scope, (tx) =>
          new CalendarConnectionStore(tx).renew({ tenantId, id, token, until: clock.now() + LEASE_MS }),
        );
      } catch (error) {
        log.warn({ err: error, lease: 'calendar' }, 'lease not renewed');
      }
    };
    try {
      const { settled, ...result } = await runSync({
        connection,
        token,
        database,
        calendar,
        plane: planeOf(parts, { tenant, member, actor, at: began }),
        style: { edition: parts.edition, language: settings.defaultLanguage, timeZone: settings.timezone },
        digestKey: digestKey(keyRing),
        leaseEnd: () => clock.now() + LEASE_MS,
        now: () => clock.now(),
        isOver: () => signal.aborted || clock.now() - began >= budgetMs,
      });
      const answer = await database.write({ ...scope, keyed: actor.keyed }, async (tx) => {
        const at = clock.now();
        const [first] = result.errors;
        await new CalendarConnectionStore(tx).finish({
          tenantId,
          id,
          token,
          settled,
          lastSyncAt: result.complete ? at : null,
          lastError: first?.message ?? null,
          nextAt: first ? at + HOUR_MS : result.complete ? nextPush(tenant, at) : at,
          at,
        });
        const { errors: _errors, ...counts } = result;
        // The schedule repeats what failed every hour.
        if (actor.kind === 'system' && counts.created + counts.updated + counts.removed === 0) return result;
        await new AuditStore(tx).append({
          tenantId,
          at,
          actor,
          action: 'calendar_synced',
          recordKind: 'calendar_connection',
          recordId: id,
          changes: counts,
        });
        return result;
      });
      return { is: 'ran', result: answer };
    } catch (error) {
      if (error instanceof RunReplaced) return { is: 'ended', reason: ENDED };
      const reason = errorText(error);
      const revoked = error instanceof GrantError && error.isRevoked;
      await database.write(scope, async (tx) => {
        const at = clock.now();
        const connections = new CalendarConnectionStore(tx);
        if (!revoked)
          return connections.finish({
            tenantId,
            id,
            token,
            settled: false,
            lastSyncAt: null,
            lastError: reason,
            nextAt: at + HOUR_MS,
            at,
          });
        if (!(await connections.revoke({ tenantId, id, token, reason, at }))) return;
        await new AuditStore(tx).append({
          tenantId,
          at,
          actor,
          action: 'calendar_revoked',
          recordKind: 'calendar_connection',
          recordId: id,
          changes: { provider: connection.providerId, reason: error.reason },
        });
      });
      if (revoked) return { is: 'ended', reason };
      throw error;
    } finally {
      clearInterval(renewal);
    }
  };
}

const ENDED =
  'The connection has ended: the member who made it no longer administers the organisation, or a calendar was connected again.';

/** The next time at which the tenant's clocks show its reminder hour. */
export function nextPush({ settings }: Pick<TenantRecord, 'settings'>, at: number): number {
  const { timezone, reminderHour } = settingsOf(settings);
  const today = todayIn(timezone, at);
  const todays = instantOf(today, reminderHour, timezone);
  return todays > at ? todays : instantOf(addDays(today, 1), reminderHour, timezone);
}

/** The data plane, with the scope of the member who connected the calendar: it shows what they may see. */
function planeOf(
  { dataPlanes }: SyncParts,
  { tenant, member, actor, at }: { tenant: TenantRecord; member: MemberRecord; actor: Actor; at: number },
) {
  const settings = settingsOf(tenant.settings);
  const call = {
    ...systemCall({ tenantId: tenant.id, settings: tenant.settings, actor, at }),
    timeoutMs: CALL_MS,
    subjectScope: member.subjectScope && [...member.subjectScope],
    ownerScope: ownerScopeOf(member, settings),
  };
  return bind(dataPlanes.forTenant(tenant.id), call, { operations: OPERATIONS, only: ['listOpenLines'] });
}
