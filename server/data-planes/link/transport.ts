import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import { jsonBytes } from '../../../data-plane-agent/base/json-pieces.js';
import { beyond } from '../../../data-plane-agent/base/json-limits.js';
import { parseJsonYielding } from '../../../data-plane-agent/base/json-yielding.js';
import {
  signRequest,
  verifyReply,
  type RequestFacts,
  type VerifiedReply,
} from '../../../data-plane-agent/base/link/envelope.js';
import type { Signer } from '../../../data-plane-agent/base/link/keys.js';
import { LINK } from '../../../data-plane-agent/base/link/limits.js';
import { LinkLost, type LinkMessage } from '../../../data-plane-agent/base/link/session.js';
import {
  TOKEN_REFUSALS,
  TokenRefused,
  type KeyOf,
  type TokenRefusal,
} from '../../../data-plane-agent/base/link/tokens.js';
import { traceHeader } from '../../../data-plane-agent/base/trace.js';
import type { Call } from '../../../data-plane-agent/plane/contract/call.js';
import { TransportError, type Transport, type WireReply } from '../../../data-plane-agent/plane/contract/wire.js';
import { receivedAs } from '../../../data-plane-agent/plane/contract/received-json.js';
import type { KnownReplies } from './known-replies.js';

/** A way to an agent: a session of this process or of another replica, or the agent's endpoint. */
export interface AgentRoute {
  /** The version of the protocol that the agent and this process speak. */
  readonly protocol: number;
  readonly facts: RequestFacts;
  send(message: LinkMessage, options: { readonly signal: AbortSignal }): Promise<LinkMessage>;
}

export interface TransportParts {
  /** The keys that may sign, the active one first. */
  readonly signers: () => Promise<readonly Signer[]>;
  /** The agent's key of that id. */
  readonly keyOf: KeyOf;
  readonly clock: Clock;
  /** Called when the agent refuses a request, or a reply of it is refused. */
  readonly onRefused?: ((by: 'agent' | 'control_plane', reason: TokenRefusal) => void) | undefined;
  /** Called when a reply is accepted, with the time by the agent's clock, in epoch milliseconds of a full second. */
  readonly onReply?: ((signedAt: number) => void) | undefined;
  readonly known?: KnownReplies | undefined;
}

/** Signs each request, sends it on the route, and verifies the reply. */
export const transportOver =
  (route: AgentRoute, parts: TransportParts): Transport =>
  async (request, { signal }) => {
    const { facts, protocol } = route;
    const body = await jsonBytes({ ...request, protocol });
    if (body.length > LINK.bodyBytes)
      throw new TransportError('the request is too large for the link', { nothingRan: true });
    const attempt = async (signer: Signer): Promise<LinkMessage & { readonly jti: string }> => {
      const { token, jti } = signRequest(facts, {
        operation: request.name,
        subject: subjectOf(request.call),
        body,
        jti: newId(),
        signer,
        clock: parts.clock,
      });
      // The trace is not signed, unlike the rest: it is of no consequence but in logs and spans. Older agents ignore it.
      return { ...(await sent(route, { head: { op: request.name, token, ...traceHeader() }, body }, signal)), jti };
    };
    const [active, ...earlier] = await parts.signers();
    if (!active) throw new Error('there is no key to sign requests to agents');
    let reply = await attempt(active);
    // An agent that has not learned the newest key yet accepts an earlier one.
    const oldest = earlier.at(-1);
    if (oldest && refusalIn(reply) === 'unknown_key') reply = await attempt(oldest);
    const refused = refusalIn(reply);
    if (refused !== undefined) {
      parts.onRefused?.('agent', refused);
      // The first one may have run if the agent says that it received the request twice.
      throw new TransportError(`the agent refused the request: ${refused}`, { nothingRan: refused !== 'replayed' });
    }
    const { bodyHash } = await verified(reply, { jti: reply.jti, facts, parts });
    const name = { tenantId: facts.tenantId, operation: request.name, bodyHash };
    const found = parts.known?.find(name);
    if (found) return found;
    const read = await wireReply(reply.body);
    parts.known?.received(name, read.reply, reply.body.length);
    // What is kept has its JSON elsewhere: these bytes of all replies would take as much memory again.
    if (read.sent && !Object.isFrozen(read.sent.output)) receivedAs(read.sent.output, read.sent.json);
    return read.reply;
  };

/** Who caused the request: the member, or the part of the system. */
const subjectOf = ({ actor }: Call): string => actor.id ?? `${actor.kind}:${actor.name}`;

async function sent(route: AgentRoute, message: LinkMessage, signal: AbortSignal): Promise<LinkMessage> {
  try {
    return await route.send(message, { signal });
  } catch (error) {
    if (error instanceof LinkLost)
      throw new TransportError(error.message, {
        nothingRan: error.nothingRan,
        sessionEnded: error.sessionEnded,
        cause: error,
      });
    throw error;
  }
}

async function verified(
  { head, body }: LinkMessage,
  {
    jti,
    facts,
    parts: { keyOf, clock, onRefused, onReply },
  }: { readonly jti: string; readonly facts: RequestFacts; readonly parts: TransportParts },
): Promise<VerifiedReply> {
  try {
    const reply = await verifyReply({ token: textIn(head, 'token') ?? '', body, jti }, facts, { keyOf, clock });
    onReply?.(reply.signedAt);
    return reply;
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    onRefused?.('control_plane', error.reason);
    throw new TransportError(`the reply was refused: ${error.message}`, { nothingRan: false, cause: error });
  }
}

interface ReadReply {
  readonly reply: WireReply;
  /** An output that is an object, with its JSON, if it was sent as agents send it. */
  readonly sent?: { readonly output: object; readonly json: Uint8Array };
}

/** A signed reply is JSON of the agent that joined; the data plane's caller validates the output itself. */
async function wireReply(body: Uint8Array): Promise<ReadReply> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const answer = await usualAnswer(text, body);
  if (answer) return answer;
  const value = await valueOf(text);
  // How deep an output may be is a matter of its schema; the details of a failure have none.
  if (typeof value === 'object' && value !== null && 'ok' in value && (value.ok === true || !beyond(text, LIMITS)))
    return { reply: value as WireReply }; // signed by the agent, and its parts are checked where they are used
  throw new TransportError('the reply is not one of an operation', { nothingRan: false });
}

/** How agents write the answer of an operation, around its output. */
const BEFORE = '{"ok":true,"output":{';
const AFTER = [
  { end: '},"replayed":false}', replayed: false },
  { end: '},"replayed":true}', replayed: true },
] as const;

/** Parses the output by itself, so that its JSON can be passed on. Undefined for what is written otherwise. */
async function usualAnswer(text: string, body: Uint8Array): Promise<ReadReply | undefined> {
  const after = AFTER.find(({ end }) => text.endsWith(end));
  // In other bytes than UTF-8 the JSON is not what was parsed.
  if (!after || !text.startsWith(BEFORE) || !isUtf8(body)) return undefined;
  // With the braces of the output.
  const [from, to] = [BEFORE.length - 1, 1 - after.end.length] as const;
  const output = await valueOf(text.slice(from, to));
  if (typeof output !== 'object' || output === null) return undefined;
  const json = body.subarray(from, to);
  return { reply: { ok: true, output, replayed: after.replayed }, sent: { output, json } };
}

/** The value of a JSON text; undefined if it is none. */
async function valueOf(text: string): Promise<unknown> {
  try {
    return text.length > SHORT ? await longValue(text) : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function longValue(text: string): Promise<unknown> {
  const parsed = await parseJsonYielding(text, LIMITS);
  return 'value' in parsed ? parsed.value : undefined;
}

/** Characters that are parsed at once: within three milliseconds, whatever they are. */
const SHORT = 64 * 1024;

/** Far above every output: the size of the body is the actual limit. */
const LIMITS = { levels: 64, values: 50_000_000, keys: 10_000_000 } as const;

const REFUSALS: ReadonlySet<string> = new Set(TOKEN_REFUSALS);

function refusalIn({ head }: LinkMessage): TokenRefusal | undefined {
  const refused = head['refused'];
  if (refused === undefined) return undefined;
  return typeof refused === 'string' && REFUSALS.has(refused) ? (refused as TokenRefusal) : 'malformed';
}

/** A text of a message's head. */
export const textIn = (head: LinkMessage['head'], name: string): string | undefined => {
  const value = head[name];
  return typeof value === 'string' ? value : undefined;
};
