/** Searches a byte sequence in streamed content. */
export interface ByteSearch {
  write(chunk: Buffer): void;
  found(): boolean;
}

export function findsBytes(wanted: Buffer): ByteSearch {
  let found = false;
  /** The end of the previous content, where a match may begin. */
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

/** A stream name as in the directory of an OLE file: UTF-16 with a terminating zero. */
export const oleName = (name: string): Buffer => Buffer.from(`${name}\0`, 'utf16le');
