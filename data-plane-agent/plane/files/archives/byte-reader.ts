/**
 * Reads bytes that come in pieces of any size by the numbers that a format asks for. Holds one piece at a time, and
 * what is put back.
 */
export class ByteReader {
  private readonly source: AsyncIterator<Uint8Array>;
  private held: Buffer = Buffer.alloc(0);
  /** Bytes handed out so far, less those put back. */
  private handedOut = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** How far into the content the next byte is. */
  get position(): number {
    return this.handedOut;
  }

  /** The next bytes as they come, at most `limit`; `undefined` at the end. */
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

  /** Exactly so many bytes, or the fewer that are left. For the small parts of a format, which it gathers. */
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

  /** Gives the last bytes back: they are handed out again. */
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

  /** Ends the source, read to its end or not. */
  async close(): Promise<void> {
    await this.source.return?.();
  }
}
