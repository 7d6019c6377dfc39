import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';

/** Messages that are taken at once, and settled at once. */
export const MOST_MESSAGES = 100;

/**
 * A message of the outbox as it was taken: what it is about, not what it says. `attempts` tells whoever settles it from
 * whoever had it before.
 */
export const OutboxMessage = s.object({
  id: s.id(),
  topic: s.text({ max: 100 }),
  reference: Type.Unsafe<unknown>({ description: 'As whoever announced it wrote it.' }),
  /** Epoch milliseconds. */
  createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  attempts: s.integer({ min: 1, max: 1_000 }),
});
export type OutboxMessage = Static<typeof OutboxMessage>;

/** What became of a message. */
export const MessageOutcome = s.object({
  id: s.id(),
  attempts: s.integer({ min: 1, max: 1_000 }),
  /** Why it could not be handed over; `null`: it was. */
  error: s.nullable(s.verbatim({ max: 1_000 })),
  /** What the receiver said of when to come again, in milliseconds. */
  retryAfterMs: s.optional(s.integer({ max: 24 * 3_600_000 })),
  /** Another try would fare no better. */
  isFinal: s.optional(s.flag()),
});
export type MessageOutcome = Static<typeof MessageOutcome>;
