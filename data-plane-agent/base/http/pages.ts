import type { HttpContext, HttpMiddleware } from './exchange.js';
import { sha256Hex } from '../secrets.js';
import { fail } from '../failures.js';
import { JSON_TYPE, problem } from './problems.js';

/**
 * What is served beside the endpoints, under a path of its own: probes, metrics, keys, documents. It is read with GET.
 */
export interface Page {
  readonly path: string;
  answer(ctx: HttpContext): void | Promise<void>;
}

export function servePages(pages: readonly Page[]): HttpMiddleware {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return async (ctx, next) => {
    const page = byPath.get(ctx.path);
    if (!page) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw problem(405, undefined, { Allow: 'GET, HEAD' });
    ctx.state.exchange.route = page.path;
    await page.answer(ctx);
  };
}

/** After everything else: there is nothing at this path. */
export const nothingHere: HttpMiddleware = () => {
  throw fail('NOT_FOUND', {});
};

export function sendJson(ctx: HttpContext, body: object): void {
  ctx.status = 200;
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(body);
}

/** A document that does not change while the process lives, with an entity tag that a client may come back with. */
export function sendDocument(
  ctx: HttpContext,
  {
    type,
    etag,
    body,
    cacheControl = 'no-cache',
  }: { type: string; etag: string; body: string | Buffer; cacheControl?: string },
): void {
  ctx.status = 200;
  ctx.set({ 'Content-Type': type, ETag: etag, 'Cache-Control': cacheControl });
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}

/** Documents that are made once, under one content policy. */
export function documents(
  files: readonly { readonly path: string; readonly type: string; readonly body: string | Buffer }[],
  policy: string,
): readonly Page[] {
  return files.map(({ path, type, body }) => {
    const etag = `"${sha256Hex(body).slice(0, 32)}"`;
    return {
      path,
      answer: (ctx) => {
        ctx.set('Content-Security-Policy', policy);
        sendDocument(ctx, { type, etag, body });
      },
    };
  });
}

/** For text between tags and in attributes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
