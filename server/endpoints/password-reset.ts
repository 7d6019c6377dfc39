import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { endpoint } from '../http/endpoint.js';
import { challengeToken } from './challenge-token.js';

export const passwordResetEndpoints = {
  requestPasswordReset: endpoint('POST /auth/password-reset/request', {
    summary: 'Ask for a new password',
    description:
      'Mails a token to the account, good for two hours and for one use; a later one replaces it. Whether there is such an account cannot be told from the answer: mail leaves ' +
      'after it, so `deliveryStatus` is always `not_sent`. What became of the mail is in the audit log. Accounts without a password (single sign-on) get none; of one account at most five requests an hour count.',
    needs: 'public',
    body: s.object(
      { tenantSlug: s.text({ max: 64 }), email: s.email(), challengeToken },
      { title: 'PasswordResetRequest' },
    ),
    returns: s.object({ ok: s.flag(), deliveryStatus: s.enum(['not_sent']) }, { title: 'PasswordResetRequested' }),
    fails: [],
    run: async ({ body: { tenantSlug, email }, request, services }) => {
      await services.passwordResets.request({ tenantSlug, email }, request);
      return { ok: true, deliveryStatus: 'not_sent' as const };
    },
  }),

  confirmPasswordReset: endpoint('POST /auth/password-reset/confirm', {
    summary: 'Set a new password',
    description:
      "Uses the token up, ends all sessions of the account and mails a notice to it. A second factor stays as it is. A token that is refused with another organisation's slug, or with a weak password, is still good.",
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
