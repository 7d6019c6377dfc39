import { randomToken } from '../../../data-plane-agent/base/secrets.js';

export const JOIN_TOKEN_MS = 24 * 3_600_000;

/** A new join token, of which only the hash is stored. The prefix lets secret scanners recognise it. */
export const newJoinToken = (): string => `dpj_${randomToken(32)}`;
