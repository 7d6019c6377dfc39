import { fail, invalid } from '../../../data-plane-agent/base/failures.js';
import type { HttpContext, HttpMiddleware } from '../../../data-plane-agent/base/http/exchange.js';
import { sendJson } from '../../../data-plane-agent/base/http/pages.js';
import { problem } from '../../../data-plane-agent/base/http/problems.js';
import {
  ChallengeRequest,
  JoinRequest,
  LINK_PATHS,
  RotateRequest,
} from '../../../data-plane-agent/base/link/messages.js';
import { newerToo } from '../../../data-plane-agent/base/link/reading.js';
import type { Static, TSchema } from '../../../data-plane-agent/base/schema.js';
import type { Joining } from './join.js';

export interface JoiningRoutesOptions {
  readonly joining: Joining;
  /** Reads the JSON of a request; throws 413, 415 or 400. */
  readonly readJson: (ctx: HttpContext) => Promise<unknown>;
  /** Counts a request of an address; throws RATE_LIMITED. */
  readonly limit: ((ctx: HttpContext) => Promise<void>) | undefined;
}

/** The paths with which agents join and replace their keys: JSON, and no endpoints of the API. */
export function joiningRoutes({ joining, readJson, limit }: JoiningRoutesOptions): HttpMiddleware {
  const bodyOf = async <T extends TSchema>(ctx: HttpContext, schema: T): Promise<Static<T>> => {
    const checked = newerToo(schema)(await readJson(ctx));
    if (!checked.ok) throw invalid(...checked.issues);
    return checked.value;
  };

  const answers: Readonly<Record<string, (ctx: HttpContext) => Promise<object>>> = {
    [LINK_PATHS.challenge]: async (ctx) => joining.challenge(await bodyOf(ctx, ChallengeRequest)),
    [LINK_PATHS.join]: async (ctx) => joining.join(await bodyOf(ctx, JoinRequest), ctx.state.exchange.info),
    [LINK_PATHS.rotate]: async (ctx) => {
      const authorization = /^Bearer ([\w.~+/=-]+)$/i.exec(ctx.get('Authorization'))?.[1];
      const body = await bodyOf(ctx, RotateRequest);
      if (authorization === undefined)
        throw fail('LINK_TOKEN_REFUSED', { reason: 'the Authorization header has no bearer token' });
      return joining.rotate({ ...body, authorization }, ctx.state.exchange.info);
    },
  };

  return async (ctx, next) => {
    const answer = Object.hasOwn(answers, ctx.path) ? answers[ctx.path] : undefined;
    if (!answer) return next();
    ctx.state.exchange.route = ctx.path;
    if (ctx.method !== 'POST') throw problem(405, undefined, { Allow: 'POST' });
    // Agents send none. A page of another site has no business here, whatever CORS_ORIGINS allows.
    if (ctx.get('Origin') !== '') throw problem(403, 'Only agents call this path, and no pages');
    await limit?.(ctx);
    sendJson(ctx, await answer(ctx));
  };
}
