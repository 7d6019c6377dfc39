import type { BoundPlane } from '../plane/contract/data-plane.js';
import type { MessageOutcome, OutboxMessage } from '../plane/contract/records/outbox.js';
import type { Operations } from '../plane/operations/index.js';
import type { Step } from './upkeep.js';

/**
 * Processes a message. It may get the same message (same id) twice. The message of a thrown error is stored as the
 * reason of the failure.
 */
export type Consumer = (message: OutboxMessage, plane: BoundPlane<Operations>, tenantId: string) => Promise<void>;

/** By topic. */
export type Consumers = Readonly<Record<string, Consumer>>;

/** Thrown by a consumer to control the retry. */
export class NotHandedOver extends Error {
  override readonly name = 'NotHandedOver';
  readonly retryAfterMs: number | null;
  readonly isFinal: boolean;

  constructor(
    message: string,
    {
      retryAfterMs = null,
      isFinal = false,
      cause,
    }: { readonly retryAfterMs?: number | null; readonly isFinal?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}

const AT_ONCE = 20;
/** How long the messages of one step are leased: longer than their consumers may take together. */
const LEASE_MS = 600_000;
const ERROR_MAX = 1_000;

/** Leases the due messages of a tenant's outbox and passes each to the consumer of its topic. */
export const deliverWith =
  (consumers: Consumers): Step =>
  async (plane, tenantId) => {
    const { messages } = await plane.leaseMessages({ limit: AT_ONCE, leaseMs: LEASE_MS });
    // Settled one by one, so that an error does not cause messages already delivered to be sent again.
    for (const message of messages)
      await plane.settleMessages({
        outcomes: [await handedOver(message, { consumer: consumers[message.topic], plane, tenantId })],
      });
    return { more: messages.length === AT_ONCE };
  };

async function handedOver(
  message: OutboxMessage,
  {
    consumer,
    plane,
    tenantId,
  }: { readonly consumer: Consumer | undefined; readonly plane: BoundPlane<Operations>; readonly tenantId: string },
): Promise<MessageOutcome> {
  const { id, attempts } = message;
  if (!consumer) return { id, attempts, error: 'There is no consumer for this topic.' };
  try {
    await consumer(message, plane, tenantId);
    return { id, attempts, error: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const more = error instanceof NotHandedOver ? { retryAfterMs: error.retryAfterMs, isFinal: error.isFinal } : {};
    return { id, attempts, error: message.slice(0, ERROR_MAX) || 'The consumer gave no reason.', ...more };
  }
}
