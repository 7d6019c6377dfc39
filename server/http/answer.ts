import { checker } from '../../data-plane-agent/base/validation.js';
import type { Endpoint } from './endpoint.js';
import type { HttpContext } from './exchange.js';
import { JSON_TYPE } from './problems.js';
import { isReply, type Reply } from './reply.js';

/** Compiles how the results of an endpoint are sent. */
export function answerer(endpoint: Endpoint, { https, checkAnswers }: { https: boolean; checkAnswers: boolean }): (ctx: HttpContext, result: unknown) => void {
  const usual = endpoint.status ?? 200;
  const check = checkAnswers ? answerCheck(endpoint) : undefined;
  return (ctx, result) => {
    const { body, status = usual, headers, cookie }: Omit<Reply<unknown>, symbol> = isReply(result) ? result : { body: result };
    ctx.status = status;
    if (headers) ctx.set({ ...headers });
    if (cookie) ctx.append('Set-Cookie', cookieText(cookie, { https }));
    if (status >= 300) {
      // A redirect has no body. Koa makes 204 of an answer without one, so the status is said again.
      ctx.body = null;
      ctx.status = status;
      return;
    }
    const text = JSON.stringify(body);
    check?.(text);
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = text;
  };
}

/** Checks what the client will read, not the object that it was made from. */
function answerCheck({ route, returns }: Endpoint): (text: string) => void {
  const check = checker(returns);
  return (text) => {
    const checked = check(JSON.parse(text));
    if (!checked.ok) throw new Error(`${route} answers what it does not declare: ${checked.issues.map(({ path, problem }) => `${path} ${problem}`).join('; ')}`);
  };
}

/**
 * Written by hand, because the cookie library refuses Secure on a connection that it sees as plain, which behind a proxy that
 * ends TLS it always does.
 */
function cookieText({ name, value, path, maxAgeMs, sameSite = 'Strict' }: NonNullable<Reply<unknown>['cookie']>, { https }: { https: boolean }): string {
  return `${name}=${encodeURIComponent(value)}; Path=${path}; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; SameSite=${sameSite}${https ? '; Secure' : ''}`;
}
