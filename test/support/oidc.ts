import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration, default as Provider } from 'oidc-provider';
import type { Client } from './http.js';

/** The claims of the account that signs in at the provider. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** A real OpenID provider on this machine that signs in every browser as the account set by the test. */
export interface TestProvider {
  readonly issuer: string;
  /** The provider's entry in `SSO_PROVIDERS`. */
  settings(more?: Readonly<Record<string, unknown>>): {
    readonly id: string;
    readonly name: string;
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } & Readonly<Record<string, unknown>>;
  /** Sets the account that is signed in at the provider; `null` refuses to sign in. */
  account: Account | null;
  /** Follows the redirects through the provider, from the service's redirect to the callback URL. */
  visit(location: string): Promise<URL>;
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
}

export interface ProviderOptions {
  /** The service's `PUBLIC_URL`. */
  readonly publicUrl: string;
  /** Whether names and emails are also in the id_token, not only in UserInfo. */
  readonly claimsInIdToken?: boolean;
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post';
}

/**
 * The provider is created at its first request: until then its server costs nothing, and it does not keep a process
 * alive.
 */
export async function startOidc({
  publicUrl,
  claimsInIdToken = false,
  clientAuth = 'client_secret_basic',
}: ProviderOptions): Promise<TestProvider> {
  const clientSecret = randomBytes(24).toString('base64url');
  let made: Promise<RequestListener> | undefined;
  const server = createServer((request, response) => {
    // Keep-alive connections would delay the end of the run.
    response.setHeader('Connection', 'close');
    made ??= makeProvider();
    made.then(
      (listener) => listener(request, response),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const issuer = await listening(server);

  const makeProvider = async (): Promise<RequestListener> => {
    const { default: ProviderClass } = await import('oidc-provider');
    const redirect_uris = [...PROVIDER_IDS].map((id) => `${publicUrl}/api/v1/auth/sso/${id}/callback`);
    const provider = new ProviderClass(issuer, {
      clients: [
        { client_id: CLIENT_ID, client_secret: clientSecret, redirect_uris, token_endpoint_auth_method: clientAuth },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      jwks: { keys: [await signingKey()] },
      ttl: {
        AccessToken: HOUR_S,
        AuthorizationCode: 60,
        Grant: HOUR_S,
        IdToken: HOUR_S,
        Interaction: HOUR_S,
        Session: HOUR_S,
      },
      conformIdTokenClaims: !claimsInIdToken,
      cookies: { keys: [randomBytes(16).toString('hex')] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...(accounts.get(sub) ?? { sub }) }) }),
      loadExistingGrant: (ctx) =>
        grantAll(ctx.oidc.provider, {
          accountId: ctx.oidc.session?.accountId ?? '',
          clientId: ctx.oidc.client?.clientId ?? '',
        }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    } satisfies Configuration);
    const callback = provider.callback();
    return (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
      const { account } = test;
      if (account) accounts.set(account.sub, account);
      const result = account
        ? { login: { accountId: account.sub } }
        : { error: 'access_denied', error_description: 'The user said no' };
      provider
        .interactionFinished(request, response, result)
        .catch((error: unknown) => response.writeHead(500).end(String(error)));
    };
  };

  const accounts = new Map<string, Account>();
  const test: TestProvider = {
    issuer,
    account: null,
    settings: (more = {}) => ({ id: 'corp', name: 'Corp Login', issuer, clientId: CLIENT_ID, clientSecret, ...more }),
    visit: (location) => visit(location, issuer),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    restart: () => new Promise((resolve) => server.listen(Number(new URL(issuer).port), '127.0.0.1', () => resolve())),
  };
  return test;
}

/** One provider for all servers of a run, with the id `corp` in their settings. */
export const sharedOidc = (): Promise<TestProvider> => (shared ??= startOidc({ publicUrl: SERVER_URL }));
let shared: Promise<TestProvider> | undefined;
/** `PUBLIC_URL` of servers in tests. */
export const SERVER_URL = 'http://localhost:8080';

/**
 * A sign-in up to its callback: the service's answer when the browser returns. `cookie` is sent with the callback and
 * with the exchange of the resulting code.
 */
export async function beginSso(
  client: Client,
  {
    provider,
    id = 'corp',
    query,
  }: { provider: Pick<TestProvider, 'visit'>; id?: string; query: Readonly<Record<string, string>> },
): Promise<{ cookie: string; back: URL; finish(): ReturnType<Client['get']> }> {
  const start = await client.get(`/auth/sso/${id}/start`, { query });
  const location = start.headers.get('location');
  if (start.status !== 302 || location === null) throw new Error(`start answered ${start.status}: ${start.text}`);
  const cookie = (start.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const back = await provider.visit(location);
  return {
    cookie,
    back,
    finish: async () => {
      const answer = await client.get(`/auth/sso/${id}/callback`, {
        query: back.search.slice(1),
        headers: { Cookie: cookie },
      });
      cookies.set(codeIn(answer.headers.get('location')), cookie);
      return answer;
    },
  };
}

/** Exchanges a code like the browser that received it. */
export const exchangeSso = <T>(client: Client, code: string) =>
  client.post<T>('/auth/sso/exchange', { code }, { headers: { Cookie: cookies.get(code) ?? '' } });

/** The cookies of the browsers, by the code that each received. */
const cookies = new Map<string, string>();

const codeIn = (location: string | null): string => new URL(location ?? '/', SERVER_URL).searchParams.get('code') ?? '';

const CLIENT_ID = 'duebook';
const HOUR_S = 3_600;
/** The ids that the provider may have in the service's settings. */
const PROVIDER_IDS = ['corp', 'post', 'plain', 'auto'] as const;

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.unref().listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

async function signingKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' };
}

/** No consent page. */
async function grantAll(provider: Provider, { accountId, clientId }: { accountId: string; clientId: string }) {
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}

/** A browser for the provider only: it keeps cookies and follows redirects until one leads elsewhere. */
async function visit(location: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(location);
  for (let steps = 0; at.origin === issuer && steps < 10; steps += 1) {
    const answer = await fetch(at, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    if (next === null)
      throw new Error(
        `the provider answered ${answer.status} at ${at.pathname}: ${(await answer.text()).slice(0, 500)}`,
      );
    await answer.arrayBuffer();
    at = new URL(next, at);
  }
  return at;
}
