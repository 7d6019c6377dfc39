/** Reads a given number of bytes from chunks of any size. Buffers one chunk and the bytes that were put back. */
export class ByteReader {
  private readonly source: AsyncIterator<Uint8Array>;
  private held: Buffer = Buffer.alloc(0);
  /** Bytes returned so far, less those put back. */
  private handedOut = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** The offset of the next byte in the content. */
  get position(): number {
    return this.handedOut;
  }

  /** The next available bytes, at most `limit`; `undefined` at the end. */
  async next(limit = Number.MAX_SAFE_INTEGER): Promise<Buffer | undefined> {
    while (this.held.length === 0) {
      const { done, value } = await this.source.next();
      if (done === true) return undefined;
      this.held = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const piece = this.held.subarray(0, limit);
    this.held = this.held.subarray(piece.length);
    this.handedOut += piece.length;
    return piece;
  }

  /** Exactly `count` bytes, or fewer at the end. They are buffered, so that it suits short fields. */
  async take(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let missing = count; missing > 0;) {
      const piece = await this.next(missing);
      if (piece === undefined) break;
      pieces.push(piece);
      missing -= piece.length;
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  /** Puts the last bytes back, to be read again. */
  putBack(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.held = this.held.length === 0 ? bytes : Buffer.concat([bytes, this.held]);
    this.handedOut -= bytes.length;
  }

  async peek(count: number): Promise<Buffer> {
    const bytes = await this.take(count);
    this.putBack(bytes);
    return bytes;
  }

  /** Closes the source, whether or not it was read to its end. */
  async close(): Promise<void> {
    await this.source.return?.();
  }
}
