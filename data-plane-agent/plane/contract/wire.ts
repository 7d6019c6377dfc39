import type { FailureCode, DetailsOf } from '../../base/failures.js';
import type { Call } from './call.js';

/** Moves when an agent of another version could no longer understand a request or an answer. */
export const PROTOCOL_VERSION = 1;

/** What is sent to an agent. */
export interface WireRequest {
  readonly protocol: number;
  readonly name: string;
  readonly call: Call;
  readonly input: unknown;
}

/** What comes back. A fault of the agent's is told without its inside. */
export type WireReply =
  | { readonly ok: true; readonly output: unknown; readonly replayed: boolean }
  | {
      readonly ok: false;
      readonly code: FailureCode;
      readonly details: DetailsOf<FailureCode>;
      readonly replayed: boolean;
    }
  | { readonly ok: false; readonly fault: true }
  /** The request was made in a version that is not spoken there; nothing was looked at, and nothing ran. */
  | { readonly ok: false; readonly speaks: number };

/**
 * Carries one request and its reply as JSON. Rejects with a `TransportError` when no reply came: `nothingRan` only when
 * the request cannot have reached the other side. The signal says that no reply is waited for any more, and is told to
 * the other side.
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
