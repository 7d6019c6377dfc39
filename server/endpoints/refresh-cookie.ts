import { REFRESH_COOKIE } from '../auth/refresh.js';
import type { TokenPair } from '../auth/shapes.js';
import { reply, type Reply } from '../http/reply.js';
import type { Services } from '../services.js';

const COOKIE = { name: REFRESH_COOKIE, path: '/api/v1/auth' } as const;

/** Every answer that carries a refresh token sets it as a cookie too: browsers keep it where their pages cannot read it. */
export const withRefreshCookie = <T extends TokenPair>(body: T, { sessions }: Pick<Services, 'sessions'>): Reply<T> =>
  reply(body, { cookie: { ...COOKIE, value: body.refreshToken, maxAgeMs: sessions.refreshLifetimeMs } });

/** Clears it. */
export const NO_REFRESH_COOKIE = { ...COOKIE, value: '', maxAgeMs: 0 } as const;
