import { systemClock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createApp, type AppOptions } from '../../server/app.js';
import { FEATURES, MODULES, type Feature, type Level, type Module } from '../../server/access/permissions.js';
import { createPlans } from '../../server/access/plans.js';
import type { Principal } from '../../server/access/principal.js';
import { tokenRefused } from '../../server/access/token-faults.js';
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
  /** The callers of contract data, with their conditions. */
  readonly calls: readonly Caller[];
  stop(): Promise<void>;
}

/** The callers of the test authenticator by their tokens. */
export type Callers = Readonly<Record<string, Principal>>;

/** The product's HTTP stack over a test's own endpoints, without services behind them. */
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
      services: {} as Services, // these endpoints call no services
      authenticator: {
        again: (principal) => Promise.resolve(principal),
        authenticate: (token) => {
          const principal = (options.callers ?? { good: caller() })[token];
          return principal ? Promise.resolve(principal) : Promise.reject(tokenRefused('foreign'));
        },
      },
      plans: createPlans({ selfHosted: false }),
      planeFor: (who) => {
        calls.push(who);
        return (options.plane ?? {}) as Plane; // the part that the test needs
      },
      limit: rateLimit({ perMinute: options.perMinute ?? 0 }),
      overload: { turn: () => ({ ended: () => undefined }) },
      https: false,
      checkAnswers: true,
      ...options.api,
    },
  });
  // The promise of Koa's callback never rejects: errors are handled by Koa.
  const handle = app.callback();
  const { port, stop } = await listen((request, answer) => void handle(request, answer), {
    host: '127.0.0.1',
    port: 0,
  });
  return { client: client(`http://127.0.0.1:${port}`), logged, calls, stop };
}

/** A member with every permission and feature, except for the overrides. */
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
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, V>; // the type of fromEntries loses the keys
