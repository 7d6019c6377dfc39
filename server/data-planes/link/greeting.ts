import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { isId, newId } from '../../../data-plane-agent/base/ids.js';
import { createLinkSession } from '../../../data-plane-agent/base/link/create-session.js';
import { WELCOME, type Announcement } from '../../../data-plane-agent/base/link/announcement.js';
import { CLOSED, LINK, PROTOCOLS, type ProtocolRange } from '../../../data-plane-agent/base/link/limits.js';
import { AgentReport, Hello, TOPICS, type Welcome } from '../../../data-plane-agent/base/link/messages.js';
import { newerToo } from '../../../data-plane-agent/base/link/reading.js';
import type { LinkMessage, LinkSession } from '../../../data-plane-agent/base/link/session.js';
import { socketOf } from '../../../data-plane-agent/base/link/web-socket.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { AuthenticatedAgent } from '../joining/agent-token.js';
import { agreed } from './agreed-protocol.js';

/** A session whose agent has said who it is. */
export interface Greeted {
  readonly sid: string;
  readonly admitted: AuthenticatedAgent;
  readonly hello: Hello;
  readonly protocol: number;
  readonly session: LinkSession;
}

/** Ends a session during its handshake. */
export class GreetingRefused extends Error {
  override readonly name = 'GreetingRefused';

  constructor(
    readonly code: (typeof CLOSED)[keyof typeof CLOSED],
    message: string,
  ) {
    super(message);
  }
}

export interface GreetingParts {
  /** What carries the WebSocket. */
  readonly stream?: Duplex;
  readonly clock: Clock;
  readonly log: Log;
  /** The versions of the protocol that this program speaks. */
  readonly protocols?: ProtocolRange;
  /** Whether the process opens this session; the welcome if so. Throws GreetingRefused. */
  readonly welcome: (greeted: Greeted) => Promise<Omit<Welcome, 'sid' | 'protocol' | 'serverTime'>>;
  /** Signs what the agent is sent. */
  readonly announce: (greeted: Greeted, topic: string, value: unknown) => Promise<Announcement>;
  /** The agent has stored that it was welcomed: from now on it answers requests. Throws GreetingRefused. */
  readonly ready: (greeted: Greeted) => Promise<void>;
  readonly reported: (greeted: Greeted, report: AgentReport) => void;
  readonly outboxDue: (greeted: Greeted) => void;
  /** Also called for a session that was not ready. */
  readonly ended: (greeted: Greeted) => Promise<void>;
}

/** The session of an agent over its WebSocket: hello, welcome, ready, then reports and notices. */
export function greet(ws: WebSocket, admitted: AuthenticatedAgent, parts: GreetingParts): void {
  const { clock, log, protocols = PROTOCOLS } = parts;
  const sid = newId();
  const { id: connectionId, tenantId } = admitted.connection;
  const sessionLog = log.child({ connectionId, tenantId, sid });
  let greeted: Greeted | undefined;
  let isReady = false;
  let readying: Promise<void> = Promise.resolve();

  const end = (error: unknown): void => {
    if (error instanceof GreetingRefused) {
      sessionLog.warn({ closeCode: error.code, reason: error.message }, 'the session of an agent was refused');
      session.close(error.code, error.message.slice(0, MOST_REASON));
    } else {
      sessionLog.error({ err: error }, 'the session of an agent failed');
      session.close(INTERNAL, 'internal error');
    }
  };

  const welcome = async (message: LinkMessage): Promise<LinkMessage> => {
    const hello = helloOf(message);
    const protocol = protocolOf(hello, protocols);
    if (hello.instanceId !== admitted.connection.instanceId)
      throw new GreetingRefused(CLOSED.unauthorized, 'the key belongs to another installation of an agent');
    const it = { sid, admitted, hello, protocol, session };
    const value: Welcome = { ...(await parts.welcome(it)), sid, protocol, serverTime: clock.now() };
    const { token, json } = await parts.announce(it, WELCOME, value);
    greeted = it;
    return { head: { op: WELCOME, token }, body: Buffer.from(json) };
  };

  let isGreeting = false;
  const session = createLinkSession({
    socket: socketOf(ws, parts.stream),
    side: 'server',
    clock,
    log: sessionLog,
    handlers: {
      onRequest: async (message) => {
        if (isGreeting) return { head: { refused: 'malformed' }, body: new Uint8Array(0) };
        isGreeting = true;
        try {
          return await welcome(message);
        } catch (error) {
          end(error);
          throw error;
        }
      },
      onNotice: (topic) => {
        const it = greeted;
        if (!it) return;
        if (topic === TOPICS.ready && !isReady) {
          isReady = true;
          clearTimeout(late);
          readying = parts.ready(it).catch(end);
        } else if (topic === TOPICS.outbox && isReady) parts.outboxDue(it);
      },
      onGoAway: () => undefined, // the session ends itself once its requests are answered
      onReport: (report) => {
        const checked = newerToo(AgentReport)(report);
        if (greeted && isReady && checked.ok) parts.reported(greeted, checked.value);
      },
    },
  });
  const late = setTimeout(
    () => end(new GreetingRefused(CLOSED.silent, 'the handshake took too long')),
    LINK.handshakeMs,
  ).unref();
  void session.closed.then(async ({ code, reason }) => {
    clearTimeout(late);
    sessionLog.info({ closeCode: code, reason }, 'a session of an agent has ended');
    const it = greeted;
    if (!it) return;
    await readying;
    await parts
      .ended(it)
      .catch((error: unknown) => sessionLog.warn({ err: error }, 'the end of a session was not recorded'));
  });
}

/** RFC 6455: the reason of a close frame has at most 123 bytes. */
const MOST_REASON = 120;
const INTERNAL = 1011;

function helloOf({ head, body }: LinkMessage): Hello {
  const fault = (what: string): GreetingRefused => new GreetingRefused(CLOSED.malformed, what);
  if (head['op'] !== 'hello') throw fault('the first message must be hello');
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw fault('the hello is not JSON');
  }
  const checked = newerToo(Hello)(parsed);
  if (!checked.ok)
    throw fault(`the hello is invalid: ${checked.issues[0]?.path ?? ''} ${checked.issues[0]?.problem ?? ''}`);
  // A column of PostgreSQL holds nothing else.
  if (!isId(checked.value.bootId)) throw fault('the hello is invalid: bootId must be a UUID in lower case');
  return checked.value;
}

function protocolOf(hello: Hello, ours: ProtocolRange): number {
  const { protocol, refusal } = agreed(hello, ours);
  if (protocol === undefined) throw new GreetingRefused(CLOSED.incompatible, refusal);
  return protocol;
}
