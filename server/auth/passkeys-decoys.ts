import { createHmac } from 'node:crypto';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { AllowedCredential } from './passkeys-ceremony.js';

/**
 * Fake passkeys for accounts without passkeys and for unknown accounts. They are derived from the account's name with a
 * secret key, so that they are stable and cannot be distinguished from real ones.
 */
export type Decoys = (account: { readonly tenantSlug: string; readonly email: string }) => readonly AllowedCredential[];

export function createDecoys(keyRing: KeyRing): Decoys {
  const key = keyRing.derive('passkeys.decoys');
  const bytesOf = (account: string, part: string): Buffer =>
    createHmac('sha512', key).update(`${part}\n${account}`).digest();
  return ({ tenantSlug, email }) => {
    const account = `${tenantSlug}\n${email}`;
    const [first = 0, second = 0, also = 0] = bytesOf(account, 'kind');
    // Every fifth account has two passkeys.
    const chosen = also < 51 ? [first, second] : [first];
    return chosen.map((byte, index) => {
      const { length, transports } = KINDS[byte % KINDS.length] ?? KINDS[0];
      return { credentialId: bytesOf(account, `id ${index}`).subarray(0, length).toString('base64url'), transports };
    });
  };
}

/** Id lengths, in bytes, and transports of password managers, phones, platform authenticators and security keys. */
const KINDS = [
  { length: 16, transports: ['hybrid', 'internal'] },
  { length: 20, transports: ['hybrid', 'internal'] },
  { length: 32, transports: ['internal'] },
  { length: 32, transports: ['hybrid', 'internal'] },
  { length: 64, transports: ['nfc', 'usb'] },
  // Some browsers report no transports; without such a decoy, these passkeys would reveal that an account is real.
  { length: 32, transports: [] },
] as const;
