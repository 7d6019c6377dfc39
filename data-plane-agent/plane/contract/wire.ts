import type { FailureCode, DetailsOf } from '../../base/failures.js';
import type { Call } from './call.js';

/** A request to an agent. */
export interface WireRequest {
  /** The version of the protocol in which the request is written, and in which its reply is expected. */
  readonly protocol: number;
  readonly name: string;
  readonly call: Call;
  readonly input: unknown;
}

/** A reply of an agent. Internal errors are reported without details. */
export type WireReply =
  | { readonly ok: true; readonly output: unknown; readonly replayed: boolean }
  | {
      readonly ok: false;
      readonly code: FailureCode;
      readonly details: DetailsOf<FailureCode>;
      readonly replayed: boolean;
    }
  | { readonly ok: false; readonly fault: true }
  /** The agent does not speak the request's version of the protocol, but this one; nothing was read or run. */
  | { readonly ok: false; readonly speaks: number };

/**
 * Sends one request and returns its reply, as JSON. Rejects with a `TransportError` when there is no reply;
 * `nothingRan` is true only if the request cannot have reached the other side, and `sessionEnded` if there may soon be
 * another way to it. The signal reports that the caller no
 * longer waits, and is forwarded to the other side.
 */
export type Transport = (request: WireRequest, options: { readonly signal: AbortSignal }) => Promise<WireReply>;

/** How an operation ended, as one word: `ok`, the code of a failure, `fault` or `other_protocol`. */
export function outcomeOf(reply: WireReply): string {
  if (reply.ok) return 'ok';
  if ('fault' in reply) return 'fault';
  return 'speaks' in reply ? 'other_protocol' : reply.code;
}

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly nothingRan: boolean;
  readonly sessionEnded: boolean;

  constructor(
    message: string,
    options: { readonly nothingRan: boolean; readonly sessionEnded?: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.nothingRan = options.nothingRan;
    this.sessionEnded = options.sessionEnded ?? false;
  }
}
