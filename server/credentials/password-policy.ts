import { createRequire } from 'node:module';
import type { dictionary } from '@zxcvbn-ts/language-common';
import { fail } from '../../data-plane-agent/base/failures.js';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';
import { normalCut } from '../../data-plane-agent/base/text.js';
import { isBreached } from './breached-passwords.js';
import { normalised } from './passwords.js';

/** Refuses a weak new password with PASSWORD_TOO_WEAK. The schema checks the length: 8 to 256 characters. */
export type PasswordPolicy = (given: {
  readonly password: string;
  readonly email: string;
  readonly tenantSlug: string;
}) => Promise<void>;

/**
 * `strict` unless `PASSWORD_RULES` is off: refuses common passwords, passwords from breaches, with or without spaces,
 * and passwords that contain the account's own names.
 */
export function createPasswordPolicy({ strict }: { strict: boolean }): PasswordPolicy {
  if (!strict) return () => Promise.resolve();
  return async ({ password, email, tenantSlug }) => {
    const folded = normalised(password).toLowerCase();
    const seen = folded.replaceAll(/[\s\p{Cf}]/gu, '');
    if ([...seen].length < MIN_LENGTH)
      throw fail('PASSWORD_TOO_WEAK', { reason: `Without spaces it has fewer than ${MIN_LENGTH} characters.` });
    if (common().has(folded) || common().has(seen))
      throw fail('PASSWORD_TOO_WEAK', { reason: 'It is a common password.' });
    const localPart = normalCut(email.split('@')[0] ?? '', { max: 1_000, form: 'NFKC' }).toLowerCase();
    if (contains(folded, localPart))
      throw fail('PASSWORD_TOO_WEAK', { reason: 'It contains the name before the @ of the email.' });
    if (contains(folded, tenantSlug))
      throw fail('PASSWORD_TOO_WEAK', { reason: "It contains the organisation's slug." });
    if ((await isBreached(folded)) || (await isBreached(seen)))
      throw fail('PASSWORD_TOO_WEAK', { reason: 'It is known from breaches of other services.' });
  };
}

const MIN_LENGTH = 8;

/** The package has other dictionaries too, which take megabytes: it is loaded with the first new password. */
const common = onFirstUse(() => {
  const words = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as { dictionary: typeof dictionary };
  return new Set(words.dictionary['passwords-common'].filter((password) => password.length >= MIN_LENGTH));
});

/**
 * Compares as written, by letters and digits only, and without the tag of an address (`ann+work`). Names of one or two
 * letters are ignored, because most passwords contain them.
 */
const contains = (password: string, name: string): boolean =>
  isWithin(name, password) ||
  isWithin(bare(name), bare(password)) ||
  isWithin(bare(name.split('+')[0] ?? ''), bare(password));

const isWithin = (name: string, password: string): boolean => name.length >= 3 && password.includes(name);

const bare = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
