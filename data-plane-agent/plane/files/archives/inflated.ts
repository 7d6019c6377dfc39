import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { damaged } from './archive-budget.js';
import type { ByteReader } from './byte-reader.js';

/** Unpacks one deflate stream, as in a zip. The bytes after it stay in the reader. */
export const inflated = (bytes: ByteReader): AsyncGenerator<Buffer> => unpacked(bytes, createInflateRaw());

/** Unpacks all members of a gzip file in order. */
export const gunzipped = (bytes: ByteReader): AsyncGenerator<Buffer> => unpacked(bytes, createGunzip());

async function* unpacked(bytes: ByteReader, engine: InflateRaw | Gunzip): AsyncGenerator<Buffer> {
  const ended = new Promise<void>((resolve) => engine.once('end', resolve).once('close', resolve));
  const feeding = feed(bytes, engine, ended);
  try {
    for await (const piece of engine) {
      if (!Buffer.isBuffer(piece)) throw new TypeError('zlib did not return bytes');
      yield piece;
    }
  } catch (error) {
    if (isOfZlib(error)) throw damaged();
    throw error;
  } finally {
    engine.destroy();
    await feeding;
  }
}

/** Writes chunk by chunk, so that the unused rest of the last chunk can be put back. */
async function feed(bytes: ByteReader, engine: InflateRaw | Gunzip, ended: Promise<void>): Promise<void> {
  try {
    for (let fed = 0; !engine.destroyed && !engine.readableEnded;) {
      const piece = await bytes.next();
      if (piece === undefined) {
        engine.end();
        return;
      }
      fed += piece.length;
      // The callback is not called when the stream is broken, and not always when it ends within the chunk.
      await Promise.race([new Promise((resolve) => engine.write(piece, resolve)), ended]);
      const unused = fed - engine.bytesWritten;
      if (unused === 0) continue;
      bytes.putBack(piece.subarray(piece.length - unused));
      engine.end();
      return;
    }
  } catch (error) {
    engine.destroy(error instanceof Error ? error : new Error(String(error))); // reported to the reader of the engine
  }
}

const isOfZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
