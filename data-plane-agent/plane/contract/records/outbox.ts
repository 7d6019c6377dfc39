import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';
import { MESSAGE_STATES, SKIP_REASONS } from '../vocabulary.js';

/** The maximum number of lanes with due messages that one call returns. */
export const MOST_LANES = 500;

/** The maximum number of messages to lease or settle at once. */
export const MOST_MESSAGES = 100;

/**
 * A leased message of the outbox; it contains references, not content. `attempts` identifies the lease, so that a
 * former holder cannot settle the message.
 */
export const OutboxMessage = s.object({
  id: s.id(),
  topic: s.text({ max: 100 }),
  lane: s.text({ min: 0, max: 100, about: 'Messages of one lane are sent at one pace: see `Message`.' }),
  reference: Type.Unsafe<unknown>({ description: 'As written by the operation that enqueued the message.' }),
  /** Epoch milliseconds. */
  createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** Epoch milliseconds. From then on it is not delivered any more. */
  expiresAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
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
  /** Why nothing had to be sent: kept with the settled message, in place of an error. */
  reason: s.optional(s.enum(SKIP_REASONS)),
});
export type MessageOutcome = Static<typeof MessageOutcome>;

/** A message as operators see it: without its content and addresses. */
export const ListedMessage = s.object({
  id: s.id(),
  topic: s.text({ max: 100 }),
  lane: s.text({ min: 0, max: 100 }),
  state: s.enum(MESSAGE_STATES),
  attempts: s.integer({ max: 1_000 }),
  /** Epoch milliseconds. */
  createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** When it is or was due, in epoch milliseconds. */
  dueAt: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** The last error; of a settled message, why nothing was sent. */
  error: s.nullable(s.verbatim({ max: 1_000 })),
});
export type ListedMessage = Static<typeof ListedMessage>;

/** The maximum number of messages that one call lists. */
export const MOST_LISTED = 500;

/** Messages by their ids. */
export const MessageIds = s.object({ ids: s.list(s.id(), MOST_MESSAGES) });
/** `unknown`: there is no such message. `sending`: an attempt is under way. `ended`: nothing is left to do. */
export const MessageResults = s.object({
  results: s.list(s.object({ id: s.id(), result: s.enum(['done', 'unknown', 'sending', 'ended']) }), MOST_MESSAGES),
});
export type MessageResults = Static<typeof MessageResults>;
