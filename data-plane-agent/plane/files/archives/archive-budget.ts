/** The remaining limits while an archive is unpacked, and the size of its largest file so far. */
export interface Budget {
  unpackedBytes: number;
  entries: number;
  depth: number;
  largestPart: number;
}

/** Why an archive is rejected; completes the sentence "The archive …". */
export class ArchiveFault extends Error {
  override readonly name = 'ArchiveFault';
}

export const damaged = (): ArchiveFault => new ArchiveFault('is damaged');

/** A zip starts with PK\3\4, an empty one with PK\5\6. */
export const isZip = (head: Buffer): boolean =>
  head.length >= 4 && (head.readUInt32LE(0) === 0x04034b50 || head.readUInt32LE(0) === 0x06054b50);
export const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;
