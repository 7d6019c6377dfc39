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
    about: 'The short name that members enter to sign in to the organisation.',
  }),
  adminName: s.name({ min: 2, max: 80 }),
  nameProfile: s.optional(NameProfile),
  email: s.email(),
  password: s.verbatim({ min: 8, max: 256 }),
  subjectName: s.optional(
    s.name({ max: 200, about: "The name of the first subject company; defaults to the tenant's name." }),
  ),
  challengeToken,
};

export const authEndpoints = {
  registerOrganisation: endpoint('POST /auth/register', {
    summary: 'Register an organisation',
    description:
      'Creates the tenant, its first subject company, its roles and its owner, and signs the owner in. Open outside production and closed in production, unless `PUBLIC_REGISTRATION_ENABLED` says otherwise.',
    needs: 'public',
    body: s.object({ ...newAccount, planCode: s.optional(s.enum(['free'])) }, { title: 'Registration' }),
    returns: AuthLoginResult,
    status: 201,
    fails: ['REGISTRATION_DISABLED', 'PASSWORD_TOO_WEAK', 'TENANT_SLUG_TAKEN', 'OVERLOADED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(await services.accounts.register(body, request), services),
  }),

  registerWithCode: endpoint('POST /auth/redeem', {
    summary: 'Register an organisation with a redeem code',
    description: 'Like `POST /auth/register`, on the plan of the redeem code. A code can be used once.',
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
      'Unknown organisations and accounts, disabled members and wrong passwords return the same error. A suspended organisation is reported only after the right password (`TENANT_SUSPENDED`). After too many failures the answer is 429 until `Retry-After` has passed.\n\n' +
      'If a second factor is required and was not sent, the answer is MfaLoginRequired: repeat the login with `mfaCode` (a code of the authenticator, or a recovery code) or `emailCode`. ' +
      'With `enrollmentRequired` the answer contains a secret: send it back as `mfaSetupSecret` with a code generated from it. That login returns recovery codes.',
    needs: 'public',
    body: s.object(
      {
        tenantSlug: s.text({ max: 64 }),
        email: s.email(),
        password: s.verbatim({ max: 256 }),
        mfaCode: s.optional(s.verbatim({ max: 64, about: 'Six digits of the authenticator, or a recovery code.' })),
        emailCode: s.optional(
          s.verbatim({ max: 64, about: 'Six digits sent by email; ignored if `mfaCode` is sent.' }),
        ),
        mfaSetupSecret: s.optional(
          s.verbatim({ max: 256, about: 'The secret from MfaLoginRequired, to enrol the authenticator.' }),
        ),
        challengeToken,
      },
      { title: 'Credentials' },
    ),
    returns: s.either([AuthLoginResult, MfaLoginRequired]),
    fails: ['UNAUTHENTICATED', 'TENANT_SUSPENDED', 'MFA_CODE_INVALID', 'RATE_LIMITED', 'OVERLOADED'],
    run: async ({ body, request, services }) => {
      const result = await services.sessions.login(body, request);
      return 'mfaRequired' in result ? result : withRefreshCookie(result, services);
    },
  }),

  findOrganisationsByEmail: endpoint('POST /auth/login/resolve', {
    summary: 'Find the organisations of an email address',
    description:
      'Lists the active organisations in which the email address belongs to an active member; the list may be empty. Strictly rate-limited by IP address and by email address. An installation may disable this endpoint; the list is then always empty.',
    needs: 'public',
    body: s.object({ email: s.email() }, { title: 'LoginResolveRequest' }),
    returns: s.object(
      { tenants: s.list(s.object({ slug: s.text({ max: 64 }), name: s.text({ max: 80 }) }), 100) },
      { title: 'LoginResolveResult' },
    ),
    fails: ['RATE_LIMITED'],
    run: ({ body, request, services }) => services.resolve(body, request),
  }),

  refreshTokens: endpoint('POST /auth/refresh', {
    summary: 'Exchange a refresh token for new tokens',
    description:
      'Reads the token from the body or, if the body has none, from the cookie `service_tenant_refresh`. Each token can be used once: using it again ends the session. ' +
      'A cookie with the previous token returns the same answer again for ten seconds. If more than one cookie of that name is sent, all are refused with 401 and cleared.',
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
    description: "Ends the caller's session, revokes both of its tokens and clears the cookie.",
    needs: 'signed_in',
    returns: Ok,
    fails: [],
    run: async ({ principal, request, services }) => {
      await services.sessions.logout(principal, request);
      return reply(OK, { cookie: NO_REFRESH_COOKIE });
    },
  }),

  getCurrentMember: endpoint('GET /auth/me', {
    summary: 'Show the current user and their permissions',
    needs: 'signed_in',
    returns: Session,
    fails: [],
    run: ({ principal, services }) => services.sessions.me(principal),
  }),
};
