import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { NameProfile } from '../access/person.schemas.js';
import { AuthLoginResult, MfaLoginRequired, Session, TokenPair } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';
import { reply } from '../http/reply.js';
import { challengeToken } from './challenge-token.js';
import { NO_REFRESH_COOKIE, refuseRepeatedCookie, withRefreshCookie } from './refresh-cookie.js';

const newAccount = {
  tenantName: s.name({ min: 2, max: 80 }),
  tenantSlug: s.text({
    max: 64,
    pattern: '^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$',
    about: 'Becomes the login name of the organisation.',
  }),
  adminName: s.name({ min: 2, max: 80 }),
  nameProfile: s.optional(NameProfile),
  email: s.email(),
  password: s.verbatim({ min: 8, max: 256 }),
  subjectName: s.optional(s.name({ max: 200, about: "The first subject company; the tenant's name unless given." })),
  challengeToken,
};

export const authEndpoints = {
  register: endpoint('POST /auth/register', {
    summary: 'Register an organisation',
    description:
      'Makes the tenant, its first subject company, its roles and its owner, and signs the owner in. Switched off by `PUBLIC_REGISTRATION_ENABLED=false`.',
    needs: 'public',
    body: s.object({ ...newAccount, planCode: s.optional(s.enum(['free'])) }, { title: 'Registration' }),
    returns: AuthLoginResult,
    status: 201,
    fails: ['REGISTRATION_DISABLED', 'PASSWORD_TOO_WEAK', 'TENANT_SLUG_TAKEN', 'OVERLOADED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(await services.accounts.register(body, request), services),
  }),

  redeem: endpoint('POST /auth/redeem', {
    summary: 'Register an organisation with a redeem code',
    description: 'As register, on the plan of the code, which is used up by it.',
    needs: 'public',
    body: s.object({ ...newAccount, code: s.verbatim({ min: 8, max: 80 }) }, { title: 'Redemption' }),
    returns: AuthLoginResult,
    status: 201,
    fails: ['REDEEM_CODE_INVALID', 'PASSWORD_TOO_WEAK', 'TENANT_SLUG_TAKEN', 'RATE_LIMITED', 'OVERLOADED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(await services.accounts.redeem(body, request), services),
  }),

  login: endpoint('POST /auth/login', {
    summary: 'Sign in with a password',
    description:
      'Unknown organisations and accounts, disabled members and wrong passwords are answered alike. After too many failures 429, until `Retry-After` has passed.\n\n' +
      'Where a second factor is needed and not sent, the answer is MfaLoginRequired: the login is then repeated with `mfaCode` (of the authenticator, or a recovery code) or `emailCode`. ' +
      'With `enrollmentRequired` it carries a secret, to be sent back as `mfaSetupSecret` with a code made from it; that login answers recovery codes.',
    needs: 'public',
    body: s.object(
      {
        tenantSlug: s.text({ max: 64 }),
        email: s.email(),
        password: s.verbatim({ max: 256 }),
        mfaCode: s.optional(s.verbatim({ max: 64, about: 'Six digits of the authenticator, or a recovery code.' })),
        emailCode: s.optional(
          s.verbatim({ max: 64, about: 'Six digits that came by mail; not looked at beside `mfaCode`.' }),
        ),
        mfaSetupSecret: s.optional(s.verbatim({ max: 256, about: 'The secret of MfaLoginRequired, to enrol it.' })),
        challengeToken,
      },
      { title: 'Credentials' },
    ),
    returns: s.either([AuthLoginResult, MfaLoginRequired]),
    fails: ['UNAUTHENTICATED', 'MFA_CODE_INVALID', 'RATE_LIMITED', 'OVERLOADED'],
    run: async ({ body, request, services }) => {
      const result = await services.sessions.login(body, request);
      return 'mfaRequired' in result ? result : withRefreshCookie(result, services);
    },
  }),

  resolve: endpoint('POST /auth/login/resolve', {
    summary: 'Find the organisations of an email',
    description:
      'The active organisations of which it is an active member; none is an empty list. Counted strictly by address and by email. An installation may switch it off, and then it finds nothing.',
    needs: 'public',
    body: s.object({ email: s.email() }, { title: 'LoginResolveRequest' }),
    returns: s.object(
      { tenants: s.list(s.object({ slug: s.text({ max: 64 }), name: s.text({ max: 80 }) }), 100) },
      { title: 'LoginResolveResult' },
    ),
    fails: ['RATE_LIMITED'],
    run: ({ body, request, services }) => services.resolve(body, request),
  }),

  refresh: endpoint('POST /auth/refresh', {
    summary: 'Exchange a refresh token for new tokens',
    description:
      'Takes the token from the body, or else from the cookie `service_tenant_refresh`. Each token serves once: using one again ends the session. ' +
      'By cookie only, the token before the present one gets the same answer again for ten seconds. More than one cookie of the name is none: 401, and they are cleared.',
    needs: 'public',
    body: s.object({ refreshToken: s.optional(s.verbatim({ max: 4_096 })) }, { title: 'RefreshRequest' }),
    returns: TokenPair,
    fails: ['UNAUTHENTICATED', 'ORIGIN_NOT_ALLOWED'],
    run: async ({ body, request, services }) => {
      if (body.refreshToken === undefined || body.refreshToken === null) refuseRepeatedCookie(request);
      return withRefreshCookie(await services.sessions.refresh(body.refreshToken, request), services);
    },
  }),

  logout: endpoint('POST /auth/logout', {
    summary: 'Sign out',
    description: "Ends the caller's session, with both of its tokens, and clears the cookie.",
    needs: 'signed_in',
    returns: Ok,
    fails: [],
    run: async ({ principal, request, services }) => {
      await services.sessions.logout(principal, request);
      return reply(OK, { cookie: NO_REFRESH_COOKIE });
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
