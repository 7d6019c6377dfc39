import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { REFRESH_COOKIE } from '../auth/refresh.js';
import { AuthLoginResult, NameProfile, Session, TokenPair } from '../auth/shapes.js';
import { endpoint } from '../http/endpoint.js';
import { reply } from '../http/reply.js';
import type { Services } from '../services.js';

const challengeToken = s.optional(s.verbatim({ max: 4_096, about: 'Asked for where the bot challenge is enabled.' }));

const newAccount = {
  tenantName: s.text({ min: 2, max: 80 }),
  tenantSlug: s.text({ max: 64, pattern: '^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$', about: 'Becomes the login name of the organisation.' }),
  adminName: s.text({ min: 2, max: 80 }),
  nameProfile: s.optional(NameProfile),
  email: s.email(),
  password: s.verbatim({ min: 8, max: 256 }),
  subjectName: s.optional(s.text({ max: 200, about: 'The first subject company; the tenant\'s name unless given.' })),
  challengeToken,
};

export const authEndpoints = {
  register: endpoint('POST /auth/register', {
    summary: 'Register an organisation',
    description: 'Makes the tenant, its first subject company, its roles and its owner, and signs the owner in. Switched off by `PUBLIC_REGISTRATION_ENABLED=false`.',
    needs: 'public',
    body: s.object({ ...newAccount, planCode: s.optional(s.enum(['free'])) }, { title: 'Registration' }),
    returns: AuthLoginResult,
    status: 201,
    fails: ['REGISTRATION_DISABLED', 'PASSWORD_TOO_WEAK', 'TENANT_SLUG_TAKEN', 'OVERLOADED'],
    run: async ({ body, request, services }) => withCookie(await services.accounts.register(body, request), services),
  }),

  redeem: endpoint('POST /auth/redeem', {
    summary: 'Register an organisation with a redeem code',
    description: 'As register, on the plan of the code, which is used up by it.',
    needs: 'public',
    body: s.object({ ...newAccount, code: s.verbatim({ min: 8, max: 80 }) }, { title: 'Redemption' }),
    returns: AuthLoginResult,
    status: 201,
    fails: ['REDEEM_CODE_INVALID', 'PASSWORD_TOO_WEAK', 'TENANT_SLUG_TAKEN', 'RATE_LIMITED', 'OVERLOADED'],
    run: async ({ body, request, services }) => withCookie(await services.accounts.redeem(body, request), services),
  }),

  login: endpoint('POST /auth/login', {
    summary: 'Sign in with a password',
    description: 'Unknown organisations and accounts, disabled members and wrong passwords are answered alike. After too many failures 429, until `Retry-After` has passed.',
    needs: 'public',
    body: s.object(
      {
        tenantSlug: s.text({ max: 64 }),
        email: s.email(),
        password: s.verbatim({ max: 256 }),
        mfaCode: s.optional(s.verbatim({ max: 64 })),
        emailCode: s.optional(s.verbatim({ max: 64 })),
        mfaSetupSecret: s.optional(s.verbatim({ max: 256 })),
        challengeToken,
      },
      { title: 'Credentials' },
    ),
    returns: AuthLoginResult,
    fails: ['UNAUTHENTICATED', 'RATE_LIMITED', 'OVERLOADED'],
    run: async ({ body, request, services }) => withCookie(await services.sessions.login(body, request), services),
  }),

  refresh: endpoint('POST /auth/refresh', {
    summary: 'Exchange a refresh token for new tokens',
    description:
      'Takes the token from the body, or else from the cookie `service_tenant_refresh`. Each token serves once: using one again ends the session. ' +
      'By cookie only, the token before the present one gets the same answer again for ten seconds.',
    needs: 'public',
    body: s.object({ refreshToken: s.optional(s.verbatim({ max: 4_096 })) }, { title: 'RefreshRequest' }),
    returns: TokenPair,
    fails: ['UNAUTHENTICATED', 'ORIGIN_NOT_ALLOWED'],
    run: async ({ body, request, services }) => withCookie(await services.sessions.refresh(body.refreshToken, request), services),
  }),

  logout: endpoint('POST /auth/logout', {
    summary: 'Sign out',
    description: 'Ends the caller\'s session, with both of its tokens, and clears the cookie.',
    needs: 'signed_in',
    returns: Ok,
    fails: [],
    run: async ({ principal, request, services }) => {
      await services.sessions.logout(principal, request);
      return reply(OK, { cookie: { ...COOKIE, value: '', maxAgeMs: 0 } });
    },
  }),

  me: endpoint('GET /auth/me', {
    summary: 'Show who I am and what I may do',
    needs: 'signed_in',
    returns: Session,
    fails: [],
    run: ({ principal, services }) => services.sessions.me(principal),
  }),
};

const COOKIE = { name: REFRESH_COOKIE, path: '/api/v1/auth' } as const;

/** Browsers keep the refresh token in a cookie that their pages cannot read. */
const withCookie = <T extends TokenPair>(body: T, { sessions }: Services) => reply(body, { cookie: { ...COOKIE, value: body.refreshToken, maxAgeMs: sessions.refreshLifetimeMs } });
