import { hash, verify } from '@node-rs/argon2';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { normal } from '../../data-plane-agent/base/text.js';
import { createSemaphore } from './semaphore.js';

/**
 * Hashing is meant to be dear: at most one hash per core runs at once, and of those that wait, at most 64; beyond that
 * OVERLOADED.
 */
export interface Passwords {
  /** A PHC string. */
  hash(password: string): Promise<string>;
  /** Without a hash the same work is done on a decoy and the answer is no, so that nobody can time who exists. */
  verify(input: { readonly password: string; readonly hash: string | null }): Promise<boolean>;
  /** Whether the hash was made with weaker parameters than today's. */
  isWeaker(hash: string): boolean;
}

/** The two functions that do the work; tests count their calls. */
export interface Argon2 {
  readonly hash: typeof hash;
  readonly verify: typeof verify;
}

/** `cores`: how many hashes run at once. */
export async function createPasswords({
  cores,
  argon2 = { hash, verify },
}: {
  cores: number;
  argon2?: Argon2;
}): Promise<Passwords> {
  const turns = createSemaphore({
    atOnce: cores,
    waiting: 64,
    refuse: () => fail('OVERLOADED', { retryAfterSeconds: 2 }),
  });
  // A hash of nothing that anybody could send, under the parameters of every new hash.
  const decoy = await argon2.hash(crypto.randomUUID(), PARAMETERS);
  return {
    hash: (password) => turns.run(() => argon2.hash(normalised(password), PARAMETERS)),
    verify: async ({ password, hash: stored }) => {
      const matches = await turns.run(() => argon2.verify(stored ?? decoy, normalised(password)));
      return matches && stored !== null;
    },
    isWeaker: (stored) => isWeaker(stored),
  };
}

/** OWASP's minimum for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Keyboards and systems write the same letter in different code points. Fails with INVALID_INPUT, whether or not an
 * account has such a password.
 */
export function normalised(password: string): string {
  const plain = normal(password, { max: LONGEST, form: 'NFKC' });
  if (!plain.ok) throw invalid({ path: 'password', problem: plain.problem });
  return plain.text;
}

/** In UTF-16 units: more than the 256 characters that requests may have. */
const LONGEST = 1_024;

function isWeaker(stored: string): boolean {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(stored);
  return match === null || Number(match[1]) < PARAMETERS.memoryCost || Number(match[2]) < PARAMETERS.timeCost;
}
