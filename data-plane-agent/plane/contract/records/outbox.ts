import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';

/** The maximum number of messages to lease or settle at once. */
export const MOST_MESSAGES = 100;

/**
 * A leased message of the outbox; it contains references, not content. `attempts` identifies the lease, so that a
 * former holder cannot settle the message.
 */
export const OutboxMessage = s.object({
  id: s.id(),
  topic: s.text({ max: 100 }),
  reference: Type.Unsafe<unknown>({ description: 'As written by the operation that enqueued the message.' }),
  /** Epoch milliseconds. */
  createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  attempts: s.integer({ min: 1, max: 1_000 }),
});
export type OutboxMessage = Static<typeof OutboxMessage>;

/** The outcome of a message. */
export const MessageOutcome = s.object({
  id: s.id(),
  attempts: s.integer({ min: 1, max: 1_000 }),
  /** Why delivery failed; `null` if it succeeded. */
  error: s.nullable(s.verbatim({ max: 1_000 })),
  /** The retry delay requested by the receiver, in milliseconds. */
  retryAfterMs: s.optional(s.integer({ max: 24 * 3_600_000 })),
  /** Do not retry: another attempt would fail as well. */
  isFinal: s.optional(s.flag()),
});
export type MessageOutcome = Static<typeof MessageOutcome>;
