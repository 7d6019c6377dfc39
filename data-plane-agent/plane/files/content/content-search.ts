/** Whether some bytes occur in what passes. */
export interface ByteSearch {
  write(chunk: Buffer): void;
  found(): boolean;
}

export function findsBytes(wanted: Buffer): ByteSearch {
  let found = false;
  /** The end of what has passed, since it may begin there. */
  let before: Buffer = Buffer.alloc(0);
  return {
    write(chunk) {
      if (found) return;
      const seam = Buffer.concat([before, chunk.subarray(0, wanted.length - 1)]);
      found = seam.includes(wanted) || chunk.includes(wanted);
      before =
        chunk.length >= wanted.length - 1
          ? Buffer.from(chunk.subarray(chunk.length - wanted.length + 1))
          : seam.subarray(-(wanted.length - 1));
    },
    found: () => found,
  };
}

/**
 * The name of a stream as the directory of an OLE file has it: UTF-16, and filled up with zeros, of which one says that
 * it ends there.
 */
export const oleName = (name: string): Buffer => Buffer.from(`${name}\0`, 'utf16le');
