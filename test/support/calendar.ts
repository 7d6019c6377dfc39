import { makeTenant, signIn, type MadeTenant } from './accounts.js';
import {
  startCalendarProvider,
  type Account,
  type FakeCalendarProvider,
  type StoredEvent,
} from './calendar-provider.js';
import type { Answer, Client } from './http.js';
import { SERVER_URL } from './oidc.js';
import { startServer, type ServerOptions, type TestServer } from './server.js';

/** A provider of calendars, and a server on which organisations connect theirs. */
export interface CalendarServer {
  readonly provider: FakeCalendarProvider;
  readonly server: TestServer;
  stop(): Promise<void>;
}

export async function startCalendarServer(
  name: FakeCalendarProvider['name'],
  { env = {}, ...options }: ServerOptions,
): Promise<CalendarServer> {
  const provider = await startCalendarProvider(name, { publicUrl: SERVER_URL });
  const server = await startServer({ ...options, env: { ...provider.env, ...env } });
  return {
    provider,
    server,
    stop: async () => {
      await server.stop();
      await provider.stop();
    },
  };
}

/** A new organisation, whose owner is signed in and has connected a calendar of a new account. */
export async function organisationWithCalendar({
  server,
  provider,
}: Pick<CalendarServer, 'server' | 'provider'>): Promise<{ org: MadeTenant; owner: Client; account: Account }> {
  const org = await makeTenant(server.services);
  const { client: owner } = await signIn(server.client, { tenant: org.tenant, member: org.owner });
  return { org, owner, account: await connectCalendar(owner, provider) };
}

export interface Status {
  readonly configured: boolean;
  readonly connected: boolean;
  readonly provider: string | null;
  readonly account: string | null;
  readonly lastSyncAt: string | null;
  readonly lastError: string | null;
}

export interface SyncAnswer {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly errors: readonly { readonly paymentId: string | null; readonly message: string }[];
  readonly complete: boolean;
}

/** Begins to connect a calendar, up to the callback. `client` is signed in. */
export async function beginCalendar(
  client: Client,
  { provider, next }: { provider: FakeCalendarProvider; next?: string },
): Promise<{ readonly back: URL; readonly cookie: string; finish(as?: string): Promise<Answer<unknown>> }> {
  const start = await client.get('/calendar-sync/start', { query: next === undefined ? {} : { next } });
  const location = start.headers.get('location');
  if (start.status !== 302 || location === null) throw new Error(`start answered ${start.status}: ${start.text}`);
  const cookie = (start.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const back = await provider.consent(location);
  return {
    back,
    cookie,
    finish: (as = cookie) =>
      client.get('/calendar-sync/callback', { query: back.search.slice(1), headers: { Cookie: as }, token: null }),
  };
}

/** Connects a calendar of a new account, and returns the account. */
export async function connectCalendar(
  client: Client,
  provider: FakeCalendarProvider,
  account: Account = provider.newAccount(),
): Promise<Account> {
  provider.account = account;
  const answer = await (await beginCalendar(client, { provider })).finish();
  if (answer.headers.get('location') !== '/?calendar=connected')
    throw new Error(`the callback answered ${answer.status} ${answer.headers.get('location') ?? answer.text}`);
  return account;
}

/** The events that are not deleted, by title. */
export const eventsOf = ({ events }: Account): StoredEvent[] =>
  [...events.values()].filter(({ deleted }) => !deleted).toSorted((a, b) => (a.title < b.title ? -1 : 1));

export const syncCalendar = <T = SyncAnswer>(client: Client): Promise<Answer<T>> =>
  client.post<T>('/calendar-sync/sync-open-payments');

export const calendarStatus = async (client: Client): Promise<Status> =>
  (await client.get<Status>('/calendar-sync/status')).body;
