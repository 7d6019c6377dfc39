import { isIP } from 'node:net';
import { REFRESH_COOKIE } from '../auth/refresh.js';
import type { TokenPair } from '../auth/auth.schemas.js';
import { problem } from '../../data-plane-agent/base/http/problems.js';
import { reply, type Reply } from '../http/reply.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Services } from '../services/services.js';

const COOKIE = { name: REFRESH_COOKIE, path: '/api/v1/auth' } as const;

/** Sets each refresh token as a cookie too: scripts in a browser cannot read it. */
export const withRefreshCookie = <T extends TokenPair>(body: T, { sessions }: Pick<Services, 'sessions'>): Reply<T> =>
  reply(body, { cookie: { ...COOKIE, value: body.refreshToken, maxAgeMs: sessions.refreshLifetimeMs } });

/** Clears the cookie. */
export const NO_REFRESH_COOKIE = { ...COOKIE, value: '', maxAgeMs: 0 } as const;

/**
 * Refuses a request with more than one refresh cookie. We set only one: another was set by a different host of the
 * domain or by a page without TLS, and the two cannot be distinguished. Accepting one could continue the session of an
 * attacker. Therefore all are refused and cleared wherever the browser allows it: for each path where they are sent,
 * for this host, for this host as a domain and for its parent domains. The limits of this are described in
 * docs/api-conventions.md, *The refresh cookie*.
 */
export function refuseRepeatedCookie({ repeatedCookies = [], host = '' }: RequestInfo): void {
  if (!repeatedCookies.includes(REFRESH_COOKIE)) return;
  const own = PATHS.map((path) => `${cleared(path)}; HttpOnly; SameSite=Strict`);
  const others = domainsOf(host).flatMap((domain) => PATHS.map((path) => `${cleared(path)}; Domain=${domain}`));
  throw problem(401, `More than one cookie ${REFRESH_COOKIE} was sent, so none was accepted; sign in again`, {
    'WWW-Authenticate': 'Bearer',
    'Set-Cookie': [...own, ...others],
  });
}

const PATHS = ['/', '/api', '/api/v1', COOKIE.path, `${COOKIE.path}/refresh`] as const;

const cleared = (path: string): string => `${REFRESH_COOKIE}=; Path=${path}; Max-Age=0`;

const NAME = /^[a-z0-9.-]{1,255}$/i;
/** Limits the size of the response headers to what common proxies accept. */
const MAX_DOMAINS = 3;

function domainsOf(host: string): readonly string[] {
  const labels = host.split('.');
  // The client controls the host that a proxy passes on: only a valid host name may go into a response header.
  if (!NAME.test(host) || isIP(host) !== 0 || labels.length < 2) return [];
  return labels
    .slice(0, -1)
    .map((_, at) => labels.slice(at).join('.'))
    .slice(0, MAX_DOMAINS);
}
