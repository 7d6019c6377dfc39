import { isUtf8 } from 'node:buffer';
import { LINK } from './limits.js';

/**
 * A frame is one binary message: version (1 byte), type (1), flags (2), stream (4), all big-endian, then the payload.
 * Each side numbers the requests that it sends, the one that opened the connection with odd numbers, the other one with
 * even ones; all frames of a request and of its response have that number.
 *
 * - REQUEST, RESPONSE: the head, a JSON object. DATA: the next piece of the body. The flag LAST ends the message.
 * - CANCEL: the sender of a request no longer wants the response, and sends no more of the request.
 * - END: there is no response, or no more of it.
 * - WINDOW: the receiver of bodies grants more bytes, of a stream or (stream 0) of the connection.
 * - PING: a heartbeat with a report, a JSON object, and a number in place of the stream; PONG answers that number.
 * - GOAWAY, NOTICE: JSON objects.
 */
export interface Frame {
  readonly type: FrameType;
  readonly stream: number;
  readonly last: boolean;
  readonly payload: Uint8Array;
}

export type FrameType = keyof typeof RULES;

/** The other side violated the protocol: the connection is closed. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

export const HEADER_BYTES = 8;
export const MAX_STREAM = 0xff_ff_ff_ff;

const VERSION = 1;
const LAST = 1;

interface Rule {
  readonly code: number;
  readonly stream: 'required' | 'none' | 'either';
  readonly payload: readonly [min: number, max: number];
  readonly canBeLast?: true;
}

const RULES = {
  request: { code: 1, stream: 'required', payload: [2, LINK.headBytes], canBeLast: true },
  response: { code: 2, stream: 'required', payload: [2, LINK.headBytes], canBeLast: true },
  data: { code: 3, stream: 'required', payload: [1, LINK.frameBytes], canBeLast: true },
  end: { code: 4, stream: 'required', payload: [0, 0] },
  cancel: { code: 5, stream: 'required', payload: [0, 0] },
  window: { code: 6, stream: 'either', payload: [4, 4] },
  ping: { code: 7, stream: 'required', payload: [2, LINK.frameBytes] },
  pong: { code: 8, stream: 'required', payload: [0, 0] },
  goAway: { code: 9, stream: 'none', payload: [2, LINK.frameBytes] },
  notice: { code: 10, stream: 'none', payload: [2, LINK.frameBytes] },
} as const satisfies Record<string, Rule>;

const byCode = new Map<number, readonly [type: FrameType, rule: Rule]>(
  (Object.keys(RULES) as FrameType[]).map((type) => [RULES[type].code, [type, RULES[type]]]),
);

const NOTHING = new Uint8Array(0);

export function encodeFrame({
  type,
  stream,
  last = false,
  payload = NOTHING,
}: Pick<Frame, 'type' | 'stream'> & Partial<Frame>): Uint8Array {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame[0] = VERSION;
  frame[1] = RULES[type].code;
  frame.writeUInt16BE(last ? LAST : 0, 2);
  frame.writeUInt32BE(stream, 4);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** The payload is a view of `data`. Throws MalformedFrame. */
export function decodeFrame(data: Uint8Array): Frame {
  if (data.length < HEADER_BYTES) throw new MalformedFrame('a frame is shorter than its header');
  const header = new DataView(data.buffer, data.byteOffset, HEADER_BYTES);
  if (header.getUint8(0) !== VERSION) throw new MalformedFrame('a frame has an unknown version');
  const [type, rule] = byCode.get(header.getUint8(1)) ?? [];
  if (!type || !rule) throw new MalformedFrame('a frame has an unknown type');
  const flags = header.getUint16(2);
  if (flags !== 0 && (flags !== LAST || !rule.canBeLast)) throw new MalformedFrame('a frame has unknown flags');
  const stream = header.getUint32(4);
  if (rule.stream !== 'either' && (rule.stream === 'none') !== (stream === 0))
    throw new MalformedFrame(`a frame of type ${type} has stream ${stream}`);
  const payload = data.subarray(HEADER_BYTES);
  const [min, max] = rule.payload;
  if (payload.length < min || payload.length > max)
    throw new MalformedFrame(`a frame of type ${type} has ${payload.length} bytes`);
  return { type, stream, last: flags === LAST, payload };
}

/** The JSON object in the payload of a frame. Throws MalformedFrame. */
export function objectIn({ type, payload }: Pick<Frame, 'type' | 'payload'>): Readonly<Record<string, unknown>> {
  const value = isUtf8(payload) ? parsed(payload) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedFrame(`a frame of type ${type} has no JSON object`);
  return value as Readonly<Record<string, unknown>>;
}

export const jsonOf = (value: Readonly<Record<string, unknown>>): Buffer => Buffer.from(JSON.stringify(value));

export function windowOf(bytes: number): Uint8Array {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(bytes);
  return payload;
}

/** The bytes that a WINDOW grants. Throws MalformedFrame. */
export function grantIn(payload: Uint8Array): number {
  const bytes = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
  if (bytes === 0) throw new MalformedFrame('a frame of type window grants nothing');
  return bytes;
}

function parsed(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
  } catch (error) {
    throw new MalformedFrame('a frame has malformed JSON', { cause: error });
  }
}
