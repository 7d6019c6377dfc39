import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { endpoint } from '../http/endpoint.js';

export const passwordEndpoints = {
  changePassword: endpoint('POST /auth/password', {
    summary: "Change the caller's password",
    description:
      'Possible only within ten minutes of the sign-in that started the session; after that, sign in again. ' +
      'All other sessions of the caller end, and the caller is notified by mail; the session of this request continues. The second factor does not change, and a pending password reset is invalidated. ' +
      'A wrong current password counts as a failed sign-in of the account. An account without a password (single sign-on) is refused with `PASSWORD_NOT_SET`.',
    needs: 'signed_in',
    body: s.object(
      {
        currentPassword: s.verbatim({ max: 256, about: 'The password that the account has now.' }),
        newPassword: s.verbatim({ min: 8, max: 256, about: 'It must differ from the current password.' }),
      },
      { title: 'PasswordChange' },
    ),
    returns: Ok,
    fails: [
      'RECENT_LOGIN_REQUIRED',
      'PASSWORD_NOT_SET',
      'CURRENT_PASSWORD_WRONG',
      'PASSWORD_TOO_WEAK',
      'RATE_LIMITED',
      'OVERLOADED',
    ],
    run: async ({ principal, body, request, services }) => {
      await services.changePassword(principal, body, request);
      return OK;
    },
  }),
};
