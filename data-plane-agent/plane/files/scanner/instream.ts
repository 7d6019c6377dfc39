import type { Readable } from 'node:stream';
import type { Frame } from './clamd-stream.js';

/** The content could not be read, or does not have the declared size. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
}

const FRAME_BYTES = 65_536;

/**
 * Content in INSTREAM format: chunks with a four-byte length, then a length of 0. The end is sent only after exactly
 * `sizeBytes`, so that a part is never taken for the whole. Throws a `ContentError`.
 */
export async function* framesOf(
  content: Readable,
  { sizeBytes }: { readonly sizeBytes: number },
): AsyncGenerator<Frame> {
  let read = 0;
  for await (const chunk of bytesOf(content)) {
    read += chunk.length;
    if (read > sizeBytes) throw new ContentError(`the content has more than its ${sizeBytes} bytes`);
    for (let at = 0; at < chunk.length; at += FRAME_BYTES) yield frame(chunk.subarray(at, at + FRAME_BYTES));
  }
  if (read < sizeBytes) throw new ContentError(`the content ended after ${read} of ${sizeBytes} bytes`);
  yield frame(Buffer.alloc(0));
}

async function* bytesOf(content: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of content) {
      if (!(chunk instanceof Uint8Array)) throw new ContentError('the content is not binary');
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  } catch (error) {
    if (error instanceof ContentError) throw error;
    throw new ContentError(
      `the content could not be read (${error instanceof Error ? error.message : String(error)})`,
      { cause: error },
    );
  }
}

function frame(bytes: Buffer): Frame {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}
