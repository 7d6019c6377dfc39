import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { OutboundError, type Outbound } from '../../data-plane-agent/base/outbound.js';

/** A bot challenge, verified by a provider before any password is hashed. */
export interface BotChallenge {
  /**
   * Resolves if the challenge is disabled or the provider accepts the token. Throws INVALID_INPUT without a token,
   * BOT_CHALLENGE_FAILED for a refused one, and BOT_CHALLENGE_UNAVAILABLE if the provider cannot be asked: a fault
   * never admits a client.
   */
  check(token: string | null | undefined): Promise<void>;
  /** The issue for a missing token; none if the challenge is disabled. */
  missing(token: string | null | undefined): readonly Issue[];
}

export const CHALLENGE_PROVIDERS = ['none', 'turnstile', 'hcaptcha'] as const;
export type ChallengeProvider = (typeof CHALLENGE_PROVIDERS)[number];

/** The verification URLs, which `BOT_CHALLENGE_VERIFY_URL` overrides. */
export const VERIFY_URLS: Readonly<Record<Exclude<ChallengeProvider, 'none'>, string>> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
};

export const NO_CHALLENGE: BotChallenge = { check: () => Promise.resolve(), missing: () => [] };

/**
 * Both providers use the same siteverify protocol. `hostnames`: where the challenge must have been solved; with an
 * empty list the provider decides.
 */
export function createBotChallenge({
  verifyUrl,
  secret,
  hostnames,
  outbound,
  log,
}: {
  verifyUrl: string;
  secret: string;
  hostnames: readonly string[];
  outbound: Outbound;
  log: Log;
}): BotChallenge {
  const unavailable = (reason: string, cause?: unknown) => {
    log.warn({ reason, ...(cause === undefined ? {} : { err: cause }) }, 'bot challenge cannot be verified');
    return fail('BOT_CHALLENGE_UNAVAILABLE', { retryAfterSeconds: 10 }, { cause });
  };

  const ask = async (token: string): Promise<Verdict> => {
    const answer = await outbound
      .request({
        url: verifyUrl,
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
        body: new URLSearchParams({ secret, response: token }).toString(),
        maxBytes: 64 * 1024,
      })
      .catch((error: unknown) => {
        throw error instanceof OutboundError ? unavailable(error.code, error) : error;
      });
    if (answer.status !== 200) throw unavailable(`status ${answer.status}`);
    const verdict = verdictOf(answer.body.toString('utf8'));
    if (!verdict) throw unavailable('no verdict in the answer');
    // A configuration error or a provider fault says nothing about the client.
    const fault = verdict.errors.find((code) => FAULTS.has(code));
    if (!verdict.success && fault !== undefined) throw unavailable(fault);
    return verdict;
  };

  return {
    missing,
    check: async (token) => {
      if (!token) throw invalid(...missing(token));
      const { success, hostname } = await ask(token);
      const elsewhere = hostnames.length > 0 && !hostnames.includes(hostname ?? '');
      if (!success || elsewhere) throw fail('BOT_CHALLENGE_FAILED', {});
    },
  };
}

const missing = (token: string | null | undefined): readonly Issue[] =>
  token ? [] : [{ path: 'challengeToken', problem: 'is required' }];

interface Verdict {
  readonly success: boolean;
  readonly hostname: string | undefined;
  readonly errors: readonly string[];
}

const FAULTS: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'bad-request',
  'internal-error',
  'sitekey-secret-mismatch',
]);

function verdictOf(text: string): Verdict | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // For example an error page of a proxy.
    return undefined;
  }
  if (typeof answer !== 'object' || answer === null || !('success' in answer) || typeof answer.success !== 'boolean')
    return undefined;
  const errors =
    'error-codes' in answer && Array.isArray(answer['error-codes'])
      ? answer['error-codes'].filter((code: unknown) => typeof code === 'string')
      : [];
  return {
    success: answer.success,
    hostname: 'hostname' in answer && typeof answer.hostname === 'string' ? answer.hostname.toLowerCase() : undefined,
    errors,
  };
}
