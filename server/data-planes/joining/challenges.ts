import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { constantTimeEqual, type KeyRing } from '../../../data-plane-agent/base/secrets.js';

/** Nonces that are not stored: each carries its end, and a code that binds both to the hash of a join token. */
export interface Challenges {
  issue(tokenHash: string): string;
  /** Whether the nonce was issued for this token within the last minute. */
  accepts(nonce: string, tokenHash: string): boolean;
}

const LIFE_MS = 60_000;

export function createChallenges({ keyRing, clock }: { readonly keyRing: KeyRing; readonly clock: Clock }): Challenges {
  const key = keyRing.derive('link challenge');
  const codeOf = (...parts: readonly string[]): string =>
    createHmac('sha256', key).update(parts.join('.')).digest('base64url');
  return {
    issue: (tokenHash) => {
      const random = randomBytes(32).toString('base64url');
      const until = String(clock.now() + LIFE_MS);
      return [random, until, codeOf(random, until, tokenHash)].join('.');
    },
    accepts: (nonce, tokenHash) => {
      const [random = '', until = '', code = '', ...rest] = nonce.split('.');
      return (
        rest.length === 0 && constantTimeEqual(code, codeOf(random, until, tokenHash)) && Number(until) > clock.now()
      );
    },
  };
}
