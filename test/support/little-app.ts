import { systemClock } from '../../data-plane-agent/base/clock.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createApp, type AppOptions } from '../../server/app.js';
import { FEATURES, MODULES, type Feature, type Level, type Module } from '../../server/access/permissions.js';
import type { Principal } from '../../server/access/principal.js';
import { DEFAULT_SETTINGS } from '../../server/access/settings.js';
import type { Plane } from '../../server/data-planes/plane.js';
import type { Api, Caller } from '../../server/http/handler.js';
import { listen } from '../../data-plane-agent/base/http/listen.js';
import type { Endpoints } from '../../server/http/mount.js';
import { rateLimit } from '../../server/http/rate-limit.js';
import type { Services } from '../../server/services/services.js';
import { client, type Client } from './http.js';

export interface LittleApp {
  readonly client: Client;
  /** What was logged, line by line. */
  readonly logged: readonly Record<string, unknown>[];
  /** Who called contract data, and with which conditions. */
  readonly calls: readonly Caller[];
  stop(): Promise<void>;
}

/** The token of each caller that the little authenticator knows. */
export type Callers = Readonly<Record<string, Principal>>;

/** HTTP as the product speaks it, over endpoints of a test's own and without anything behind them. */
export async function littleApp(
  endpoints: Endpoints,
  options: { callers?: Callers; perMinute?: number; logLevel?: string; plane?: Partial<Plane> } & Partial<
    Omit<AppOptions, 'endpoints' | 'api' | 'log'>
  > & { api?: Partial<Api> } = {},
): Promise<LittleApp> {
  const logged: Record<string, unknown>[] = [];
  const calls: Caller[] = [];
  const log = createLog({
    level: options.logLevel ?? 'debug',
    name: 'test',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const app = createApp({
    endpoints,
    pages: [],
    routes: [],
    clock: systemClock,
    corsOrigins: [],
    trustProxy: 0,
    observers: [],
    recordRefusal: () => Promise.resolve(),
    ...options,
    log,
    api: {
      services: {} as Services, // the endpoints of these tests call none
      authenticator: {
        again: (principal) => Promise.resolve(principal),
        authenticate: (token) => {
          const principal = (options.callers ?? { good: caller() })[token];
          return principal ? Promise.resolve(principal) : Promise.reject(fail('UNAUTHENTICATED', {}));
        },
      },
      planeFor: (who) => {
        calls.push(who);
        return (options.plane ?? {}) as Plane; // as far as the test needs one
      },
      limit: rateLimit({ perMinute: options.perMinute ?? 0 }),
      https: false,
      checkAnswers: true,
      ...options.api,
    },
  });
  // Koa's callback answers a promise that never rejects: it ends in Koa's own error path.
  const handle = app.callback();
  const { port, stop } = await listen((request, answer) => void handle(request, answer), {
    host: '127.0.0.1',
    port: 0,
  });
  return { client: client(`http://127.0.0.1:${port}`), logged, calls, stop };
}

/** A member with every permission and feature but those that are said to be otherwise. */
export function caller({
  levels = {},
  without = [],
  ownPages = false,
}: { levels?: Partial<Record<Module, Level>>; without?: readonly Feature[]; ownPages?: boolean } = {}): Principal {
  return {
    sessionId: 'session-1',
    tenant: { id: '01890000-0000-7000-8000-000000000001', slug: 'acme', name: 'Acme', plan: 'business' },
    user: {
      id: '01890000-0000-7000-8000-000000000002',
      email: 'a@acme.test',
      name: 'A',
      roleCode: 'owner',
      subjectScope: null,
    },
    permissions: { ...record(MODULES, 'edit' as Level), ...levels },
    controls: {},
    features: { ...record(FEATURES, true), ...record(without, false) },
    settings: { ...DEFAULT_SETTINGS, defaultCurrency: 'EUR', displayCurrency: 'EUR', reminderEscalationDays: 3 },
    enrolmentDue: false,
    ownPages,
  };
}

const record = <K extends string, V>(keys: readonly K[], value: V): Record<K, V> =>
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, V>; // fromEntries forgets the keys
