import { isIP } from 'node:net';
import { REFRESH_COOKIE } from '../auth/refresh.js';
import type { TokenPair } from '../auth/auth.schemas.js';
import { problem } from '../../data-plane-agent/base/http/problems.js';
import { reply, type Reply } from '../http/reply.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Services } from '../services/services.js';

const COOKIE = { name: REFRESH_COOKIE, path: '/api/v1/auth' } as const;

/**
 * Every answer that carries a refresh token sets it as a cookie too: browsers keep it where their pages cannot read it.
 */
export const withRefreshCookie = <T extends TokenPair>(body: T, { sessions }: Pick<Services, 'sessions'>): Reply<T> =>
  reply(body, { cookie: { ...COOKIE, value: body.refreshToken, maxAgeMs: sessions.refreshLifetimeMs } });

/** Clears it. */
export const NO_REFRESH_COOKIE = { ...COOKIE, value: '', maxAgeMs: 0 } as const;

/**
 * We set one cookie of the name. Where a second one comes along, another host of the domain or a page without TLS has
 * slipped it in, and which is ours cannot be told: whoever took one of them might go on in a stranger's session. So
 * none counts, and all are cleared wherever the browser lets us: at each path under which they come, of this host
 * alone, of it as a domain and of the domains above. Why no more can be done is in docs/api-conventions.md, *The
 * refresh cookie*.
 */
export function refuseRepeatedCookie({ repeatedCookies = [], host = '' }: RequestInfo): void {
  if (!repeatedCookies.includes(REFRESH_COOKIE)) return;
  const own = PATHS.map((path) => `${cleared(path)}; HttpOnly; SameSite=Strict`);
  const others = domainsOf(host).flatMap((domain) => PATHS.map((path) => `${cleared(path)}; Domain=${domain}`));
  throw problem(401, `More than one cookie ${REFRESH_COOKIE} came along, so none was taken; sign in again`, {
    'WWW-Authenticate': 'Bearer',
    'Set-Cookie': [...own, ...others],
  });
}

const PATHS = ['/', '/api', '/api/v1', COOKIE.path, `${COOKIE.path}/refresh`] as const;

const cleared = (path: string): string => `${REFRESH_COOKIE}=; Path=${path}; Max-Age=0`;

const NAME = /^[a-z0-9.-]{1,255}$/i;
/** As many as keep the answer's head small enough for the proxies in front of us. */
const MAX_DOMAINS = 3;

function domainsOf(host: string): readonly string[] {
  const labels = host.split('.');
  // What a proxy passes on as the host is the client's word: nothing but a name goes into a header of ours.
  if (!NAME.test(host) || isIP(host) !== 0 || labels.length < 2) return [];
  return labels
    .slice(0, -1)
    .map((_, at) => labels.slice(at).join('.'))
    .slice(0, MAX_DOMAINS);
}
