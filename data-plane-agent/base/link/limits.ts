/**
 * The limits of a link between a control plane and an agent. Times in milliseconds, sizes in bytes. Sources: RFC 6455
 * (close codes), OWASP WebSocket Security Cheat Sheet (small messages, no compression, heartbeats).
 */
export const LINK = {
  /** The WebSocket subprotocol; its name carries the version of the framing. */
  subprotocol: 'duebook-link.v1',
  /** Payload of one frame. */
  frameBytes: 64 * 1024,
  /** One WebSocket message: a frame with its header, with room to spare. */
  maxPayload: 128 * 1024,
  /** The JSON head of a request or reply. */
  headBytes: 64 * 1024,
  /** The body of a request or reply: a 16 MB API request grows when it is encoded as an operation. */
  bodyBytes: 64 * 1024 * 1024,
  /** What a sender may have sent of one body, and of all bodies of a connection, before the receiver grants more. */
  streamCredit: 256 * 1024,
  connectionCredit: 4 * 1024 * 1024,
  /** A sender pauses while the socket has more than this to write. */
  bufferedBytes: 1024 * 1024,
  /** Requests that run at once on one connection; further ones wait. */
  inFlight: 64,
  waiting: 256,
  waitMs: 5_000,
  heartbeatMs: 20_000,
  /** Silence after which a connection is dead. */
  deadMs: 45_000,
  /** Between the opening of the connection and the welcome. */
  handshakeMs: 10_000,
  /** How long a connection that is being replaced may finish its requests. */
  drainMs: 20_000,
} as const;

/** Close codes, besides 1000 (normal) and 1001 (going away). */
export const CLOSED = {
  malformed: 4400,
  unauthorized: 4401,
  revoked: 4403,
  silent: 4408,
  cloned: 4409,
  incompatible: 4426,
} as const;

export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/**
 * The versions of the protocol that this program speaks: the present one and, from the second one on, the one before. A
 * version covers the schemas of all operations, their calls and replies (`docs/decisions/0013-link.md`); the framing has
 * its own in the subprotocol.
 */
export const PROTOCOLS: ProtocolRange = { min: 1, max: 1 };

export const includes = ({ min, max }: ProtocolRange, version: number): boolean => version >= min && version <= max;

/** The highest version that both sides support; `undefined` if there is none. */
export function negotiated(one: ProtocolRange, other: ProtocolRange): number | undefined {
  const version = Math.min(one.max, other.max);
  return version >= Math.max(one.min, other.min) ? version : undefined;
}
