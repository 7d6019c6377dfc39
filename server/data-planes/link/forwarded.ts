import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import type { HttpContext, HttpMiddleware } from '../../../data-plane-agent/base/http/exchange.js';
import { problem } from '../../../data-plane-agent/base/http/problems.js';
import { LINK_PATHS } from '../../../data-plane-agent/base/link/messages.js';
import { LinkLost, type LinkMessage } from '../../../data-plane-agent/base/link/session.js';
import { createSeenTokens, TokenRefused, verifyToken, type KeyOf } from '../../../data-plane-agent/base/link/tokens.js';
import { traceHeader } from '../../../data-plane-agent/base/trace.js';
import { MOST_FORWARDED, packed, unpacked } from './forward-body.js';
import { sendOn, type LocalSessions } from './local-sessions.js';
import { hashOf } from './peers.js';

export interface ForwardedParts {
  readonly controlPlane: string;
  readonly holder: string;
  readonly clock: Clock;
  /** The control plane's own key of that id. */
  readonly keyOf: KeyOf;
  readonly sessions: Pick<LocalSessions, 'bySid'>;
}

/**
 * The path on which other replicas send requests for a session that this process holds. It is never forwarded again, so
 * requests cannot go in circles.
 */
export function forwardedRequests({ controlPlane, holder, clock, keyOf, sessions }: ForwardedParts): HttpMiddleware {
  const seen = createSeenTokens({ clock });

  const verify = async (ctx: HttpContext): Promise<{ readonly bh: unknown }> => {
    const token = /^Bearer +(\S+)$/i.exec(ctx.req.headers.authorization ?? '')?.[1] ?? '';
    try {
      const { bh } = await verifyToken(
        token,
        { type: 'forward', issuer: controlPlane, audience: holder },
        { keyOf, clock, seen, required: ['bh'] },
      );
      return { bh };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      if (error.reason === 'replayed') throw problem(409, 'The request was received before');
      throw fail('LINK_TOKEN_REFUSED', { reason: error.reason }, { cause: error });
    }
  };

  const perform = async ({ head, body }: LinkMessage, signal: AbortSignal): Promise<LinkMessage> => {
    const { kind, sid, head: inner, timeoutMs } = head;
    const local = typeof sid === 'string' ? sessions.bySid(sid) : undefined;
    if (kind === 'ping') {
      const alive =
        local?.session.state === 'open' && (await local.session.ping(Math.min(Number(timeoutMs), MOST_PING_MS)));
      return { head: { alive }, body: NOTHING };
    }
    if (!local) return lost(new LinkLost('the session of the agent has ended', true, { sessionEnded: true }));
    try {
      const reply = await sendOn(
        local,
        // The span of this request comes between that of the other replica and the agent's.
        { head: { ...(typeof inner === 'object' && inner), ...traceHeader() }, body },
        { signal },
      );
      return { head: { head: reply.head }, body: reply.body };
    } catch (error) {
      if (error instanceof LinkLost) return lost(error);
      throw error;
    }
  };

  return async (ctx, next) => {
    if (ctx.path !== LINK_PATHS.forward) return next();
    ctx.state.exchange.route = LINK_PATHS.forward;
    if (ctx.method !== 'POST') throw problem(405, undefined, { Allow: 'POST' });
    const { bh } = await verify(ctx);
    const received = await bodyOf(ctx);
    if (hashOf(received) !== bh) throw fail('LINK_TOKEN_REFUSED', { reason: 'body' });
    const message = unpacked(received);
    if (!message) throw problem(400);
    const gone = new AbortController();
    ctx.res.once('close', () => {
      if (!ctx.res.writableFinished) gone.abort();
    });
    ctx.body = packed(await perform(message, gone.signal));
    ctx.type = 'application/octet-stream';
  };
}

const NOTHING = new Uint8Array(0);

const lost = ({ message, nothingRan, sessionEnded }: LinkLost): LinkMessage => ({
  head: { lost: message, nothingRan, sessionEnded },
  body: NOTHING,
});

const MOST_PING_MS = 10_000;

async function bodyOf(ctx: HttpContext): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of ctx.req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MOST_FORWARDED) throw problem(413);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
