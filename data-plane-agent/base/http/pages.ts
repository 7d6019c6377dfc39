import type { HttpContext, HttpMiddleware } from './exchange.js';
import { onFirstUse } from '../on-first-use.js';
import { sha256Hex } from '../secrets.js';
import { fail } from '../failures.js';
import { JSON_TYPE, problem } from './problems.js';

/** A resource served with GET at a fixed path, apart from the API endpoints: probes, metrics, keys, documents. */
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

/** The last middleware: 404 for unknown paths. */
export const notFound: HttpMiddleware = () => {
  throw fail('NOT_FOUND', {});
};

export function sendJson(ctx: HttpContext, body: object): void {
  ctx.status = 200;
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(body);
}

/** Sends a document that does not change during the process's lifetime, with an entity tag for conditional requests. */
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

/** An entity tag that is the same for the same bytes: 128 bits of their digest. */
export const digestTag = (body: string | Buffer): string => `"${sha256Hex(body).slice(0, 32)}"`;

/** A static document. A function makes the body at the first request, so that a start does not wait for it. */
export interface StaticDocument {
  readonly path: string;
  readonly type: string;
  readonly body: string | Buffer | (() => string | Buffer);
}

/** Static documents, all with one content security policy. */
export function documents(files: readonly StaticDocument[], policy: string): readonly Page[] {
  return files.map(({ path, type, body: given }) => {
    const made = onFirstUse(() => {
      const body = typeof given === 'function' ? given() : given;
      return { body, etag: digestTag(body) };
    });
    return {
      path,
      answer: (ctx) => {
        ctx.set('Content-Security-Policy', policy);
        sendDocument(ctx, { type, ...made() });
      },
    };
  });
}

/** Escapes text for HTML content and attributes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
