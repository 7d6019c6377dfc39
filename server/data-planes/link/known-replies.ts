import { LRUCache } from 'lru-cache';
import { ExpiringCache } from '../../../data-plane-agent/base/expiring-cache.js';
import { frozen } from '../../../data-plane-agent/base/frozen.js';
import type { WireReply } from '../../../data-plane-agent/plane/contract/wire.js';

/** How many bytes of replies a process keeps, about. */
const KEPT = 32 * 1024 * 1024;
/** Of a byte of JSON: as objects, and as the text that the endpoint makes of them. */
const BYTES = 4;
/** A longer reply would displace many others. */
const LONGEST = 512 * 1024;
/** A reply that was not received again for this time, in milliseconds, is dropped. */
const KEPT_MS = 5 * 60_000;
/** Hashes of replies that were received once. */
const SEEN = 20_000;

/** What a reply is to, and SHA-256 of its bytes. */
export interface ReplyName {
  readonly tenantId: string;
  readonly operation: string;
  readonly bodyHash: string;
}

type Answered = Extract<WireReply, { readonly ok: true }>;

/**
 * Replies that agents have sent more than once, by the hash of their bytes: what was parsed from equal bytes is the same
 * object, so that it is neither parsed nor checked again, nor made into an answer again. Nothing can be out of date: the
 * agent is asked each time, and sends the bytes.
 */
export class KnownReplies {
  private readonly replies = new ExpiringCache<{ readonly reply: Answered; readonly size: number }>({
    maxSize: KEPT,
    sizeOf: ({ size }) => size,
    keptMs: KEPT_MS,
    since: 'use',
  });
  private readonly seen = new LRUCache<string, true>({ max: SEEN });

  /** `isKept`: whether replies to an operation are worth keeping, because the same is asked again and again. */
  constructor(private readonly isKept: (operation: string) => boolean) {}

  find(name: ReplyName): WireReply | undefined {
    return this.isKept(name.operation) ? this.replies.get(keyOf(name))?.reply : undefined;
  }

  /** From the second time on, a reply is kept, and its output cannot be changed. */
  received(name: ReplyName, reply: WireReply, bytes: number): void {
    if (
      !this.isKept(name.operation) ||
      !reply.ok ||
      bytes > LONGEST ||
      typeof reply.output !== 'object' ||
      reply.output === null
    )
      return;
    const key = keyOf(name);
    if (!this.seen.has(key)) {
      this.seen.set(key, true);
      return;
    }
    frozen(reply.output);
    this.replies.set(key, { reply, size: BYTES * bytes + 2 * key.length });
  }
}

const keyOf = ({ tenantId, operation, bodyHash }: ReplyName): string => `${tenantId} ${operation} ${bodyHash}`;
