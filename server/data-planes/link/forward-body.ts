import { LINK } from '../../../data-plane-agent/base/link/limits.js';
import type { LinkMessage } from '../../../data-plane-agent/base/link/session.js';

const LENGTH_BYTES = 4;

/** The most that a forwarded message takes. */
export const MOST_FORWARDED = LENGTH_BYTES + LINK.headBytes + LINK.bodyBytes;

/** A message in one piece: the length of the head, the head as JSON, the body. */
export function packed({ head, body }: LinkMessage): Buffer {
  const headBytes = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(headBytes.length);
  return Buffer.concat([length, headBytes, body]);
}

/** The message of `packed`; `undefined` if the bytes are not one. */
export function unpacked(bytes: Buffer): LinkMessage | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (end > bytes.length || end > LENGTH_BYTES + LINK.headBytes) return undefined;
  try {
    const head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end)) as unknown;
    if (typeof head !== 'object' || head === null || Array.isArray(head)) return undefined;
    return { head: head as LinkMessage['head'], body: bytes.subarray(end) };
  } catch {
    return undefined; // not JSON
  }
}
