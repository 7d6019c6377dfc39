import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { CommandError, misuse } from '../../base/command-line/errors.js';
import { constantTimeEqual } from '../../base/secrets.js';

/** How the keys of a backup are derived from its passphrase; stored in the backup itself. */
export interface Derivation {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  /** In base64. */
  readonly salt: string;
}

/** What a passphrase can do for one backup. */
export interface Passkey {
  /** Tells whether a passphrase is the right one without reading the whole backup. */
  readonly proof: string;
  /** AES-256-GCM: nonce, ciphertext and tag in base64. `context` names what is sealed. */
  seal(plain: Uint8Array, context: string): string;
  /** Throws BACKUP_ALTERED. */
  open(sealed: string, context: string): Buffer;
  /** HMAC-SHA256 in lower-case hex. */
  mac(content: Uint8Array): string;
}

/** Short enough to be typed, long enough that scrypt makes guessing it expensive. */
export const MIN_PASSPHRASE = 12;

/** scrypt needs 128 MiB and about half a second. */
export const newDerivation = (): Derivation => ({
  n: 2 ** 17,
  r: 8,
  p: 1,
  salt: randomBytes(16).toString('base64'),
});

/** Limits for a derivation that was read from a file, which could otherwise demand any amount of memory. */
const MOST = { n: 2 ** 20, r: 8, p: 4 } as const;

/** Throws BACKUP_DAMAGED for a derivation that no version of this program writes. */
export async function passkeyOf(passphrase: string, derivation: Derivation): Promise<Passkey> {
  const { n, r, p, salt } = derivation;
  const isOurs = n >= 2 ** 14 && n <= MOST.n && (n & (n - 1)) === 0 && r >= 1 && r <= MOST.r && p >= 1 && p <= MOST.p;
  if (!isOurs) throw new CommandError('BACKUP_DAMAGED', 'the beginning of the backup is damaged');
  const secret = await new Promise<Buffer>((resolve, reject) => {
    scrypt(
      Buffer.from(passphrase, 'utf8'),
      Buffer.from(salt, 'base64'),
      32,
      { N: n, r, p, maxmem: 256 * n * r },
      (error, key) => (error ? reject(error) : resolve(key)),
    );
  });
  const keyFor = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `duebook backup v1 ${purpose}`, 32));
  const macKey = keyFor('mac');
  const sealKey = keyFor('seal');
  return {
    proof: keyFor('proof').toString('hex'),
    seal: (plain, context) => {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    open: (sealed, context) => {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, NONCE), { authTagLength: TAG })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(-TAG));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
      } catch (error) {
        throw new CommandError('BACKUP_ALTERED', 'the keys in the backup were altered', { cause: error });
      }
    },
    mac: (content) => createHmac('sha256', macKey).update(content).digest('hex'),
  };
}

const NONCE = 12;
const TAG = 16;

/** Throws WRONG_PASSPHRASE. */
export function refuseWrong(passkey: Passkey, proof: string): void {
  if (!constantTimeEqual(passkey.proof, proof))
    throw new CommandError(
      'WRONG_PASSPHRASE',
      'the passphrase is not the one that the backup was made with (or the beginning of the file was altered)',
    );
}

/** Throws USAGE for a passphrase that is too short to protect keys. */
export function refuseShort(passphrase: string): void {
  if (passphrase === '')
    throw misuse(
      'no passphrase: set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, or write the passphrase to standard input',
    );
  if (passphrase.length < MIN_PASSPHRASE)
    throw misuse(`the passphrase must have at least ${MIN_PASSPHRASE} characters: it protects the keys in the backup`);
}
