/** Keeps the last bytes of streamed content. */
export interface Tail {
  write(chunk: Buffer): void;
  /** At most the last `TAIL_BYTES`. */
  bytes(): Buffer;
}

/** Fits the directory of an archive of ten thousand files. */
const TAIL_BYTES = 2 ** 20;

export function createTail(): Tail {
  // A ring buffer, so that streaming creates no garbage.
  const ring = Buffer.alloc(TAIL_BYTES);
  let passed = 0;
  return {
    write(chunk) {
      const kept = chunk.subarray(-TAIL_BYTES);
      passed += chunk.length;
      const from = (passed - kept.length) % TAIL_BYTES;
      const copied = kept.copy(ring, from);
      kept.copy(ring, 0, copied);
    },
    bytes: () =>
      passed <= TAIL_BYTES
        ? ring.subarray(0, passed)
        : Buffer.concat([ring.subarray(passed % TAIL_BYTES), ring.subarray(0, passed % TAIL_BYTES)]),
  };
}

const END = 0x06054b50;
const END_BYTES = 22;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;

/**
 * The names in the directory of a zip archive; `undefined` when the content does not end as one, or the directory
 * exceeds the tail.
 */
export function zipDirectory(tail: Tail): string[] | undefined {
  const bytes = tail.bytes();
  for (let end = bytes.length - END_BYTES; end >= Math.max(0, bytes.length - END_BYTES - 0xffff); end -= 1) {
    // The archive comment must end with the content; otherwise the match is a part of something else.
    if (bytes.readUInt32LE(end) !== END || end + END_BYTES + bytes.readUInt16LE(end + 20) !== bytes.length) continue;
    const names = namesIn(bytes, directoryBefore(bytes, end));
    if (names) return names;
  }
  return undefined;
}

/** Zip64 archives have two more records between the directory and the end record. */
function directoryBefore(bytes: Buffer, end: number): { from: number; to: number } {
  const to = end - LOCATOR_64_BYTES - END_64_BYTES;
  const is64 =
    to >= 0 && bytes.readUInt32LE(end - LOCATOR_64_BYTES) === LOCATOR_64 && bytes.readUInt32LE(to) === END_64;
  return is64
    ? { from: to - Number(bytes.readBigUInt64LE(to + 40)), to }
    : { from: end - bytes.readUInt32LE(end + 12), to: end };
}

function namesIn(bytes: Buffer, { from, to }: { from: number; to: number }): string[] | undefined {
  if (from < 0) return undefined;
  const names: string[] = [];
  for (let at = from; at < to;) {
    if (at + ENTRY_BYTES > to || bytes.readUInt32LE(at) !== ENTRY) return undefined;
    const name = at + ENTRY_BYTES;
    const nameBytes = bytes.readUInt16LE(at + 28);
    names.push(bytes.toString('utf8', name, name + nameBytes));
    at = name + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return names;
}
