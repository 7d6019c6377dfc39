import { randomFillSync } from 'node:crypto';
import { v5, v7 } from 'uuid';
import { systemClock } from './clock.js';

/** Random bytes for many ids, drawn together: drawing them for each costs several times the rest of it. */
const RANDOM = new Uint8Array(16 * 256);
let used = RANDOM.length;
/** Of the last id: milliseconds, and 32 bits that count those of one millisecond from a random number on. */
let [msecs, seq] = [0, 0];

/** A new record id: UUIDv7, lower case. Ids made later in one process sort later. */
export function newId(): string {
  if (used === RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
  }
  const random = RANDOM.subarray(used, (used += 16));
  const now = systemClock.now(); // orders ids; no rule depends on it
  if (now > msecs) {
    msecs = now;
    // Half of the range is left to count in.
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) & 0x7fff_ffff;
  } else {
    seq = (seq + 1) >>> 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

/**
 * A deterministic id (UUIDv5) for a record derived from another one for some purpose, so that it is created only once.
 */
export const derivedId = (id: string, purpose: string): string => v5(purpose, id);

/**
 * Whether the text is a UUID of any version in canonical lower case. Upper case is refused because SQLite compares ids
 * as text, where two spellings of one id would differ, unlike in PostgreSQL.
 */
export function isId(text: string): boolean {
  return CANONICAL_UUID.test(text);
}

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
