import { s } from '../../data-plane-agent/base/schema.js';
import { RECOVERY_CODE_PATTERN } from '../auth/recovery-codes.js';
import { DeliveryStatus, MfaEnrolled, MfaOffer, MfaStatus } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';
import { challengeToken } from './challenge-token.js';

const recent = 'Possible only within ten minutes of the sign-in that started the session; after that, sign in again.';
const notified = 'The caller is notified by mail, and all their other sessions end.';

const currentCode = s.verbatim({
  max: 64,
  pattern: `^([0-9]{6}|${RECOVERY_CODE_PATTERN})$`,
  about: 'Six digits of the authenticator, or a recovery code if the authenticator is lost.',
});

export const mfaEndpoints = {
  getMfaStatus: endpoint('GET /auth/mfa/status', {
    summary: 'Show whether the caller has an authenticator',
    needs: 'signed_in',
    returns: MfaStatus,
    fails: [],
    run: ({ principal, services }) => services.mfa.status(principal),
  }),

  startMfaEnrolment: endpoint('POST /auth/mfa/enroll/start', {
    summary: 'Get a secret for an authenticator',
    description: `The secret can be confirmed for ten minutes. Until then nothing changes. ${recent}`,
    needs: 'signed_in',
    returns: MfaOffer,
    fails: ['RECENT_LOGIN_REQUIRED', 'MFA_ALREADY_ENROLLED'],
    run: ({ principal, services }) => services.mfa.start(principal),
  }),

  confirmMfaEnrolment: endpoint('POST /auth/mfa/enroll/confirm', {
    summary: 'Enrol the authenticator',
    description: `Send the secret from \`POST /auth/mfa/enroll/start\` and a code generated from it. Returns ten recovery codes, which are not shown again. The code cannot be used again: the next login requires a new one. ${recent} ${notified}`,
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
    description: `Removes the recovery codes too. Refused if the policy requires a second factor for the caller's role. ${recent} ${notified}`,
    needs: 'signed_in',
    body: s.object({ code: currentCode }, { title: 'MfaRemoval' }),
    returns: MfaStatus,
    fails: ['RECENT_LOGIN_REQUIRED', 'MFA_REQUIRED_BY_POLICY', 'MFA_NOT_ENROLLED', 'MFA_CODE_INVALID', 'RATE_LIMITED'],
    run: ({ principal, body, request, services }) => services.mfa.disable(principal, body, request),
  }),

  sendLoginCodeByMail: endpoint('POST /auth/login/mfa/email', {
    summary: 'Request a login code by mail',
    description:
      'For a login without the authenticator: sends six digits, valid for ten minutes and five attempts, to be sent as `emailCode`. ' +
      'The code is sent only if the credentials are correct and the account has an authenticator, at most once a minute and five times an hour; not within 24 hours of a password reset or an email change, and not to members excluded by `MFA_EMAIL_FALLBACK`. ' +
      'The answer is the same in all cases. If the bot challenge is enabled, `challengeToken` is required here too, and must be a new one.',
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
