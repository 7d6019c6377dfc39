import { UnreadableDocument } from './document-text.js';
import { readPicture } from './ocr.js';
import { MAX_PIXELS, sizeOf } from './picture-size.js';
import type { Reading } from './reading.js';

/** Reads a PNG, JPEG or WebP. Its size is checked before it is unpacked. */
export async function readPictureFile(bytes: Uint8Array, reading: Reading): Promise<void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = sizeOf(buffer);
  if (!size) throw new UnreadableDocument('damaged', 'the image is damaged, or is not what its type says');
  if (size.width * size.height > MAX_PIXELS)
    throw new UnreadableDocument('too_large', `the image has more than ${MAX_PIXELS / 1_000_000} million pixels`);
  await readPicture(buffer, 1, reading);
}
