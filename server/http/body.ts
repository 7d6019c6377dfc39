import { invalid } from '../../data-plane-agent/base/failures.js';
import { parseJsonYielding, type BeyondText } from '../../data-plane-agent/base/json-yielding.js';
import type { Context } from 'koa';
import type { BodyLimits } from './body-limits.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { problem } from '../../data-plane-agent/base/http/problems.js';

/**
 * Reads the JSON of a request, or returns `undefined` if it has no body. Call it only after the caller was admitted, so
 * that no other client's bytes are read. Throws 413, 415 or 400.
 */
export async function readJson(ctx: HttpContext, limits: BodyLimits): Promise<unknown> {
  const { headers } = ctx.req;
  if (!announcesBody(ctx)) return undefined;
  if (!JSON_MEDIA.test(headers['content-type'] ?? '')) throw problem(415, 'The body must be application/json');
  const text = await readText(ctx, limits);
  return text === '' ? undefined : parse(text, limits);
}

/** Whether a body follows the headers, even an empty one. */
export const announcesBody = ({ req: { headers } }: HttpContext): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

const JSON_MEDIA = /^application\/json\s*(;\s*charset="?utf-?8"?\s*)?;?$/i;

/**
 * koa-body is loaded with the first body, because it brings more than two hundred modules, which would take a tenth of
 * the time of a start. It reads and decompresses (gzip, deflate, br), limiting the uncompressed bytes. It returns text,
 * because the nesting depth must be checked before parsing, and because its own parser reports `__proto__` without naming
 * the field.
 */
async function reader(textLimit: number) {
  const { koaBody, HttpMethodEnum } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    text: true,
    textTypes: ['application/json'],
    textLimit,
    parsedMethods: Object.values(HttpMethodEnum),
  });
}

/** One reader per limit; there are two limits. */
const readers = new Map<number, ReturnType<typeof reader>>();

function readerOf(bytes: number): ReturnType<typeof reader> {
  const known = readers.get(bytes);
  if (known) return known;
  const loading = reader(bytes);
  readers.set(bytes, loading);
  // Perhaps no file could be opened at this moment: the next body tries again.
  loading.catch(() => readers.delete(bytes));
  return loading;
}

async function readText(ctx: HttpContext, { bytes }: BodyLimits): Promise<string> {
  // A client that sent `Expect: 100-continue` is waiting for this.
  if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
  // RFC 9110, section 8.4.1: content codings are case-insensitive; koa-body compares them as sent.
  const { 'content-encoding': coding } = ctx.req.headers;
  if (coding !== undefined) ctx.req.headers['content-encoding'] = coding.toLowerCase();
  try {
    // The type requires Koa's default state, which koa-body does not use.
    const read = await readerOf(bytes);
    await read(ctx as unknown as Context, () => Promise.resolve());
  } catch (error) {
    // The request is still piped into the decompressor: detach it and discard the rest, so that the connection can be
    // reused.
    ctx.req.unpipe();
    ctx.req.resume();
    throw bodyProblem(error, bytes);
  }
  const { body } = ctx.request as { body?: unknown };
  return typeof body === 'string' ? body : '';
}

function bodyProblem(error: unknown, bytes: number): unknown {
  const { status, type, code } = error as { status?: unknown; type?: unknown; code?: unknown };
  if (type === 'request.aborted') return error;
  if (status === 413) return problem(413, `The body must be at most ${bytes} bytes, uncompressed`);
  if (status === 415) return problem(415, 'The body must be compressed with gzip, deflate or br, or uncompressed');
  if (type === 'request.size.invalid') return problem(400, 'The body is shorter than its Content-Length');
  if (typeof code === 'string' && /^(Z_|ERR_BROTLI|ERR__ERROR|ERR_PADDING|ERR_)/.test(code))
    return problem(400, 'The body cannot be decompressed');
  return error;
}

async function parse(text: string, limits: BodyLimits): Promise<unknown> {
  const parsed = await parseJsonYielding(text, limits).catch((error: unknown) => {
    // The parser's own message quotes the text, which may contain a password.
    throw error instanceof SyntaxError ? problem(400, 'The body is not valid JSON') : error;
  });
  if ('value' in parsed) return parsed.value;
  throw invalid({ path: parsed.beyond.field ?? '', problem: sentenceOf(parsed.beyond, limits) });
}

function sentenceOf({ limit }: BeyondText, limits: BodyLimits): string {
  switch (limit) {
    case 'key':
      return 'must not have a key of tens of thousands of characters';
    case 'filler':
      return 'must not have tens of thousands of spaces or digits in a row';
    default:
      return `must have at most ${limits[limit]} ${limit}`;
  }
}
