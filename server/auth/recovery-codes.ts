import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';

/**
 * Ten codes for the day when the authenticator is lost, 140 random bits each: four groups of seven. Shown once, kept as
 * digests.
 */
export const newRecoveryCodes = (): string[] => Array.from({ length: COUNT }, newCode);

/**
 * Dashes, blanks and case are for the eye. The digest is the member's own, so that nobody can look for one code in all
 * accounts.
 */
export const recoveryCodeHash = ({
  tenantId,
  memberId,
  code,
}: {
  tenantId: string;
  memberId: string;
  code: string;
}): string => sha256Hex(`${tenantId}\n${memberId}\n${code.toLowerCase().replaceAll(/[-\s]/g, '')}`);

/** What may be sent as a code, so that anything else is refused before it is looked up. */
export const RECOVERY_CODE_PATTERN = '[0-9A-Za-z]{7}(-?[0-9A-Za-z]{7}){3}';

const COUNT = 10;
const LENGTH = 28;
/** Crockford's base32: no i, l, o or u, which are misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

function newCode(): string {
  // Five bits of each byte: all 32 letters are equally likely.
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return letters.match(/.{7}/g)?.join('-') ?? letters;
}
