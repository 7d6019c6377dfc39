import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLinkSession } from '../../data-plane-agent/base/link/create-session.js';
import { newLinkKey, signerOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { LINK, PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import {
  LINK_PATHS,
  TOPICS,
  type Hello,
  type Joined,
  type Welcome,
} from '../../data-plane-agent/base/link/messages.js';
import type { LinkClosed, LinkMessage, LinkSession } from '../../data-plane-agent/base/link/session.js';
import { signToken } from '../../data-plane-agent/base/link/tokens.js';
import { socketOf } from '../../data-plane-agent/base/link/web-socket.js';
import { joinWith } from './joined-agent.js';
import type { TestServer } from './server.js';

/** An agent that a test plays by hand: it has joined, and does only what it is asked for. */
export interface RawAgent {
  readonly joined: Joined;
  readonly instanceId: string;
  readonly key: LinkKeyPair;
  token(changes?: {
    readonly clock?: Clock;
    readonly audience?: string;
    readonly key?: LinkKeyPair;
    readonly claims?: Readonly<Record<string, unknown>>;
  }): Promise<string>;
  /** Sends hello over a new session, and `ready` after the welcome. */
  connect(options?: {
    readonly hello?: Partial<Hello>;
    readonly answer?: (message: LinkMessage) => Promise<LinkMessage>;
    readonly url?: string;
    /** False for a process that dies before it has stored that it was welcomed. */
    readonly isReady?: boolean;
  }): Promise<RawSession>;
}

export interface RawSession {
  readonly session: LinkSession;
  readonly welcome: Welcome;
}

/** The control plane closed the session during the handshake. */
export class HandshakeClosed extends Error {
  constructor(readonly closed: LinkClosed) {
    super(`closed with ${closed.code}: ${closed.reason}`);
  }
}

export async function rawAgent(server: TestServer, tenantId: string): Promise<RawAgent> {
  const key = await newLinkKey();
  const instanceId = newId();
  const joined = await joinWith({ server, tenantId, key, instanceId, clock: systemClock, accessMode: 'outbound' });
  const bootId = newId();
  let sequence = 0;
  const token: RawAgent['token'] = async (changes = {}) =>
    signToken(
      { type: 'connect', issuer: joined.connectionId, audience: changes.audience ?? joined.controlPlane },
      {
        claims: { sub: joined.connectionId, ...changes.claims },
        signer: signerOf(changes.key ?? key),
        clock: changes.clock ?? systemClock,
      },
    );
  return {
    joined,
    instanceId,
    key,
    token,
    connect: async ({
      hello = {},
      answer = () => new Promise<LinkMessage>(() => undefined),
      url = server.url,
      isReady = true,
    } = {}) => {
      const opened = await upgrade(url, { token: await token() });
      if ('status' in opened)
        throw new Error(`the upgrade was refused: ${opened.status} ${JSON.stringify(opened.body)}`);
      const session = createLinkSession({
        socket: socketOf(opened),
        side: 'client',
        clock: systemClock,
        handlers: { onRequest: answer, onNotice: () => undefined, onGoAway: () => undefined },
      });
      const said: Hello = {
        instanceId,
        bootId,
        sequence: sequence + 1,
        version: 'raw',
        protocols: PROTOCOLS,
        operations: 'raw',
        schema: 'raw',
        report: { components: [], outboxDue: false },
        ...hello,
      };
      const asked = session.request(
        { head: { op: 'hello' }, body: Buffer.from(JSON.stringify(said)) },
        { signal: AbortSignal.timeout(LINK.handshakeMs) },
      );
      const reply = await asked.catch(async (error: unknown) => {
        const closed = await Promise.race([session.closed, sleep(1_000, undefined, { ref: false })]);
        throw closed ? new HandshakeClosed(closed) : error;
      });
      if (isReady) {
        sequence = said.sequence;
        session.notice(TOPICS.ready, {});
      }
      return { session, welcome: JSON.parse(Buffer.from(reply.body).toString('utf8')) as Welcome };
    },
  };
}

export interface RefusedUpgrade {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly error: { readonly code: string; readonly message: string; readonly details: object } };
}

/** Asks for a WebSocket. */
export function upgrade(
  url: string,
  {
    token,
    protocol = LINK.subprotocol,
    headers = {},
    path = LINK_PATHS.connect,
  }: {
    readonly token?: string;
    readonly protocol?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly path?: string;
  } = {},
): Promise<WebSocket | RefusedUpgrade> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocol, {
      headers: { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }), ...headers },
      perMessageDeflate: false,
    });
    ws.once('open', () => resolve(ws));
    ws.once('error', reject);
    ws.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.once('end', () => {
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, body: text.startsWith('{') ? JSON.parse(text) : text });
      });
    });
  });
}
