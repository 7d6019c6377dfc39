import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import {
  AssertionResponse,
  AttestationResponse,
  LoginQuestion,
  Passkey,
  RegistrationQuestion,
} from '../auth/passkeys.schemas.js';
import { TokenPair } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';
import { challengeToken } from './challenge-token.js';
import { withRefreshCookie } from './refresh-cookie.js';

const recent = 'Possible only within ten minutes of the sign-in that started the session; after that, sign in again.';
const notified = 'The caller is notified by mail, and all their other sessions end.';

export const passkeyEndpoints = {
  listPasskeys: endpoint('GET /auth/passkeys', {
    summary: "List the caller's passkeys",
    description: 'Oldest first.',
    needs: 'signed_in',
    returns: s.list(Passkey, 10, 'A plain array: a member has at most ten passkeys.'),
    fails: [],
    run: ({ principal, services }) => services.passkeys.list(principal),
  }),

  getPasskeyRegistrationOptions: endpoint('POST /auth/passkeys/register/options', {
    summary: 'Get options for a new passkey',
    description: `Returns the options for \`navigator.credentials.create()\`, valid for one attempt of this session, for five minutes. An account has at most ten passkeys. ${recent}`,
    needs: 'signed_in',
    returns: RegistrationQuestion,
    fails: ['RECENT_LOGIN_REQUIRED', 'LIMIT_REACHED'],
    run: ({ principal, services }) => services.passkeys.registration.begin(principal),
  }),

  registerPasskey: endpoint('POST /auth/passkeys/register/verify', {
    summary: 'Register a passkey',
    description: `Send the browser's response to the options. A failed attempt invalidates them too. Attestation is neither requested nor checked. ${recent} ${notified}`,
    needs: 'signed_in',
    body: s.object(
      {
        response: AttestationResponse,
        label: s.optional(s.name({ max: 80, about: 'A name to distinguish the passkey from others.' })),
      },
      { title: 'PasskeyRegistration' },
    ),
    returns: Passkey,
    status: 201,
    fails: ['RECENT_LOGIN_REQUIRED', 'PASSKEY_INVALID', 'PASSKEY_EXISTS', 'LIMIT_REACHED'],
    run: ({ body, principal, request, services }) =>
      services.passkeys.registration.finish({ response: body.response, label: body.label ?? null }, principal, request),
  }),

  deletePasskey: endpoint('DELETE /auth/passkeys/:id', {
    summary: 'Delete a passkey',
    description: `It can no longer be used to sign in. ${recent} ${notified}`,
    needs: 'signed_in',
    returns: Ok,
    fails: ['RECENT_LOGIN_REQUIRED'],
    run: async ({ params, principal, request, services }) => {
      await services.passkeys.remove(params, principal, request);
      return OK;
    },
  }),

  getPasskeyLoginOptions: endpoint('POST /auth/passkeys/login/options', {
    summary: 'Get options to sign in with a passkey',
    description:
      'Returns the options for `navigator.credentials.get()`, valid for one attempt, for five minutes. The answer does not reveal whether the account exists or has passkeys.',
    needs: 'public',
    body: s.object(
      { email: s.email(), tenantSlug: s.text({ max: 64 }), challengeToken },
      { title: 'PasskeyLoginRequest' },
    ),
    returns: LoginQuestion,
    fails: [],
    run: ({ body, request, services }) => services.passkeys.login.begin(body, request),
  }),

  loginWithPasskey: endpoint('POST /auth/passkeys/login/verify', {
    summary: 'Sign in with a passkey',
    description:
      'A passkey replaces password and second factor, also while the password is locked after failures. All failures return the same error and invalidate the options, except that a valid passkey for a suspended organisation is refused with `TENANT_SUSPENDED`.',
    needs: 'public',
    body: s.object({ flowId: s.verbatim({ max: 128 }), response: AssertionResponse }, { title: 'PasskeyLogin' }),
    returns: TokenPair,
    fails: ['UNAUTHENTICATED', 'TENANT_SUSPENDED', 'RATE_LIMITED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(await services.passkeys.login.finish(body, request), services),
  }),
};
