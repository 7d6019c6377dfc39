import { createHmac } from 'node:crypto';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { AllowedCredential } from './passkeys-ceremony.js';

/**
 * Passkeys of an account that has none, or is none: made of its name under a key of ours, so that they are the same
 * each time and nobody can tell them from real ones. They look like what the usual authenticators make.
 */
export type Decoys = (account: { readonly tenantSlug: string; readonly email: string }) => readonly AllowedCredential[];

export function createDecoys(keyRing: KeyRing): Decoys {
  const key = keyRing.derive('passkeys.decoys');
  const bytesOf = (account: string, part: string): Buffer =>
    createHmac('sha512', key).update(`${part}\n${account}`).digest();
  return ({ tenantSlug, email }) => {
    const account = `${tenantSlug}\n${email}`;
    const [first = 0, second = 0, also = 0] = bytesOf(account, 'kind');
    // Two passkeys for one account in five.
    const chosen = also < 51 ? [first, second] : [first];
    return chosen.map((byte, index) => {
      const { length, transports } = KINDS[byte % KINDS.length] ?? KINDS[0];
      return { credentialId: bytesOf(account, `id ${index}`).subarray(0, length).toString('base64url'), transports };
    });
  };
}

/**
 * Lengths of ids, in bytes, and transports: of password managers, of phones, of a computer's own authenticator, of
 * security keys.
 */
const KINDS = [
  { length: 16, transports: ['hybrid', 'internal'] },
  { length: 20, transports: ['hybrid', 'internal'] },
  { length: 32, transports: ['internal'] },
  { length: 32, transports: ['hybrid', 'internal'] },
  { length: 64, transports: ['nfc', 'usb'] },
  // Some browsers name no transports: were no decoy without them, such a passkey would tell that its account is real.
  { length: 32, transports: [] },
] as const;
