import { answerChecker } from '../../data-plane-agent/base/answer-check.js';
import { jsonBytes } from '../../data-plane-agent/base/json-pieces.js';
import { isKnown } from './conditions.js';
import type { Endpoint } from './endpoint.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { JSON_TYPE } from '../../data-plane-agent/base/http/problems.js';
import { isReply, JsonBody, type FileText, type MediaType, type Reply } from './reply.js';
import { stream } from '../../data-plane-agent/base/http/stream.js';

/**
 * Compiles how the results of an endpoint are sent. `checkAccess` is called for each piece of a streamed file, and
 * throws if the caller may no longer receive it.
 */
export function answerer(
  endpoint: Endpoint,
  { https, checkAnswers }: { https: boolean; checkAnswers: boolean },
): (ctx: HttpContext, result: unknown, checkAccess: CheckAccess) => Promise<void> {
  const usual = endpoint.status ?? 200;
  const { produces, conditional } = endpoint;
  if (produces)
    return (ctx, result, checkAccess) =>
      sendFile(ctx, isReply(result) ? result : { body: result }, { status: usual, mediaType: produces, checkAccess });
  const check = checkAnswers ? answerCheck(endpoint) : undefined;
  return async (ctx, result) => {
    const {
      body,
      status = usual,
      headers,
      cookie,
    }: Omit<Reply<unknown>, symbol> = isReply(result) ? result : { body: result };
    ctx.status = status;
    if (headers) ctx.set({ ...headers });
    if (cookie) ctx.append('Set-Cookie', cookieText(cookie, { https }));
    if (status >= 300) {
      // A redirect has no body. Koa sets the status to 204 if the body is null, so the status is set again.
      ctx.body = null;
      ctx.status = status;
      return;
    }
    const json = body instanceof JsonBody ? body : new JsonBody(await jsonBytes(body));
    check?.(json.bytes.toString());
    if (conditional) {
      ctx.set('ETag', json.tag);
      if (isKnown(ctx.headers['if-none-match'], json.tag)) return void (ctx.status = 304);
    }
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = json.bytes;
  };
}

/** Waits for the first piece before the answer starts, so that an earlier failure is returned as an error response. */
async function sendFile(
  ctx: HttpContext,
  { body, headers = {} }: Pick<Reply<unknown>, 'body' | 'headers'>,
  {
    status,
    mediaType,
    checkAccess,
  }: { readonly status: number; readonly mediaType: MediaType; readonly checkAccess: CheckAccess },
): Promise<void> {
  const begin = (): void => {
    ctx.status = status;
    ctx.set({ ...headers, 'Content-Type': `${mediaType}; charset=utf-8` });
  };
  const file = body as FileText; // the declared type of an endpoint that produces a file
  if (typeof file !== 'string') return stream(ctx, whileAllowed(file, checkAccess), begin);
  begin();
  ctx.body = file;
}

type CheckAccess = () => Promise<void>;

/** Calls `checkAccess` for each piece, after it was read and before it is sent. */
async function* whileAllowed(
  pieces: AsyncIterable<string>,
  checkAccess: CheckAccess,
): AsyncGenerator<string, void, void> {
  for await (const piece of pieces) {
    await checkAccess();
    yield piece;
  }
}

/** Checks the JSON text that the client will read, not the object that it was made from. */
function answerCheck({ route, returns }: Endpoint): (text: string) => void {
  const check = answerChecker(returns);
  return (text) => {
    const checked = check(JSON.parse(text));
    if (!checked.ok)
      throw new Error(
        `${route} returned a body that does not match its declaration: ${checked.issues.map(({ path, problem }) => `${path} ${problem}`).join('; ')}`,
      );
  };
}

/**
 * Formatted here, because the cookie library refuses `Secure` on a plain connection, which is always the case behind a
 * proxy that terminates TLS.
 */
function cookieText(
  { name, value, path, maxAgeMs, sameSite = 'Strict' }: NonNullable<Reply<unknown>['cookie']>,
  { https }: { https: boolean },
): string {
  return `${name}=${encodeURIComponent(value)}; Path=${path}; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; SameSite=${sameSite}${https ? '; Secure' : ''}`;
}
