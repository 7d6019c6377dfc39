import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { googleApi } from './calendar-google.js';
import { microsoftApi } from './calendar-microsoft.js';

export type ProviderName = 'google' | 'microsoft';
export const CALENDAR_PROVIDERS = ['google', 'microsoft'] as const;

/** An event as the calendar of an account has it, in the form that both providers share. */
export interface StoredEvent {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** The first day, and the day after the last one. */
  readonly from: string;
  readonly to: string;
  /** Whether it makes its owner busy, or reminds them. */
  readonly disturbs: boolean;
  readonly tenantId: string | undefined;
  readonly lineId: string | undefined;
  readonly transactionId?: string;
  /** Deleted events keep their id. */
  readonly deleted: boolean;
  readonly etag: string;
}

export interface Account {
  readonly name: string;
  /** By their ids. */
  readonly events: Map<string, StoredEvent>;
}

/** A request to the API of the calendar, and what it answers. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}
export interface ApiAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A provider of calendars on this machine: the consent page, the token endpoint and the calendar API, with the answers
 * that its public documentation describes. `calendar-google.ts` and `calendar-microsoft.ts` name the pages of the API;
 * authorization follows RFC 6749, RFC 7636 (PKCE) and RFC 7009 (revocation).
 */
export interface FakeCalendarProvider {
  readonly name: ProviderName;
  /** The environment of a server that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** The account that consents; `null` refuses. */
  account: Account | null;
  newAccount(name?: string): Account;
  /** The consent page: follows the URL that the service returned, and returns that of the callback. */
  consent(location: string): Promise<URL>;
  /** Overrides the answer to a request, before or after it takes effect; `undefined` leaves it as it is. */
  before: (request: ApiRequest) => Promise<ApiAnswer | 'hang' | undefined> | ApiAnswer | 'hang' | undefined;
  after: (request: ApiRequest, answer: ApiAnswer) => ApiAnswer | 'hang' | undefined;
  /** Overrides the answer of the token endpoint. */
  token: (parameters: URLSearchParams) => ApiAnswer | 'hang' | undefined;
  revocation: () => ApiAnswer | 'hang' | undefined;
  /** The requests to the calendar API, as `METHOD /path`. */
  readonly requests: string[];
  /** The bodies of the requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
  readonly revoked: string[];
  /** The tokens that were issued last. */
  readonly issued: { accessToken: string; refreshToken: string };
  /** Withdraws the consent of an account, as its owner can. */
  withdraw(account: Account): void;
  /** Makes all access tokens invalid, but not the grants. */
  expireAccessTokens(): void;
  stop(): Promise<void>;
}

const CLIENT_ID = 'duebook-calendar';

export async function startCalendarProvider(
  name: ProviderName,
  { publicUrl, lifetimeS = 3_600 }: { readonly publicUrl: string; readonly lifetimeS?: number },
): Promise<FakeCalendarProvider> {
  const clientSecret = `calendar-secret-${randomBytes(12).toString('hex')}`;
  const redirectUri = `${publicUrl}/api/v1/calendar-sync/callback`;
  const codes = new Map<string, { account: Account; challenge: string }>();
  const refreshTokens = new Map<string, Account>();
  const accessTokens = new Map<string, Account>();
  const api = name === 'google' ? googleApi : microsoftApi;

  const consentPage = (query: URLSearchParams): ApiAnswer => {
    const asked = Object.fromEntries(query);
    const right =
      asked['client_id'] === CLIENT_ID &&
      asked['redirect_uri'] === redirectUri &&
      asked['response_type'] === 'code' &&
      asked['code_challenge_method'] === 'S256' &&
      /^[\w-]{43}$/.test(asked['code_challenge'] ?? '') &&
      api.asksForOfflineAccess(query);
    if (!right) return { status: 400, body: { error: 'invalid_request', asked } };
    const back = new URL(redirectUri);
    back.searchParams.set('state', asked['state'] ?? '');
    if (provider.account) {
      const code = `code-${randomBytes(12).toString('hex')}`;
      codes.set(code, { account: provider.account, challenge: asked['code_challenge'] ?? '' });
      back.searchParams.set('code', code);
      // Parameters that providers add.
      back.searchParams.set('scope', asked['scope'] ?? '');
      back.searchParams.set('session_state', 'x');
    } else back.searchParams.set('error', 'access_denied');
    return { status: 302, headers: { Location: back.href } };
  };

  const issue = (account: Account, refreshToken: string): ApiAnswer => {
    const accessToken = `access-${randomBytes(16).toString('hex')}`;
    accessTokens.set(accessToken, account);
    provider.issued.accessToken = accessToken;
    // Microsoft issues a new refresh token with each access token, Google does not.
    const next = name === 'microsoft' ? `refresh-${randomBytes(16).toString('hex')}` : refreshToken;
    refreshTokens.delete(refreshToken);
    refreshTokens.set(next, account);
    provider.issued.refreshToken = next;
    return {
      status: 200,
      body: { access_token: accessToken, token_type: 'Bearer', expires_in: lifetimeS, refresh_token: next },
    };
  };

  const tokenEndpoint = (given: URLSearchParams): ApiAnswer => {
    const refused = (status: number, error: string): ApiAnswer => ({ status, body: { error } });
    if (given.get('client_id') !== CLIENT_ID || given.get('client_secret') !== clientSecret)
      return refused(401, 'invalid_client');
    if (given.get('grant_type') === 'refresh_token') {
      const account = refreshTokens.get(given.get('refresh_token') ?? '');
      return account ? issue(account, given.get('refresh_token') ?? '') : refused(400, 'invalid_grant');
    }
    const code = codes.get(given.get('code') ?? '');
    codes.delete(given.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    if (given.get('redirect_uri') !== redirectUri || code?.challenge !== challenge)
      return refused(400, 'invalid_grant');
    return issue(code.account, `refresh-${randomBytes(16).toString('hex')}`);
  };

  const revoke = (token: string): ApiAnswer => {
    const account = refreshTokens.get(token);
    if (!account) return { status: 400, body: { error: 'invalid_token' } };
    provider.revoked.push(token);
    provider.withdraw(account);
    return { status: 200, body: {} };
  };

  const calendarApi = async (request: ApiRequest): Promise<ApiAnswer | 'hang'> => {
    provider.requests.push(`${request.method} ${request.path}`);
    const account = accessTokens.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (!account) return { status: 401, body: { error: { code: 401, message: 'Invalid Credentials' } } };
    const instead = await provider.before(request);
    if (instead !== undefined) return instead;
    const answer = api.answer(request, account);
    return provider.after(request, answer) ?? answer;
  };

  const route = async (request: IncomingMessage): Promise<ApiAnswer | 'hang'> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
    const sent = await text(request);
    if (pathname === '/authorize') return consentPage(searchParams);
    if (pathname === '/token') {
      const given = new URLSearchParams(sent);
      provider.tokenRequests.push(given);
      return provider.token(given) ?? tokenEndpoint(given);
    }
    if (pathname === '/revoke') return provider.revocation() ?? revoke(new URLSearchParams(sent).get('token') ?? '');
    if (!pathname.startsWith('/api/')) return { status: 404 };
    return calendarApi({
      method: request.method ?? '',
      path: decodeURIComponent(pathname.slice('/api'.length)),
      query: searchParams,
      headers: request.headers,
      body: sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>),
    });
  };

  const server = createServer((request, response) => {
    response.setHeader('Connection', 'close');
    route(request).then(
      (answer) => (answer === 'hang' ? undefined : send(response, answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const origin = await new Promise<string>((resolve) =>
    server.unref().listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
  let made = 0;
  const provider: FakeCalendarProvider = {
    name,
    env: {
      CALENDAR_PROVIDER: name,
      CALENDAR_CLIENT_ID: CLIENT_ID,
      CALENDAR_CLIENT_SECRET: clientSecret,
      CALENDAR_AUTHORIZE_URL: `${origin}/authorize`,
      CALENDAR_TOKEN_URL: `${origin}/token`,
      CALENDAR_API_URL: `${origin}/api`,
    },
    account: null,
    newAccount: (as = `account-${(made += 1)}@${name}.test`) => ({ name: as, events: new Map() }),
    consent: async (location) => {
      const answer = await fetch(location, { redirect: 'manual' });
      const back = answer.headers.get('location');
      if (back === null) throw new Error(`the consent page answered ${answer.status}: ${await answer.text()}`);
      return new URL(back);
    },
    before: () => undefined,
    after: () => undefined,
    token: () => undefined,
    revocation: () => undefined,
    requests: [],
    tokenRequests: [],
    revoked: [],
    issued: { accessToken: '', refreshToken: '' },
    withdraw: (account) => {
      for (const tokens of [refreshTokens, accessTokens])
        for (const [token, of] of tokens) if (of === account) tokens.delete(token);
    },
    expireAccessTokens: () => accessTokens.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}

/** One provider for all servers of a run. It accepts every consent. */
export const sharedCalendar = (): Promise<FakeCalendarProvider> =>
  (shared ??= startCalendarProvider('google', { publicUrl: 'http://localhost:8080' }).then((provider) => {
    provider.account = provider.newAccount();
    return provider;
  }));
let shared: Promise<FakeCalendarProvider> | undefined;

function send(response: ServerResponse, { status, body, headers = {} }: ApiAnswer): void {
  response.writeHead(status, { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers });
  response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
}
