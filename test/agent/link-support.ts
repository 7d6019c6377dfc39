import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { LinkIdentity } from '../../data-plane-agent/agent/link/identity.js';
import type { OutboundOptions } from '../../data-plane-agent/agent/link/open-session.js';
import { connectOutbound, type OutboundLink } from '../../data-plane-agent/agent/link/outbound.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { announce, WELCOME } from '../../data-plane-agent/base/link/announcement.js';
import {
  keyIdOf,
  newLinkKey,
  signerOf,
  verifierOf,
  type LinkKeyPair,
  type PublicKey,
} from '../../data-plane-agent/base/link/keys.js';
import { LINK } from '../../data-plane-agent/base/link/limits.js';
import type { Hello, Welcome } from '../../data-plane-agent/base/link/messages.js';
import type { LinkHandlers, LinkMessage, LinkSession } from '../../data-plane-agent/base/link/session.js';
import { createSeenTokens, verifyToken } from '../../data-plane-agent/base/link/tokens.js';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from '../support/certificate.js';
import { echo, fakeTimers, linesOf, message, sessionOf, type FakeTimers } from '../base/link-support.js';

/** Lets what is under way reach the condition, without waiting for any time to pass. */
export async function eventually(condition: () => boolean, what = 'the condition'): Promise<void> {
  for (const until = performance.now() + 20_000; !condition();) {
    if (performance.now() > until) throw new Error(`${what} was not reached`);
    await nextTurn();
  }
}

/** Gives sockets on this machine the opportunity to deliver what is under way. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

/** A session as the control plane sees it. */
export interface Seen {
  readonly session: LinkSession;
  readonly hello: Hello;
  readonly sid: string;
  isReady: boolean;
}

/** The other side of the link. What it does with the next connections is set by the test. */
export interface ControlPlane {
  readonly origin: string;
  readonly key: LinkKeyPair;
  /** Requests for a WebSocket. */
  attempts: number;
  readonly seen: Seen[];
  readonly reports: unknown[];
  readonly notices: (readonly [topic: string, value: unknown])[];
  /** Answers requests for a WebSocket with this response. */
  refusal: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown } | undefined;
  /** Closes the connection with this code instead of a welcome, or never answers the hello. */
  insteadOfWelcome: number | 'silence' | undefined;
  /** What the welcome says, besides the rest. */
  welcome: Partial<Welcome>;
  /** The key that signs the welcome; none: it is not signed. */
  signsWith: LinkKeyPair | undefined;
  close(): Promise<void>;
}

export const TENANT_ID = '018f0000-0000-7000-8000-000000000002';
const CONNECTION_ID = '018f0000-0000-7000-8000-000000000001';

const TENANT: Welcome['tenant'] = {
  id: TENANT_ID,
  slug: 'acme',
  timeZone: 'Europe/Berlin',
  reminderLeadDays: 7,
  reminderEscalationDays: 3,
  reminderHour: 8,
  currencyCode: 'EUR',
  language: 'en',
  active: true,
};

/** Accepts the agent whose key is given. */
export async function controlPlane(agent: LinkKeyPair, { tls = false } = {}): Promise<ControlPlane> {
  const key = await newLinkKey();
  const server: Server = tls ? createTlsServer({ key: LOCAL_PRIVATE_KEY, cert: LOCAL_CERTIFICATE }) : createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: LINK.maxPayload });
  const tokens = createSeenTokens({ clock: systemClock });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const plane: ControlPlane = {
    origin: `${tls ? 'https' : 'http'}://${tls ? 'localhost' : '127.0.0.1'}:${port}`,
    key,
    attempts: 0,
    seen: [],
    reports: [],
    notices: [],
    refusal: undefined,
    insteadOfWelcome: undefined,
    welcome: {},
    signsWith: key,
    close: async () => {
      for (const ws of sockets.clients) ws.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  const welcome = async (hello: Hello): Promise<{ readonly sid: string; readonly message: LinkMessage }> => {
    const sid = newId();
    const value: Welcome = {
      sid,
      protocol: 1,
      version: '1.0.0',
      operations: hello.operations,
      serverTime: systemClock.now(),
      tenant: TENANT,
      keys: [key.publicJwk],
      connections: 1,
      ...plane.welcome,
    };
    if (!plane.signsWith) return { sid, message: message({ op: WELCOME }, JSON.stringify(value)) };
    const { token, json } = await announce(factsOf(plane, sid), {
      topic: WELCOME,
      value,
      signer: signerOf(plane.signsWith),
      clock: systemClock,
    });
    return { sid, message: message({ op: WELCOME, token }, json) };
  };

  server.on('upgrade', (request, socket, head) => {
    plane.attempts += 1;
    const { refusal } = plane;
    if (refusal) {
      const body = JSON.stringify(refusal.body ?? {});
      const headers = { 'Content-Length': String(body.length), Connection: 'close', ...refusal.headers };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\n${lines.join('')}\r\n${body}`);
      return;
    }
    const admit = async (): Promise<void> => {
      await verifyToken(
        (request.headers.authorization ?? '').slice('Bearer '.length),
        { type: 'connect', issuer: CONNECTION_ID, audience: plane.origin },
        { clock: systemClock, required: ['sub'], seen: tokens, keyOf: () => verifierOf(agent.publicJwk) },
      );
      sockets.handleUpgrade(request, socket, head, (ws) => {
        let mine: Seen | undefined;
        const handlers: LinkHandlers = {
          ...echo,
          onRequest: async ({ body }) => {
            const { insteadOfWelcome } = plane;
            if (insteadOfWelcome === 'silence') return new Promise(() => undefined);
            if (insteadOfWelcome !== undefined) session.close(insteadOfWelcome, 'instead of a welcome');
            const hello = JSON.parse(Buffer.from(body).toString()) as Hello;
            const { sid, message: reply } = await welcome(hello);
            mine = { session, hello, sid, isReady: false };
            plane.seen.push(mine);
            return reply;
          },
          onNotice: (topic, value) => {
            if (topic === 'ready' && mine) mine.isReady = true;
            else plane.notices.push([topic, value]);
          },
          onReport: (report) => plane.reports.push(report),
        };
        const session = sessionOf(ws, 'server', { handlers });
      });
    };
    admit().catch(() => socket.end('HTTP/1.1 401 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
  });
  return plane;
}

export const factsOf = ({ origin }: Pick<ControlPlane, 'origin'>, session: string) => ({
  controlPlane: origin,
  connectionId: CONNECTION_ID,
  tenantId: TENANT_ID,
  session,
});

/** An identity in memory. */
export async function identityOf(
  { origin, key }: Pick<ControlPlane, 'origin' | 'key'>,
  agent: LinkKeyPair,
): Promise<LinkIdentity & { readonly confirmed: number[]; readonly pinned: () => readonly PublicKey[] }> {
  let pinned: readonly PublicKey[] = [key.publicJwk];
  const confirmed: number[] = [];
  return {
    connectionId: CONNECTION_ID,
    controlPlane: origin,
    instanceId: newId(),
    tenantId: TENANT_ID,
    confirmed,
    pinned: () => pinned,
    signer: () => signerOf(agent),
    accepts: async (kid) => {
      for (const one of pinned) if ((await keyIdOf(one)) === kid) return verifierOf(one);
      return undefined;
    },
    pin: (keys) => {
      pinned = keys;
      return Promise.resolve();
    },
    nextSequence: () => Promise.resolve((confirmed.at(-1) ?? 0) + 1),
    confirmSequence: (sequence) => {
      confirmed.push(sequence);
      return Promise.resolve();
    },
  };
}

export interface Agent {
  readonly link: OutboundLink;
  readonly identity: Awaited<ReturnType<typeof identityOf>>;
  readonly timers: FakeTimers;
  /** The log, from level info. */
  readonly lines: Record<string, unknown>[];
  readonly notices: (readonly [topic: string, value: unknown])[];
  /** Waits until the agent pauses for so long, and advances the time: the control plane sees an attempt then, not before. */
  reconnectsAfter(ms: number): Promise<void>;
}

/** An agent that connects to the control plane, with timers of the test. */
export async function agentOf(
  plane: ControlPlane,
  { key, ...options }: Partial<OutboundOptions> & { readonly key: LinkKeyPair },
): Promise<Agent> {
  const identity = await identityOf(plane, key);
  const timers = fakeTimers();
  const { log, lines } = linesOf();
  const notices: (readonly [topic: string, value: unknown])[] = [];
  const bootId = newId();
  const link = connectOutbound({
    identity,
    hello: () =>
      Promise.resolve({
        instanceId: identity.instanceId,
        bootId,
        sequence: 0,
        version: '1.0.0',
        protocols: { min: 1, max: 1 },
        operations: 'hash',
        schema: '0001-first',
        report: { components: [], outboxDue: false },
      }),
    answer: (asked, { sid }) => Promise.resolve({ head: { sid }, body: asked.body }),
    onWelcome: (welcome) => identity.pin(welcome.keys),
    onNotice: (topic, value) => notices.push([topic, value]),
    report: () => ({ components: [], outboxDue: false }),
    log,
    clock: systemClock,
    random: () => 0.5,
    timers,
    ...options,
  });
  return {
    link,
    identity,
    timers,
    lines,
    notices,
    reconnectsAfter: async (ms) => {
      await eventually(() => timers.isPending(ms), `a pause of ${ms} ms`);
      const before = plane.attempts;
      timers.advance(ms - 1);
      await settled();
      expect(plane.attempts).to.equal(before);
      timers.advance(1);
      await eventually(() => plane.attempts === before + 1, 'the attempt');
    },
  };
}
