import { UnreadableDocument } from './document-text.js';
import { readPicture } from './ocr.js';
import { MAX_DOTS, sizeOf } from './picture-size.js';
import type { Reading } from './reading.js';

/** Reads a PNG, JPEG or WebP. How large it is unpacked is looked up before it is. */
export async function readPictureFile(bytes: Uint8Array, reading: Reading): Promise<void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = sizeOf(buffer);
  if (!size) throw new UnreadableDocument('damaged', 'the picture is damaged, or not of its kind');
  if (size.width * size.height > MAX_DOTS)
    throw new UnreadableDocument('too_large', `the picture has more than ${MAX_DOTS / 1_000_000} million dots`);
  await readPicture(buffer, 1, reading);
}
