import type { FailureCode, DetailsOf } from '../../base/failures.js';
import type { Call } from './call.js';

/** Incremented when requests or replies become incompatible with agents of another version. */
export const PROTOCOL_VERSION = 1;

/** A request to an agent. */
export interface WireRequest {
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
  /** The agent does not support the request's protocol version; nothing was read or run. */
  | { readonly ok: false; readonly speaks: number };

/**
 * Sends one request and returns its reply, as JSON. Rejects with a `TransportError` when there is no reply;
 * `nothingRan` is true only if the request cannot have reached the other side. The signal reports that the caller no
 * longer waits, and is forwarded to the other side.
 */
export type Transport = (request: WireRequest, options: { readonly signal: AbortSignal }) => Promise<WireReply>;

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly nothingRan: boolean;

  constructor(message: string, options: { readonly nothingRan: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.nothingRan = options.nothingRan;
  }
}
