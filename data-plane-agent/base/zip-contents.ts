import { unzipSync, type UnzipFileInfo } from 'fflate';

/** Why an archive is refused. */
export type ZipFault = 'damaged' | 'too_many_parts' | 'unpacks_to_too_much';

export interface ZipLimits {
  readonly parts: number;
  /** The total unpacked size of all parts. */
  readonly unpackedBytes: number;
}

/**
 * Lists the parts in the directory of a zip archive without unpacking them, and checks the limits. The sizes in the
 * directory can be relied on, because unpacking stops at them.
 */
export function zipContents(
  bytes: Uint8Array,
  limits: ZipLimits,
): { readonly parts: readonly UnzipFileInfo[] } | { readonly fault: ZipFault; readonly cause?: unknown } {
  const parts: UnzipFileInfo[] = [];
  try {
    unzipSync(bytes, {
      filter: (part) => {
        if (parts.push(part) > limits.parts) throw new TooManyParts();
        return false;
      },
    });
  } catch (error) {
    return error instanceof TooManyParts ? { fault: 'too_many_parts' } : { fault: 'damaged', cause: error };
  }
  if (!(total(parts, 'originalSize') <= limits.unpackedBytes)) return { fault: 'unpacks_to_too_much' };
  // Parts that overlap occur only in crafted archives.
  if (!(total(parts, 'size') <= bytes.length)) return { fault: 'damaged' };
  return { parts };
}

class TooManyParts extends Error {}

/** The format of office documents before 2007, and of password-protected ones today. */
export const isCompoundFile = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 8)).toString('hex') === 'd0cf11e0a1b11ae1';

const total = (parts: readonly UnzipFileInfo[], size: 'size' | 'originalSize'): number =>
  parts.reduce((sum, part) => sum + part[size], 0);
