import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { endpoint } from '../http/endpoint.js';
import { challengeToken } from './challenge-token.js';

export const passwordResetEndpoints = {
  requestPasswordReset: endpoint('POST /auth/password-reset/request', {
    summary: 'Request a password reset',
    description:
      'Mails a token to the account, valid for two hours and for one use; a later token replaces it. The answer does not reveal whether the account exists: mail is sent after ' +
      'it, so `deliveryStatus` is always `not_sent`. The audit log records whether the mail was sent; if it was not, the log of the server contains the reason and what the operator can do (`duebook members reset-password`). Accounts without a password (single sign-on) get no mail; at most five requests per account and hour are processed.',
    needs: 'public',
    body: s.object(
      { tenantSlug: s.text({ max: 64 }), email: s.email(), challengeToken },
      { title: 'PasswordResetRequest' },
    ),
    returns: s.object(
      {
        ok: s.flag(),
        deliveryStatus: s.enum(
          ['not_sent'],
          'Always `not_sent`, with and without a mail server: at the time of the answer no mail has been sent. Another value would reveal whether the account exists.',
        ),
      },
      { title: 'PasswordResetRequested' },
    ),
    fails: [],
    run: async ({ body: { tenantSlug, email }, request, services }) => {
      await services.passwordResets.request({ tenantSlug, email }, request);
      return { ok: true, deliveryStatus: 'not_sent' as const };
    },
  }),

  confirmPasswordReset: endpoint('POST /auth/password-reset/confirm', {
    summary: 'Set a new password',
    description:
      "Invalidates the token, ends all sessions of the account and notifies its owner by mail. The second factor does not change. A token that is refused because of another organisation's slug or a weak password remains valid.",
    needs: 'public',
    body: s.object(
      {
        token: s.verbatim({ min: 16, max: 200 }),
        tenantSlug: s.text({ max: 64 }),
        password: s.verbatim({ min: 8, max: 256 }),
        challengeToken,
      },
      { title: 'PasswordReset' },
    ),
    returns: Ok,
    fails: ['TOKEN_INVALID', 'PASSWORD_TOO_WEAK', 'OVERLOADED'],
    run: async ({ body: { token, tenantSlug, password }, request, services }) => {
      await services.passwordResets.confirm({ token, tenantSlug, password }, request);
      return OK;
    },
  }),
};
