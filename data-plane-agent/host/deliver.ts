import type { BoundPlane } from '../plane/contract/data-plane.js';
import type { MessageOutcome, OutboxMessage } from '../plane/contract/records/outbox.js';
import type { Operations } from '../plane/operations/index.js';
import type { Step } from './upkeep.js';

/**
 * Hands a message over. It may come twice, under the same id. What it throws is told as the reason why it could not be.
 */
export type Consumer = (message: OutboxMessage, plane: BoundPlane<Operations>, tenantId: string) => Promise<void>;

/** By topic. */
export type Consumers = Readonly<Record<string, Consumer>>;

/** A consumer that knows more than that it failed. */
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
/** So long the messages of one step are the caller's: longer than their consumers may take together. */
const LEASE_MS = 600_000;
const ERROR_MAX = 1_000;

/** Takes what is due of a tenant's outbox and hands each message to the consumer of its topic. */
export const deliverWith =
  (consumers: Consumers): Step =>
  async (plane, tenantId) => {
    const { messages } = await plane.leaseMessages({ limit: AT_ONCE, leaseMs: LEASE_MS });
    // Each is settled by itself: what was handed over is not handed over again because another one breaks off.
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
  if (!consumer) return { id, attempts, error: 'Nobody here takes messages of this topic.' };
  try {
    await consumer(message, plane, tenantId);
    return { id, attempts, error: null };
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    const more = error instanceof NotHandedOver ? { retryAfterMs: error.retryAfterMs, isFinal: error.isFinal } : {};
    return { id, attempts, error: told.slice(0, ERROR_MAX) || 'It was not said why.', ...more };
  }
}
