import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { isId, newId } from '../../../data-plane-agent/base/ids.js';
import { signRequest, verifyReply, type RequestFacts } from '../../../data-plane-agent/base/link/envelope.js';
import type { Signer } from '../../../data-plane-agent/base/link/keys.js';
import { LINK } from '../../../data-plane-agent/base/link/limits.js';
import { Hello, LINK_PATHS, type Welcome } from '../../../data-plane-agent/base/link/messages.js';
import { newerToo } from '../../../data-plane-agent/base/link/reading.js';
import { LinkLost, type LinkMessage } from '../../../data-plane-agent/base/link/session.js';
import { OutboundError, type Outbound, type OutboundAnswer } from '../../../data-plane-agent/base/outbound.js';
import type { AgentKey, LinkedConnection } from '../../store/linked-connections.js';
import { keyRecorder } from './agent-keys.js';
import { textIn } from './transport.js';

/** Agents that are called at their endpoint. */
export interface Direct {
  /** Posts an operation. Rejects with LinkLost. */
  send(
    connection: LinkedConnection,
    message: LinkMessage,
    options: { readonly signal: AbortSignal },
  ): Promise<LinkMessage>;
  /** Greets the agent, and returns what it says of itself and the key with which it signed. Rejects with LinkLost. */
  hello(
    connection: LinkedConnection,
    welcome: Omit<Welcome, 'sid'>,
  ): Promise<{ readonly hello: Hello; readonly key: AgentKey }>;
}

export interface DirectParts {
  readonly controlPlane: string;
  readonly clock: Clock;
  readonly signers: () => Promise<readonly Signer[]>;
  /** A client that keeps connections. */
  readonly outbound: Pick<Outbound, 'request'>;
}

/** The header of a response that carries the signature of the reply. */
export const REPLY_HEADER = 'Duebook-Reply';
/** The session in the tokens of a hello: the agent's process is not known yet. */
const NO_SESSION = '-';
const HELLO_MS = 10_000;
/** Operations end themselves by their deadline, which is shorter. */
const MOST_MS = 10 * 60_000;

export function createDirect({ controlPlane, clock, signers, outbound }: DirectParts): Direct {
  const post = async (
    { endpoint }: Pick<LinkedConnection, 'endpoint'>,
    {
      path,
      token,
      traceparent,
      body,
      signal,
      totalMs = MOST_MS,
    }: {
      readonly path: string;
      readonly token: string;
      readonly traceparent?: string | undefined;
      readonly body: Uint8Array;
      readonly signal?: AbortSignal | undefined;
      readonly totalMs?: number;
    },
  ): Promise<LinkMessage> => {
    const once = (): Promise<OutboundAnswer> =>
      outbound.request({
        url: `${(endpoint ?? '').replace(/\/+$/, '')}${path}`,
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          ...(traceparent !== undefined && { traceparent }),
        },
        body,
        maxBytes: LINK.bodyBytes,
        totalMs,
        ...(signal && { signal }),
      });
    try {
      return messageOf(await once().catch((error: unknown) => onceMore(error, once)));
    } catch (error) {
      if (error instanceof OutboundError)
        throw new LinkLost(`the agent does not respond: ${error.message}`, error.nothingSent, { cause: error });
      throw error;
    }
  };

  return {
    send: (connection, { head, body }, { signal }) =>
      post(connection, {
        path: LINK_PATHS.operations,
        token: textIn(head, 'token') ?? '',
        traceparent: textIn(head, 'traceparent'),
        body,
        signal,
      }),
    hello: async (connection, welcome) => {
      const facts: RequestFacts = {
        controlPlane,
        connectionId: connection.id,
        tenantId: connection.tenantId,
        session: NO_SESSION,
      };
      const body = Buffer.from(JSON.stringify({ ...welcome, sid: newId() }));
      // The oldest key, which the agent knows even if it has not heard of a newer one.
      const signer = (await signers()).at(-1);
      if (!signer) throw new Error('there is no key to sign requests to agents');
      const { token, jti } = signRequest(facts, {
        operation: 'hello',
        subject: 'system:links',
        body,
        jti: newId(),
        signer,
        clock,
      });
      const reply = await post(connection, { path: LINK_PATHS.hello, token, body, totalMs: HELLO_MS });
      const refused = textIn(reply.head, 'refused');
      if (refused !== undefined) throw new LinkLost(`the agent refused the request: ${refused}`, true);
      const keys = keyRecorder(connection, clock);
      await verifyReply({ token: textIn(reply.head, 'token') ?? '', body: reply.body, jti }, facts, {
        keyOf: keys.keyOf,
        clock,
      });
      const checked = newerToo(Hello)(JSON.parse(Buffer.from(reply.body).toString('utf8')));
      if (!checked.ok || !keys.used || !isId(checked.value.bootId))
        throw new LinkLost('the agent answered something else', true);
      return { hello: checked.value, key: keys.used };
    },
  };
}

/**
 * The agent may have closed a kept connection just before the request. It accepts a token once, so that the request is
 * refused if it was received the first time.
 */
const onceMore = (error: unknown, post: () => Promise<OutboundAnswer>): Promise<OutboundAnswer> =>
  error instanceof OutboundError && error.onKeptConnection && error.code === 'UNREACHABLE'
    ? post()
    : Promise.reject(error as Error);

function messageOf({ status, headers, body }: OutboundAnswer): LinkMessage {
  const token = headers.get(REPLY_HEADER);
  if (status === 200 && token !== null) return { head: { token }, body };
  if (status === 401) return { head: { refused: refusalIn(body) }, body: new Uint8Array(0) };
  // A proxy in front of the agent, or another program: what it did is unknown, unless it says that it did nothing.
  throw new LinkLost(`the agent's endpoint answered ${status}`, status === 404 || status === 503);
}

function refusalIn(body: Buffer): string {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    const refused = typeof value === 'object' && value !== null && 'refused' in value ? value.refused : undefined;
    return typeof refused === 'string' ? refused : 'malformed';
  } catch {
    return 'malformed'; // not JSON
  }
}
