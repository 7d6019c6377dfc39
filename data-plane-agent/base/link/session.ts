/** A message of a link: a small JSON head, and a body of bytes that is sent in pieces. */
export interface LinkMessage {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
}

/** A socket that carries binary messages whole and in order: a WebSocket of either side. */
export interface MessageSocket {
  readonly bufferedAmount: number;
  /** `written` is called when the message has been handed to the operating system, or cannot be. */
  send(data: Uint8Array, written: () => void): void;
  /** Runs `send`: the messages that it sends leave in one write where the socket can do that. */
  together(send: () => void): void;
  close(code: number, reason: string): void;
  /** Ends the connection without a closing handshake. */
  terminate(): void;
  onMessage(listener: (data: Uint8Array) => void): void;
  onClose(listener: (code: number, reason: string) => void): void;
}

export interface LinkClosed {
  readonly code: number;
  readonly reason: string;
}

/**
 * No reply. `nothingRan` is true only if no part of the request was sent; `sessionEnded` is true if the session has ended or
 * is about to, so that another one may soon replace it.
 */
export class LinkLost extends Error {
  override readonly name = 'LinkLost';
  readonly sessionEnded: boolean;

  constructor(
    message: string,
    readonly nothingRan: boolean,
    { sessionEnded = false, ...options }: ErrorOptions & { readonly sessionEnded?: boolean } = {},
  ) {
    super(message, options);
    this.sessionEnded = sessionEnded;
  }
}

/** What one side does for the other. */
export interface LinkHandlers {
  /** Answers a request. The signal fires when the other side cancels it or the connection is lost. */
  onRequest(message: LinkMessage, options: { readonly signal: AbortSignal }): Promise<LinkMessage>;
  /** A message without a reply. */
  onNotice(topic: string, value: unknown): void;
  /** The other side will close: open a new connection after the delay; this one sends no new requests. */
  onGoAway(options: { readonly reconnectAfterMs: number }): void;
  /** What the heartbeat reports to the other side: small and JSON. */
  report?(): Readonly<Record<string, unknown>>;
  /** What the other side reports with its heartbeat. */
  onReport?(report: Readonly<Record<string, unknown>>): void;
}

/**
 * A connection between two sides that send each other requests. Bodies are sent in frames and under credit, so that a
 * large one delays no small one and neither side holds more than it can use.
 */
export interface LinkSession {
  readonly state: 'open' | 'draining' | 'closed';
  /** Round trip of the last heartbeat, in milliseconds; `null` before the first. */
  readonly latencyMs: number | null;
  /** When something last arrived, in epoch milliseconds. */
  readonly heardAt: number;
  /** Requests that this side sent and that have no reply yet. */
  readonly inFlight: number;
  /**
   * Sends a request and resolves to the reply. Once the signal fires the other side is asked to stop. Rejects with
   * LinkLost, also when too many requests wait.
   */
  request(message: LinkMessage, options: { readonly signal: AbortSignal }): Promise<LinkMessage>;
  notice(topic: string, value: unknown): void;
  /** A heartbeat out of turn: whether the other side answered within the time. */
  ping(timeoutMs: number): Promise<boolean>;
  /** Announces the end: the other side sends nothing new. Resolves when all requests of both sides are answered. */
  goAway(options: { readonly reconnectAfterMs: number; readonly timeoutMs: number }): Promise<void>;
  close(code: number, reason: string): void;
  readonly closed: Promise<LinkClosed>;
}
