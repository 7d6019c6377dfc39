import { dictionary } from '@zxcvbn-ts/language-common';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isBreached } from './breached-passwords.js';
import { normalised } from './passwords.js';

/** Refuses a weak new password with PASSWORD_TOO_WEAK. Its length is the schema's matter: 8 to 256 characters. */
export type PasswordPolicy = (given: { readonly password: string; readonly email: string; readonly tenantSlug: string }) => Promise<void>;

/** `strict` unless `PASSWORD_RULES` is off: common passwords, such as breaches have made known, and such as contain the account's own names, are refused. */
export function createPasswordPolicy({ strict }: { strict: boolean }): PasswordPolicy {
  if (!strict) return () => Promise.resolve();
  const common = new Set(dictionary['passwords-common'].filter((password) => password.length >= MIN_LENGTH));
  return async ({ password, email, tenantSlug }) => {
    const folded = normalised(password).toLowerCase();
    const localPart = email.split('@')[0]?.toLowerCase() ?? '';
    if (common.has(folded)) throw fail('PASSWORD_TOO_WEAK', { reason: 'It is a common password.' });
    if (contains(folded, localPart)) throw fail('PASSWORD_TOO_WEAK', { reason: 'It contains the name before the @ of the email.' });
    if (contains(folded, tenantSlug)) throw fail('PASSWORD_TOO_WEAK', { reason: 'It contains the organisation\'s slug.' });
    if (await isBreached(folded)) throw fail('PASSWORD_TOO_WEAK', { reason: 'It is known from breaches of other services.' });
  };
}

const MIN_LENGTH = 8;

/** One or two letters are in half of all good passwords. */
const contains = (password: string, name: string): boolean => name.length >= 3 && password.includes(name);
