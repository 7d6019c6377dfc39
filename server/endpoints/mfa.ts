import { s } from '../../data-plane-agent/base/schema.js';
import { RECOVERY_CODE_PATTERN } from '../auth/recovery-codes.js';
import { DeliveryStatus, MfaEnrolled, MfaOffer, MfaStatus } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';
import { challengeToken } from './challenge-token.js';

const recent = 'Only within ten minutes of the sign-in that opened the session; after that, sign in again.';
const told = 'The caller is told by mail, and all of their other sessions end.';

const currentCode = s.verbatim({
  max: 64,
  pattern: `^([0-9]{6}|${RECOVERY_CODE_PATTERN})$`,
  about: 'Six digits of the authenticator; or a recovery code, when the authenticator is lost.',
});

export const mfaEndpoints = {
  mfaStatus: endpoint('GET /auth/mfa/status', {
    summary: 'Show whether I have an authenticator',
    needs: 'signed_in',
    returns: MfaStatus,
    fails: [],
    run: ({ principal, services }) => services.mfa.status(principal),
  }),

  startMfa: endpoint('POST /auth/mfa/enroll/start', {
    summary: 'Get a secret for an authenticator',
    description: `The secret can be confirmed for ten minutes. Until then nothing changes. ${recent}`,
    needs: 'signed_in',
    returns: MfaOffer,
    fails: ['RECENT_LOGIN_REQUIRED', 'MFA_ALREADY_ENROLLED'],
    run: ({ principal, services }) => services.mfa.start(principal),
  }),

  confirmMfa: endpoint('POST /auth/mfa/enroll/confirm', {
    summary: 'Enrol the authenticator',
    description: `With the secret as it was given, and a code made from it. Answers ten recovery codes, this once. The code is used up: a login wants the next one. ${recent} ${told}`,
    needs: 'signed_in',
    body: s.object(
      {
        secret: s.verbatim({ min: 16, max: 256 }),
        code: s.verbatim({ max: 64, pattern: '^[0-9]{6}$', about: 'Six digits.' }),
      },
      { title: 'MfaConfirmation' },
    ),
    returns: MfaEnrolled,
    fails: ['RECENT_LOGIN_REQUIRED', 'MFA_ALREADY_ENROLLED', 'MFA_SECRET_UNKNOWN', 'MFA_CODE_INVALID', 'RATE_LIMITED'],
    run: ({ principal, body, request, services }) => services.mfa.confirm(principal, body, request),
  }),

  disableMfa: endpoint('POST /auth/mfa/disable', {
    summary: 'Remove the authenticator',
    description: `With the recovery codes. Refused where the policy asks the caller's role for a second factor. ${recent} ${told}`,
    needs: 'signed_in',
    body: s.object({ code: currentCode }, { title: 'MfaRemoval' }),
    returns: MfaStatus,
    fails: ['RECENT_LOGIN_REQUIRED', 'MFA_REQUIRED_BY_POLICY', 'MFA_NOT_ENROLLED', 'MFA_CODE_INVALID', 'RATE_LIMITED'],
    run: ({ principal, body, request, services }) => services.mfa.disable(principal, body, request),
  }),

  sendLoginCode: endpoint('POST /auth/login/mfa/email', {
    summary: 'Have a code sent by mail',
    description:
      'For a login without the authenticator: six digits, good for ten minutes and five tries, to be used as `emailCode`. ' +
      'Sent only when the credentials are right and the account has an authenticator, at most once a minute and five times an hour; not for 24 hours after a password reset or a change of address, and not to whom `MFA_EMAIL_FALLBACK` excludes. ' +
      'The answer is the same in every case. Where the bot challenge is enabled `challengeToken` is required here too, a fresh one: that of the login has been used.',
    needs: 'public',
    body: s.object(
      { tenantSlug: s.text({ max: 64 }), email: s.email(), password: s.verbatim({ max: 256 }), challengeToken },
      { title: 'LoginCodeRequest' },
    ),
    returns: s.object({ ok: s.flag(), deliveryStatus: DeliveryStatus }, { title: 'Delivery' }),
    fails: ['RATE_LIMITED', 'OVERLOADED'],
    run: ({ body, request, services }) => services.emailCodes.send(body, request),
  }),
};
