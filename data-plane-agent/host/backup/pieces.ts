import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

/** The size of the pieces in which files are read. */
const PIECE = 256 * 1024;

/** The content of an open file, at most its first `bytes` bytes. Does not close it. */
export async function* piecesOf(file: FileHandle, bytes = Infinity): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let position = 0; position < bytes;) {
    const piece = new Uint8Array(Math.min(PIECE, bytes - position));
    const { bytesRead } = await file.read(piece, 0, piece.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** SHA-256 of a file in lower-case hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'r');
  try {
    for await (const chunk of piecesOf(file)) hash.update(chunk);
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
