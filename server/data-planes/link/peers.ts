import { createHash } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { LINK_PATHS } from '../../../data-plane-agent/base/link/messages.js';
import type { Signer } from '../../../data-plane-agent/base/link/keys.js';
import { LinkLost, type LinkMessage } from '../../../data-plane-agent/base/link/session.js';
import { signToken } from '../../../data-plane-agent/base/link/tokens.js';
import { traceHeader } from '../../../data-plane-agent/base/trace.js';
import type { LinkSessionRecord } from '../../store/link-sessions.js';
import { MOST_FORWARDED, packed, unpacked } from './forward-body.js';

type Held = Pick<LinkSessionRecord, 'sid' | 'holder' | 'peerUrl'>;

/** Sessions that other replicas hold, over a signed HTTP call. */
export interface Peers {
  /** Sends a request on the session. Rejects with LinkLost. */
  send(held: Held, message: LinkMessage, options: { readonly signal: AbortSignal }): Promise<LinkMessage>;
  /** Whether the agent of the session answers within the time. */
  ping(held: Held, timeoutMs: number): Promise<boolean>;
  close(): void;
}

export interface PeersParts {
  readonly controlPlane: string;
  readonly clock: Clock;
  readonly signer: () => Promise<Signer>;
}

/** Idle connections are closed before the other side closes them, after 65 seconds. */
const IDLE_MS = 30_000;
const AGENT = { keepAlive: true, keepAliveMsecs: 10_000, maxFreeSockets: 64, timeout: IDLE_MS } as const;

export function createPeers({ controlPlane, clock, signer }: PeersParts): Peers {
  const agents = { http: new HttpAgent(AGENT), https: new HttpsAgent({ ...AGENT, minVersion: 'TLSv1.2' }) };

  const call = async (held: Held, message: LinkMessage, signal: AbortSignal): Promise<LinkMessage> => {
    const body = packed(message);
    const token = signToken(
      { type: 'forward', issuer: controlPlane, audience: held.holder },
      { claims: { bh: hashOf(body) }, signer: await signer(), clock },
    );
    const url = new URL(LINK_PATHS.forward, held.peerUrl);
    const post = (): Promise<LinkMessage> => exchange(url, { token, body, signal, agents });
    try {
      return await post();
    } catch (error) {
      // The other side closed an idle connection. It refuses the token if it did receive the request.
      if (error instanceof StaleConnection) return post();
      throw error;
    }
  };

  return {
    send: async (held, { head, body }, { signal }) => {
      const reply = await call(held, { head: { kind: 'request', sid: held.sid, head }, body }, signal);
      const { lost, nothingRan, sessionEnded, head: replied } = reply.head;
      if (typeof lost === 'string')
        throw new LinkLost(lost, nothingRan === true, { sessionEnded: sessionEnded === true });
      return { head: typeof replied === 'object' && replied !== null ? { ...replied } : {}, body: reply.body };
    },
    ping: async (held, timeoutMs) => {
      const signal = AbortSignal.timeout(timeoutMs + PEER_MS);
      const ask = { head: { kind: 'ping', sid: held.sid, timeoutMs }, body: new Uint8Array(0) };
      return call(held, ask, signal).then(
        ({ head }) => head['alive'] === true,
        () => false, // the replica is gone, and with it the session
      );
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** The time for the way to another replica, besides that of the agent. */
const PEER_MS = 2_000;

export const hashOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url');

/** A kept connection was closed by the other side before there was a response. */
class StaleConnection extends LinkLost {}

function exchange(
  url: URL,
  {
    token,
    body,
    signal,
    agents,
  }: {
    readonly token: string;
    readonly body: Buffer;
    readonly signal: AbortSignal;
    readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  },
): Promise<LinkMessage> {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/octet-stream',
    'Content-Length': body.length,
    ...traceHeader(),
  };
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const options = { method: 'POST', headers, signal };
    const outgoing = secure
      ? httpsRequest(url, { ...options, agent: agents.https })
      : httpRequest(url, { ...options, agent: agents.http });
    let connected = false;
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) connected = true;
      else socket.once(secure ? 'secureConnect' : 'connect', () => (connected = true));
    });
    outgoing.on('response', (response) => {
      received(response).then(resolve, (error: unknown) => reject(signal.aborted ? (signal.reason as Error) : error));
    });
    outgoing.on('error', (cause) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const Lost = outgoing.reusedSocket ? StaleConnection : LinkLost;
      reject(
        new Lost('the replica that holds the session does not respond', !connected, { cause, sessionEnded: true }),
      );
    });
    outgoing.end(body);
  });
}

async function received(response: IncomingMessage): Promise<LinkMessage> {
  const lost = (what: string, nothingRan: boolean, cause?: unknown): LinkLost =>
    new LinkLost(`the replica that holds the session ${what}`, nothingRan, { cause });
  if (response.statusCode !== 200) {
    response.resume();
    // 409: the token was used, so the request arrived before; 401, 404: it was not examined.
    throw lost(`answered ${String(response.statusCode)}`, response.statusCode === 401 || response.statusCode === 404);
  }
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MOST_FORWARDED) throw lost('answered too much', false);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof LinkLost ? error : lost('did not complete its response', false, error);
  }
  const message = unpacked(Buffer.concat(parts));
  if (!message) throw lost('answered something else', false);
  return message;
}
