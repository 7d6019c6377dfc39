import { unzipSync, type UnzipFileInfo } from 'fflate';

/** Why the parts of a document are not unpacked. */
export type ZipFault = 'damaged' | 'too_many_parts' | 'unpacks_to_too_much';

export interface ZipLimits {
  readonly parts: number;
  /** What all parts may unpack to together. */
  readonly unpackedBytes: number;
}

/**
 * The parts that the directory of a zip tells of. Nothing is unpacked: what it would come to is added up, and nothing
 * unpacks to more than it says.
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
  // Parts that share their bytes with others are no archive of any program's making.
  if (!(total(parts, 'size') <= bytes.length)) return { fault: 'damaged' };
  return { parts };
}

class TooManyParts extends Error {}

/** Of what office programs wrote before 2007, and of what they protect with a password today. */
export const isCompoundFile = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 8)).toString('hex') === 'd0cf11e0a1b11ae1';

const total = (parts: readonly UnzipFileInfo[], size: 'size' | 'originalSize'): number =>
  parts.reduce((sum, part) => sum + part[size], 0);
