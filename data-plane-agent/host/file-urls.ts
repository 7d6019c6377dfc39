import type { FileUrls } from '../plane/files/objects/file-system-urls.js';
import type { HttpMiddleware } from '../base/http/exchange.js';
import { allowLonger } from '../base/http/listen.js';
import { problem } from '../base/http/problems.js';

/**
 * Serves signed URLs of files that this process stores. They are outside the API: the signature is the authorization.
 */
export const serveFileUrls =
  (urls: FileUrls): HttpMiddleware =>
  async (ctx, next) => {
    if (!ctx.path.startsWith(urls.path)) return next();
    ctx.state.exchange.route = `${urls.path}:key`;
    const refusal = await urls.serve(ctx.req, ctx.res, { onUpload: (ms) => allowLonger(ctx.req, ms) });
    if (refusal) throw problem(refusal.status, refusal.message, refusal.headers);
    // The response was written directly, not through Koa.
    ctx.respond = false;
  };
