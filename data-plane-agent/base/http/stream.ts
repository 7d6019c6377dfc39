import type { ServerResponse } from 'node:http';
import type { HttpContext } from './exchange.js';

/** A client that reads nothing for this long is taken to be disconnected. */
const STALLED_MS = 120_000;

/**
 * Sends a response piece by piece, at the speed of the client. `begin` sets status and headers when the first piece is
 * available: an earlier error gets a normal error response, a later one breaks the connection. When the client
 * disconnects, iteration of `pieces` stops.
 */
export async function stream(ctx: HttpContext, pieces: AsyncIterable<string>, begin: () => void): Promise<void> {
  const { res } = ctx;
  let begun = false;
  const once = (): void => {
    if (begun) return;
    begun = true;
    begin();
    // Bypass Koa from here on: it would end a failed stream as if it were complete.
    ctx.respond = false;
    res.setTimeout(STALLED_MS, () => res.destroy());
  };
  if (ctx.method !== 'HEAD') {
    for await (const piece of pieces) {
      if (res.destroyed) return;
      once();
      // Encoded once: for a string Node counts the bytes before it encodes them.
      if (!res.write(Buffer.from(piece))) await drained(res);
    }
  }
  once();
  res.end();
}

/** Resolves when the response can accept more data, or is closed. */
const drained = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.on('drain', done);
    res.on('close', done);
    if (res.destroyed) done();
  });
