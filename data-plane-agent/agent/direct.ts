import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.js';
import type { HttpContext, HttpMiddleware } from '../base/http/exchange.js';
import { JSON_TYPE, problem } from '../base/http/problems.js';
import { signReply, verifyRequest, type RequestFacts } from '../base/link/envelope.js';
import { LINK } from '../base/link/limits.js';
import { LINK_PATHS, Welcome, type Hello } from '../base/link/messages.js';
import { newerToo } from '../base/link/reading.js';
import {
  createSeenTokens,
  TokenRefused,
  verifyToken,
  type TokenRefusal,
  type VerifiedToken,
} from '../base/link/tokens.js';
import type { ControlPlaneNews } from './control-plane-news.js';
import type { LinkIdentity } from './link/identity.js';
import type { Answering } from './operations.js';

export interface DirectParts {
  readonly identity: LinkIdentity;
  readonly answer: Answering;
  readonly hello: () => Promise<Hello>;
  readonly news: ControlPlaneNews;
  readonly bootId: string;
  readonly clock: Clock;
  readonly onRefused: (reason: TokenRefusal) => void;
}

/** The session that a hello names: it comes before there is one. */
const NO_SESSION = '-';
/** The response's header with the signed token of the reply. */
export const REPLY_HEADER = 'Duebook-Reply';
/** Bodies up to this size are read before their token is verified. */
const SMALL = 64 * 1024;

/** The routes of an agent that the control plane calls: the same signed messages as over a session. */
export function directRoutes(parts: DirectParts): HttpMiddleware {
  const { answer, bootId, clock, onRefused } = parts;
  const hello = createHello(parts);
  let running = 0;

  const operations = async (ctx: HttpContext): Promise<void> => {
    const { token, body } = await received(ctx, parts);
    const disconnected = new AbortController();
    ctx.res.once('close', () => {
      if (!ctx.res.writableFinished) disconnected.abort();
    });
    const { trace } = ctx.state.exchange.info;
    const head = { token, ...(trace && { traceparent: trace.traceparent }) };
    const reply = await answer({ head, body }, { signal: disconnected.signal, session: bootId });
    const { token: signed, refused } = reply.head;
    if (typeof signed === 'string') send(ctx, signed, reply.body);
    else refuse(ctx, { refused: String(refused), clock });
  };
  const handlers: Readonly<Record<string, (ctx: HttpContext) => Promise<void>>> = {
    [LINK_PATHS.operations]: operations,
    [LINK_PATHS.hello]: hello,
  };
  return async (ctx, next) => {
    const handle = handlers[ctx.path];
    if (!handle) return next();
    ctx.state.exchange.route = ctx.path;
    if (ctx.method !== 'POST') throw problem(405, undefined, { Allow: 'POST' });
    if (running >= LINK.inFlight + LINK.waiting) throw problem(503, undefined, { 'Retry-After': '1' });
    running += 1;
    try {
      await handle(ctx);
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      onRefused(error.reason);
      refuse(ctx, { refused: error.reason, clock });
    } finally {
      running -= 1;
    }
  };
}

/** Takes the control plane's keys and settings, and answers with the state of this agent. */
function createHello({ identity, hello, news, clock }: DirectParts): (ctx: HttpContext) => Promise<void> {
  const seen = createSeenTokens({ clock });
  const bootedAt = clock.now();
  return async (ctx) => {
    const { token, body } = await received(ctx, { identity, clock });
    const facts: RequestFacts = { ...identity, session: NO_SESSION };
    const claims = await verifyRequest({ token, body }, facts, { keyOf: identity.accepts, clock, seen });
    if (claims.op !== 'hello') throw new TokenRefused('claims', 'the token is for an operation');
    // One from before the start may have been used before it. `iat` is in whole seconds.
    if ((claims.iat + 1) * 1_000 <= bootedAt)
      throw new TokenRefused('replayed', 'the token is older than this process');
    const welcome = newerToo(Welcome)(parsed(body));
    if (!welcome.ok) throw problem(400, 'The body is no welcome');
    await news.welcome(welcome.value);
    const bytes = Buffer.from(JSON.stringify(await hello()));
    send(ctx, signReply(facts, { jti: claims.jti, body: bytes, signer: identity.signer(), clock }), bytes);
  };
}

function send(ctx: HttpContext, token: string, body: Uint8Array): void {
  ctx.status = 200;
  ctx.set({ [REPLY_HEADER]: token, 'Content-Type': JSON_TYPE });
  ctx.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function refuse(ctx: HttpContext, { refused, clock }: { readonly refused: string; readonly clock: Clock }): void {
  ctx.status = 401;
  ctx.set({ 'Content-Type': JSON_TYPE, 'WWW-Authenticate': 'Bearer' });
  ctx.body = JSON.stringify({ refused, serverTime: clock.now() });
}

/** The token and the body. The token of a large body is verified first, so that nobody else can fill the memory. */
async function received(
  { req }: HttpContext,
  { identity, clock }: Pick<DirectParts, 'identity' | 'clock'>,
): Promise<{ readonly token: string; readonly body: Uint8Array }> {
  const token = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (token === undefined) throw new TokenRefused('malformed', 'the request has no token');
  const length = Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (length > LINK.bodyBytes && Number.isFinite(length)) throw problem(413);
  if (length > SMALL) await verifySender(token, { identity, clock });
  return { token, body: await read(req, LINK.bodyBytes) };
}

const verifySender = (
  token: string,
  { identity, clock }: Pick<DirectParts, 'identity' | 'clock'>,
): Promise<VerifiedToken> =>
  verifyToken(
    token,
    { type: 'request', issuer: identity.controlPlane, audience: identity.connectionId },
    { keyOf: identity.accepts, clock },
  );

async function read(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw problem(413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undefined if it is not JSON, which no schema accepts. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
