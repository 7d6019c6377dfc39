import { answerChecker } from '../../data-plane-agent/base/answer-check.js';
import { jsonBytes } from '../../data-plane-agent/base/json-pieces.js';
import type { Endpoint } from './endpoint.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { JSON_TYPE } from '../../data-plane-agent/base/http/problems.js';
import { isReply, type FileText, type MediaType, type Reply } from './reply.js';
import { stream } from '../../data-plane-agent/base/http/stream.js';

/**
 * Compiles how the results of an endpoint are sent. `mayGoOn` throws where the rest of a file that is sent piece by
 * piece is not for the caller any more.
 */
export function answerer(
  endpoint: Endpoint,
  { https, checkAnswers }: { https: boolean; checkAnswers: boolean },
): (ctx: HttpContext, result: unknown, mayGoOn: MayGoOn) => Promise<void> {
  const usual = endpoint.status ?? 200;
  const { produces } = endpoint;
  if (produces)
    return (ctx, result, mayGoOn) =>
      sendFile(ctx, isReply(result) ? result : { body: result }, { status: usual, mediaType: produces, mayGoOn });
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
      // A redirect has no body. Koa makes 204 of an answer without one, so the status is said again.
      ctx.body = null;
      ctx.status = status;
      return;
    }
    const json = await jsonBytes(body);
    check?.(json.toString());
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = json;
  };
}

/** The first piece is there before the answer begins, so that what goes wrong until then is told as such. */
async function sendFile(
  ctx: HttpContext,
  { body, headers = {} }: Pick<Reply<unknown>, 'body' | 'headers'>,
  { status, mediaType, mayGoOn }: { readonly status: number; readonly mediaType: MediaType; readonly mayGoOn: MayGoOn },
): Promise<void> {
  const begin = (): void => {
    ctx.status = status;
    ctx.set({ ...headers, 'Content-Type': `${mediaType}; charset=utf-8` });
  };
  const file = body as FileText; // what the declaration says of an endpoint that produces a file
  if (typeof file !== 'string') return stream(ctx, whileAllowed(file, mayGoOn), begin);
  begin();
  ctx.body = file;
}

type MayGoOn = () => Promise<void>;

/** Asked for each piece, when it has come and before it goes out. */
async function* whileAllowed(pieces: AsyncIterable<string>, mayGoOn: MayGoOn): AsyncGenerator<string, void, void> {
  for await (const piece of pieces) {
    await mayGoOn();
    yield piece;
  }
}

/** Checks what the client will read, not the object that it was made from. */
function answerCheck({ route, returns }: Endpoint): (text: string) => void {
  const check = answerChecker(returns);
  return (text) => {
    const checked = check(JSON.parse(text));
    if (!checked.ok)
      throw new Error(
        `${route} answers what it does not declare: ${checked.issues.map(({ path, problem }) => `${path} ${problem}`).join('; ')}`,
      );
  };
}

/**
 * Written by hand, because the cookie library refuses Secure on a connection that it sees as plain, which behind a
 * proxy that ends TLS it always does.
 */
function cookieText(
  { name, value, path, maxAgeMs, sameSite = 'Strict' }: NonNullable<Reply<unknown>['cookie']>,
  { https }: { https: boolean },
): string {
  return `${name}=${encodeURIComponent(value)}; Path=${path}; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; SameSite=${sameSite}${https ? '; Secure' : ''}`;
}
