import type { Log } from '../../data-plane-agent/base/log.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { tracedOutbound } from '../../data-plane-agent/base/tracing/outbound.js';
import {
  createBotChallenge,
  NO_CHALLENGE,
  VERIFY_URLS,
  type BotChallenge,
  type ChallengeProvider,
} from '../auth/challenge.js';

export interface ChallengeOptions {
  readonly botChallengeProvider: ChallengeProvider;
  readonly botChallengeSecret?: string | undefined;
  readonly botChallengeVerifyUrl?: string | undefined;
  readonly botChallengeHostnames: readonly string[];
  readonly production: boolean;
}

/** Creates the configured bot challenge. */
export function composeChallenge(settings: ChallengeOptions, { log }: { log: Log }): BotChallenge {
  const {
    botChallengeProvider: provider,
    botChallengeSecret: secret,
    botChallengeVerifyUrl,
    botChallengeHostnames,
    production,
  } = settings;
  if (provider === 'none' || secret === undefined) return NO_CHALLENGE;
  // The operator sets the URL of the verifier, so private addresses are allowed, unlike in URLs set by users.
  const outbound = tracedOutbound(
    createOutbound({ allowPrivate: PRIVATE, production, connectMs: 3_000, totalMs: 5_000 }),
    { namesHost: true },
  );
  return createBotChallenge({
    verifyUrl: botChallengeVerifyUrl ?? VERIFY_URLS[provider],
    secret,
    hostnames: botChallengeHostnames.map((name) => name.toLowerCase()),
    outbound,
    log,
  });
}

const PRIVATE = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
