import { hash, verify } from '@node-rs/argon2';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { normal } from '../../data-plane-agent/base/text.js';
import { createSemaphore } from './semaphore.js';

/**
 * Hashing is expensive by design: at most one hash per core runs at a time, and at most 64 wait; above that it throws
 * OVERLOADED.
 */
export interface Passwords {
  /** A PHC string. */
  hash(password: string): Promise<string>;
  /** Without a hash, verifies a decoy and returns false, so that timing does not reveal which accounts exist. */
  verify(input: { readonly password: string; readonly hash: string | null }): Promise<boolean>;
  /** Whether the hash was created with weaker parameters than the present ones. */
  isWeaker(hash: string): boolean;
}

/** The two hash functions; tests count their calls. */
export interface Argon2 {
  readonly hash: typeof hash;
  readonly verify: typeof verify;
}

/** `cores`: how many hashes run at a time. */
export async function createPasswords({
  cores,
  argon2 = { hash, verify },
}: {
  cores: number;
  argon2?: Argon2;
}): Promise<Passwords> {
  const queue = createSemaphore({
    atOnce: cores,
    waiting: 64,
    refuse: () => fail('OVERLOADED', { retryAfterSeconds: 2 }),
  });
  // With the parameters of new hashes. A password that matches it is refused like any other.
  const decoy = await argon2.hash('decoy', PARAMETERS);
  return {
    hash: (password) => queue.run(() => argon2.hash(normalised(password), PARAMETERS)),
    verify: async ({ password, hash: stored }) => {
      const matches = await queue.run(() => argon2.verify(stored ?? decoy, normalised(password)));
      return matches && stored !== null;
    },
    isWeaker: (stored) => isWeaker(stored),
  };
}

/** OWASP's minimum for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Normalises different code points of the same character. Throws INVALID_INPUT, whether or not the account exists, with
 * the path of the request's field.
 */
export function normalised(password: string, path = 'password'): string {
  const plain = normal(password, { max: LONGEST, form: 'NFKC' });
  if (!plain.ok) throw invalid({ path, problem: plain.problem });
  return plain.text;
}

/** In UTF-16 code units: more than the 256 characters allowed in requests. */
const LONGEST = 1_024;

function isWeaker(stored: string): boolean {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(stored);
  return match === null || Number(match[1]) < PARAMETERS.memoryCost || Number(match[2]) < PARAMETERS.timeCost;
}
