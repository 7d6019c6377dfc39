import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../../data-plane-agent/base/http/request.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { Outbound } from '../../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../access/actor.js';
import type { Edition } from '../../access/edition.js';
import type { Principal } from '../../access/principal.js';
import { createNextRule } from '../../auth/next-rule.js';
import { flowCookie, type FlowCookie } from '../../auth/oauth-flow.js';
import type { DataPlanes } from '../../data-planes/for-tenant.js';
import { CalendarConnectionStore } from '../../store/calendar-connections.js';
import type { KeyedDatabase } from '../../store/keyed-database.js';
import type { Wait } from './api.js';
import { createConnect, type CameBack } from './connect.js';
import { createCalendarOauth } from './oauth.js';
import { configuredProvider, type CalendarSettings } from './providers.js';
import type { RunResult } from './run.js';
import { createSync } from './sync.js';
import { createUpkeep, isOf, type CalendarUpkeep } from './upkeep.js';

/** The connection of organisations to an external calendar, and the events of their open payment lines in it. */
export interface Calendar {
  /** The cookie that identifies the browser while a calendar is being connected. */
  readonly cookie: FlowCookie;
  status(tenantId: string): Promise<CalendarStatus>;
  /**
   * Begins to connect a calendar: the address at the provider, and the value of the cookie. Throws
   * CALENDAR_NOT_CONFIGURED, and INVALID_INPUT for a `next` that is not allowed.
   */
  start(principal: Principal, next: string | null): Promise<{ readonly location: string; readonly browser: string }>;
  /**
   * Handles the redirect from the provider. Returns the `next` URL with `calendar=connected`, or with `error`. Throws
   * TOKEN_INVALID for a state that is unknown, used, expired, or of another browser or an ended session.
   */
  callback(came: CameBack, request: RequestInfo): Promise<string>;
  /**
   * Pushes the open lines for as long as a request may take. Throws CALENDAR_NOT_CONFIGURED, CALENDAR_NOT_CONNECTED,
   * and CALENDAR_SYNC_RUNNING if another run does not end in time.
   */
  sync(tenantId: string, actor: Actor): Promise<RunResult>;
  readonly upkeep: CalendarUpkeep;
}

export interface CalendarStatus {
  readonly configured: boolean;
  readonly connected: boolean;
  readonly provider: string | null;
  readonly account: string | null;
  readonly lastSyncAt: number | null;
  readonly lastError: string | null;
}

export interface CalendarParts {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly log: Log;
  readonly dataPlanes: DataPlanes;
  readonly outbound: Outbound;
  readonly edition: Edition;
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
  readonly settings: CalendarSettings;
  readonly wait: Wait;
}

/** How long the run of a request may take; a request that was repeated by a proxy meets its lease. */
const REQUEST_MS = 20_000;
/** How often and how long a request waits for another run. */
const POLL_MS = 250;
const POLLS = 80;

export function createCalendar(parts: CalendarParts): Calendar {
  const { database, clock, wait } = parts;
  const scope = { tenantId: null };
  const ownOrigin = new URL(parts.publicUrl).origin;
  const configured = configuredProvider(parts.settings);
  const oauth = configured && createCalendarOauth(configured, parts);
  const live = configured &&
    oauth && {
      configured,
      oauth,
      sync: createSync({ ...parts, configured, oauth }),
      connect: createConnect({
        ...parts,
        configured,
        oauth,
        nextRule: createNextRule({ ownOrigin, allowedOrigins: parts.corsOrigins }),
        redirectUri: `${ownOrigin}${CALLBACK}`,
      }),
    };
  const whenConfigured = (): NonNullable<typeof live> => {
    if (!live) throw fail('CALENDAR_NOT_CONFIGURED', {});
    return live;
  };
  const current = (tenantId: string) => database.read(scope, (tx) => new CalendarConnectionStore(tx).current(tenantId));

  return {
    cookie: flowCookie(ownOrigin, COOKIE),

    status: async (tenantId) => {
      const connection = await current(tenantId);
      const usable = connection !== undefined && configured !== undefined && isOf(connection, configured);
      return {
        configured: configured !== undefined,
        connected: usable && connection.state === 'connected',
        provider: configured?.provider.id ?? null,
        account: connection?.account ?? null,
        lastSyncAt: connection?.lastSyncAt ?? null,
        lastError: connection === undefined || usable ? (connection?.lastError ?? null) : OTHER_PROVIDER,
      };
    },

    start: async (principal, next) => whenConfigured().connect.start(principal, next),
    // Without a provider no state can be valid.
    callback: async (came, request) => {
      if (!live) throw fail('TOKEN_INVALID', {});
      return live.connect.callback(came, request);
    },

    sync: async (tenantId, actor) => {
      const { sync, configured: of } = whenConfigured();
      const { signal } = new AbortController();
      for (let polls = 0; ; polls += 1) {
        // A repeated request returns the stored answer, although there is nothing left to push.
        const before = await database.answered<RunResult>(actor.keyed);
        if (before) return before.answer;
        const connection = await current(tenantId);
        if (!connection) throw fail('CALENDAR_NOT_CONNECTED', { reason: null });
        if (!isOf(connection, of)) throw fail('CALENDAR_NOT_CONNECTED', { reason: OTHER_PROVIDER });
        if (connection.state !== 'connected') throw fail('CALENDAR_NOT_CONNECTED', { reason: connection.lastError });
        const outcome = await sync({ connection, actor, budgetMs: REQUEST_MS, signal });
        if (outcome.is === 'ran') return outcome.result;
        if (outcome.is === 'ended') throw fail('CALENDAR_NOT_CONNECTED', { reason: outcome.reason });
        if (polls >= POLLS) throw fail('CALENDAR_SYNC_RUNNING', { retryAfterSeconds: RETRY_AFTER_S });
        await wait(POLL_MS, signal);
      }
    },

    upkeep: createUpkeep({ database, clock, keyRing: parts.keyRing, log: parts.log, provider: live }),
  };
}

const CALLBACK = '/api/v1/calendar-sync/callback';
const COOKIE: FlowCookie = { name: 'service_tenant_calendar', path: '/api/v1/calendar-sync' };
const RETRY_AFTER_S = 30;
const OTHER_PROVIDER = 'The calendar was connected with other settings of this installation. Connect it again.';
