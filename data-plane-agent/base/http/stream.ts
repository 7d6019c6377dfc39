import type { ServerResponse } from 'node:http';
import type { HttpContext } from './exchange.js';

/** A client that takes nothing for so long has gone without saying so. */
const STALLED_MS = 120_000;

/**
 * Sends an answer piece by piece, no faster than the client takes it. `begin` sets status and headers, once the first
 * piece is there: what fails before is an error like any other, and what fails later breaks the connection off. When
 * the client goes, `pieces` is told to stop.
 */
export async function stream(ctx: HttpContext, pieces: AsyncIterable<string>, begin: () => void): Promise<void> {
  const { res } = ctx;
  let begun = false;
  const once = (): void => {
    if (begun) return;
    begun = true;
    begin();
    // From here on the answer is written past Koa, whose own way to send a stream ends a broken one as if it were
    // whole.
    ctx.respond = false;
    res.setTimeout(STALLED_MS, () => res.destroy());
  };
  if (ctx.method !== 'HEAD') {
    for await (const piece of pieces) {
      if (res.destroyed) return;
      once();
      if (!res.write(piece)) await drained(res);
    }
  }
  once();
  res.end();
}

/** Settles when more can be taken, and when nothing will be any more. */
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
