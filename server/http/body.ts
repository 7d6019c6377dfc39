import { koaBody, HttpMethodEnum } from 'koa-body';
import { invalid } from '../../data-plane-agent/base/failures.js';
import { beyond, type JsonLimits } from '../../data-plane-agent/base/json-limits.js';
import type { Context } from 'koa';
import type { HttpContext } from './exchange.js';
import { problem } from './problems.js';

/** On what the body is when it is unpacked. */
export const BODY_BYTES = 16 * 1024 * 1024;
const LIMITS: JsonLimits = { levels: 32, values: 1_000_000 };

/**
 * Reads the JSON of a request, or `undefined` when it has no body. To be called when the caller has been let in: nobody
 * else's bytes are read. Throws 413, 415 or 400.
 */
export async function readJson(ctx: HttpContext): Promise<unknown> {
  const { headers } = ctx.req;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return undefined;
  if (!JSON_MEDIA.test(headers['content-type'] ?? '')) throw problem(415, 'The body must be application/json');
  const text = await readText(ctx);
  return text === '' ? undefined : parse(text);
}

const JSON_MEDIA = /^application\/json\s*(;\s*charset="?utf-?8"?\s*)?;?$/i;

/**
 * koa-body reads and unpacks (gzip, deflate, br) under a limit on the unpacked bytes. It is asked for text, because what is
 * too deep must be refused before it is parsed, and because its own parser answers `__proto__` without naming it.
 */
const readPart = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: ['application/json'],
  textLimit: BODY_BYTES,
  parsedMethods: Object.values(HttpMethodEnum),
});

async function readText(ctx: HttpContext): Promise<string> {
  // A client that asked first (`Expect: 100-continue`) has waited until here.
  if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
  try {
    // Its type asks for Koa's default state, of which it uses nothing.
    await readPart(ctx as unknown as Context, () => Promise.resolve());
  } catch (error) {
    // Half an unpacked body hangs on the request: let the rest run off unread, so that the connection can be used again.
    ctx.req.unpipe();
    ctx.req.resume();
    throw bodyProblem(error);
  }
  const { body } = ctx.request as { body?: unknown };
  return typeof body === 'string' ? body : '';
}

function bodyProblem(error: unknown): unknown {
  const { status, type, code } = error as { status?: unknown; type?: unknown; code?: unknown };
  if (type === 'request.aborted') return error;
  if (status === 413) return problem(413, `The body must be at most ${BODY_BYTES} bytes, unpacked`);
  if (status === 415) return problem(415, 'The body must be packed with gzip, deflate or br, or not at all');
  if (type === 'request.size.invalid') return problem(400, 'The body is shorter than its Content-Length');
  if (typeof code === 'string' && /^(Z_|ERR_BROTLI|ERR__ERROR|ERR_PADDING|ERR_)/.test(code)) return problem(400, 'The body cannot be unpacked');
  return error;
}

function parse(text: string): unknown {
  const found = beyond(text, LIMITS);
  if (found) {
    const limit = found.limit === 'levels' ? `must have at most ${LIMITS.levels} levels` : `must have at most ${LIMITS.values} values`;
    throw invalid({ path: found.field ?? '', problem: limit });
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a password.
    throw problem(400, 'The body is not valid JSON');
  }
}
