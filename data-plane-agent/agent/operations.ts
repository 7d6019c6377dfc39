import type { Clock } from '../base/clock.js';
import { fail, type Failure } from '../base/failures.js';
import { isId } from '../base/ids.js';
import { jsonBytes } from '../base/json-pieces.js';
import { parseJsonYielding } from '../base/json-yielding.js';
import { signReply, verifyRequest, type RequestFacts } from '../base/link/envelope.js';
import type { LinkMessage } from '../base/link/session.js';
import { createSeenTokens, TokenRefused, type TokenRefusal } from '../base/link/tokens.js';
import type { Log } from '../base/log.js';
import { currentTrace, traceOf } from '../base/trace.js';
import { inFirstSpan, type Span, type Tracer } from '../base/tracing/spans.js';
import type { DataPlane } from '../plane/contract/data-plane.js';
import { isFor, replied } from '../plane/contract/operation-span.js';
import { outcomeOf, type WireReply, type WireRequest } from '../plane/contract/wire.js';
import { OPERATION_NAMES, type Operations } from '../plane/operations/index.js';
import { serve } from '../plane/serve.js';
import type { LinkIdentity } from './link/identity.js';
import type { LoggedOperation, OperationLog } from './operation-log.js';
import type { Policy } from './policy.js';

/** What an agent does with an operation that it was asked for. Both transports use it. */
export type Answering = (message: LinkMessage, asked: Asked) => Promise<LinkMessage>;

export interface Asked {
  /** The caller no longer waits, or the connection is lost. */
  readonly signal: AbortSignal;
  /** The session of the connection; for an agent that is called directly, the id of its process. */
  readonly session: string;
}

export interface AnsweringParts {
  readonly identity: LinkIdentity;
  readonly plane: DataPlane<Operations>;
  /** Asked for each operation, since it can be reloaded. */
  readonly policy: () => Policy;
  readonly operationLog: Pick<OperationLog, 'add' | 'isFull'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Each request is a span, below the one that the control plane names. */
  readonly tracer?: Tracer | undefined;
  /** For the metrics: each operation with its outcome, and each request that was not accepted. */
  readonly onAnswered?: ((operation: string, outcome: string) => void) | undefined;
  readonly onRefused?: ((reason: TokenRefusal) => void) | undefined;
}

/**
 * Verifies a request, asks the policy, runs the operation, logs it and signs the reply. A request that is not accepted
 * gets a reply that is not signed, with the reason in its head: nothing was read or run.
 */
export function createAnswering({
  identity,
  plane,
  policy,
  operationLog,
  clock,
  log,
  tracer,
  onAnswered = () => undefined,
  onRefused = () => undefined,
}: AnsweringParts): Answering {
  const { controlPlane, connectionId, tenantId } = identity;
  const seen = createSeenTokens({ clock });
  const refusals = createRefusalLimit(clock);
  const run = serve(plane, OPERATION_NAMES, (error) => log.error({ err: error }, 'unexpected error in an operation'));

  const replyTo = async (request: WireRequest, signal: AbortSignal): Promise<WireReply> => {
    if (policy().refuses(request.name)) return refusedBy(fail('DATA_PLANE_DENIED', { operation: request.name }));
    if (operationLog.isFull) return refusedBy(fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 30 }));
    return run(request, { signal });
  };

  const answer = async ({ head, body }: LinkMessage, { signal, session }: Asked, span: Span | undefined) => {
    const began = performance.now();
    const trace = currentTrace();
    const facts: RequestFacts = { controlPlane, connectionId, tenantId, session };
    const entry = (about: Partial<LoggedOperation> & { readonly outcome: string }): void =>
      operationLog.add({
        operation: null,
        actorKind: null,
        actorId: null,
        requestId: null,
        ...(trace && { traceId: trace.traceId }),
        ms: Math.round((performance.now() - began) * 10) / 10,
        bytesIn: body.byteLength,
        bytesOut: 0,
        ...about,
      });
    try {
      const claims = await verifyRequest({ token: tokenOf(head), body }, facts, {
        keyOf: identity.accepts,
        clock,
        seen,
      });
      const request = await requestOf(body, { operation: claims.op, tenantId });
      const { actor } = request.call;
      const requestId = short(request.call.requestId);
      isFor(span, {
        name: KNOWN.has(request.name) ? request.name : UNKNOWN,
        call: { tenantId, requestId: requestId ?? '' },
      });
      const reply = await replyTo(request, signal);
      const bytes = await bytesOf(reply);
      const outcome = outcomeOf(reply);
      replied(span, reply);
      entry({
        operation: request.name,
        actorKind: short(actor.kind),
        actorId: short(actor.id),
        requestId,
        ids: idsIn(request.input),
        outcome,
        bytesOut: bytes.byteLength,
      });
      onAnswered(request.name, outcome);
      const token = signReply(facts, { jti: claims.jti, body: bytes, signer: identity.signer(), clock });
      return { head: { token }, body: bytes };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      const { reason, message } = error;
      onRefused(reason);
      span?.add({ 'duebook.outcome': `refused:${reason}` });
      if (refusals.mayLog()) {
        log.warn({ reason, session }, `a request was not accepted: ${message}`);
        entry({ outcome: `refused:${reason}` });
      }
      return { head: { refused: reason }, body: new Uint8Array() };
    }
  };
  return (message, asked) =>
    inFirstSpan(tracer, { name: UNKNOWN, kind: 'server', parent: traceOf(message.head['traceparent']) }, (span) =>
      answer(message, asked, span),
    );
}

/** The name of the span of a request that is none of an operation. */
const UNKNOWN = 'operation';
const KNOWN: ReadonlySet<string> = new Set(OPERATION_NAMES);

/** Of an operation; its body is at most 64 MB. */
const LIMITS = { levels: 64, values: 10_000_000, keys: 1_000_000 } as const;

const tokenOf = ({ token }: LinkMessage['head']): string => {
  if (typeof token !== 'string') throw new TokenRefused('malformed', 'the request has no token');
  return token;
};

/** The body agrees with the token, whose signature was verified. `serve` validates the rest. */
async function requestOf(
  body: Uint8Array,
  { operation, tenantId }: { readonly operation: string; readonly tenantId: string },
): Promise<WireRequest> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const parsed = await parseJsonYielding(text, LIMITS).catch((error: unknown) => {
    if (error instanceof SyntaxError) return { beyond: true };
    throw error;
  });
  const request: unknown = 'value' in parsed ? parsed.value : undefined;
  if (!isRequest(request)) throw new TokenRefused('malformed', 'the body is no request');
  if (request.name !== operation) throw new TokenRefused('claims', 'the body is for another operation');
  if (request.call.tenantId !== tenantId) throw new TokenRefused('tenant', 'the body is for another organisation');
  return request;
}

function isRequest(value: unknown): value is WireRequest {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('call' in value)) return false;
  const { name, call } = value;
  return (
    typeof name === 'string' &&
    typeof call === 'object' &&
    call !== null &&
    'tenantId' in call &&
    'actor' in call &&
    typeof call.actor === 'object' &&
    call.actor !== null
  );
}

/** The JSON of a reply, made once of an output that is returned again and again: it is frozen then. */
async function bytesOf(reply: WireReply): Promise<Buffer> {
  if (
    !reply.ok ||
    reply.replayed ||
    typeof reply.output !== 'object' ||
    reply.output === null ||
    !Object.isFrozen(reply.output)
  )
    return jsonBytes(reply);
  const known = made.get(reply.output);
  if (known) return known;
  const bytes = await jsonBytes(reply);
  made.set(reply.output, bytes);
  return bytes;
}

const made = new WeakMap<object, Buffer>();

const refusedBy = ({ code, details }: Failure): WireReply => ({ ok: false, code, details, replayed: false });

/** The call is logged also if it is invalid. */
const short = (value: unknown): string | null => (typeof value === 'string' && value.length <= 128 ? value : null);

const MOST_IDS = 10;

/** The ids of records that the caller named, by field: no text that a member wrote. */
function idsIn(input: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const found = Object.entries(input).filter(
    (field): field is [string, string] =>
      /^([a-z]{1,30}I|i)d$/.test(field[0]) && typeof field[1] === 'string' && isId(field[1]),
  );
  return found.length === 0 ? undefined : Object.fromEntries(found.slice(0, MOST_IDS));
}

const REFUSALS_PER_MINUTE = 60;

/** Refused requests may come from anyone who reaches the agent: at most so many are logged, and all are counted. */
function createRefusalLimit(clock: Clock): { mayLog(): boolean } {
  let minute = 0;
  let count = 0;
  return {
    mayLog: () => {
      const now = Math.floor(clock.now() / 60_000);
      if (now !== minute) count = 0;
      minute = now;
      return (count += 1) <= REFUSALS_PER_MINUTE;
    },
  };
}
