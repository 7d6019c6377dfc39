import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';

/**
 * Generates ten codes for members who lose their authenticator: 140 random bits each, in four groups of seven
 * characters. They are shown once, and only digests are stored.
 */
export const newRecoveryCodes = (): string[] => Array.from({ length: COUNT }, newCode);

/**
 * Dashes, spaces and case are ignored. The digest includes the member's id, so that a code cannot be searched for in
 * all accounts.
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

/** The pattern of a valid code: other values are refused without a lookup. */
export const RECOVERY_CODE_PATTERN = '[0-9A-Za-z]{7}(-?[0-9A-Za-z]{7}){3}';

const COUNT = 10;
const LENGTH = 28;
/** Crockford's base32: without i, l, o and u, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

function newCode(): string {
  // 32 divides 256, so all letters are equally likely.
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return letters.match(/.{7}/g)?.join('-') ?? letters;
}
