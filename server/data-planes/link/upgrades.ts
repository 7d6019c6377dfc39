import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { WebSocketServer, type WebSocket } from 'ws';
import { SECURITY_HEADERS } from '../../../data-plane-agent/base/http/headers.js';
import type { Upgrades } from '../../../data-plane-agent/base/http/listen.js';
import { clientAddress } from '../../../data-plane-agent/base/http/client-address.js';
import { networkOf } from '../../../data-plane-agent/base/http/network.js';
import { fail, isFailure } from '../../../data-plane-agent/base/failures.js';
import {
  failureRefusal,
  frameworkBody,
  isProblem,
  JSON_TYPE,
  problem,
  statusText,
  type Refusal,
} from '../../../data-plane-agent/base/http/problems.js';
import { LINK } from '../../../data-plane-agent/base/link/limits.js';
import { LINK_PATHS } from '../../../data-plane-agent/base/link/messages.js';
import { TokenRefused } from '../../../data-plane-agent/base/link/tokens.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { AuthenticatedAgent } from '../joining/agent-token.js';

/** Refused requests for a session, per minute and network. */
const MOST_REFUSED = 60;
/** Requests for a session that are examined at once. */
const MOST_EXAMINED = 1_000;
const WAIT_S = 60;

export interface UpgradeParts {
  readonly admit: (token: string) => Promise<AuthenticatedAgent>;
  /** Takes over the connection of an agent that was admitted. Called in the turn in which it opens. */
  readonly open: (ws: WebSocket, admitted: AuthenticatedAgent, stream: Duplex) => void;
  readonly accepting: () => boolean;
  readonly trustProxy: number;
  readonly log: Log;
  readonly onRefused: (reason: string) => void;
}

/** Answers requests of agents for a WebSocket. A refusal is a plain HTTP response in the form of domain errors. */
export function createUpgrades(parts: UpgradeParts): Upgrades {
  const { admit, open, accepting, trustProxy, log, onRefused } = parts;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LINK.maxPayload,
    perMessageDeflate: false,
    handleProtocols: () => LINK.subprotocol,
  });
  const refusals = new RateLimiterMemory({ points: MOST_REFUSED, duration: WAIT_S });
  let examined = 0;

  const examine = async (request: IncomingMessage, network: string): Promise<AuthenticatedAgent> => {
    refuseFaulty(request);
    if (!accepting() || examined >= MOST_EXAMINED) throw fail('OVERLOADED', { retryAfterSeconds: 1 });
    const before = await refusals.get(network);
    if (before && before.consumedPoints >= MOST_REFUSED)
      throw fail('RATE_LIMITED', { retryAfterSeconds: Math.max(1, Math.ceil(before.msBeforeNext / 1_000)) });
    examined += 1;
    try {
      return await admit(/^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '');
    } finally {
      examined -= 1;
    }
  };

  const answer = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const network = networkOf(clientAddress(request, trustProxy));
    try {
      const admitted = await examine(request, network);
      if (socket.destroyed) return;
      sockets.handleUpgrade(request, socket, head, (ws) => open(ws, admitted, socket));
    } catch (error) {
      if (isProblem(error)) return refuse(socket, { ...error, body: frameworkBody(error.status, error.message) });
      if (!isFailure(error)) {
        log.error({ err: error }, 'a request of an agent for a session failed');
        return refuse(socket, {
          status: 503,
          headers: { 'Retry-After': '5' },
          body: frameworkBody(503, statusText(503)),
        });
      }
      const refusal = failureRefusal(error);
      const reason = error.cause instanceof TokenRefused ? error.cause.reason : error.code.toLowerCase();
      onRefused(reason);
      log.info({ network, reason }, 'an agent was refused');
      if (refusal.status === 401 || refusal.status === 403) await refusals.penalty(network);
      refuse(socket, refusal);
    }
  };

  return {
    accepts: (request) => pathOf(request) === LINK_PATHS.connect && isWebSocket(request),
    upgrade: (request, socket, head) => {
      // Without a listener an error of the socket would end the process.
      socket.on('error', () => socket.destroy());
      void answer(request, socket, head);
    },
  };
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

function refuseFaulty({ headers }: IncomingMessage): void {
  // Only browsers send it, and no browser is an agent.
  if (headers.origin !== undefined) throw problem(403, 'Pages of browsers may not open a session');
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  if (!protocols.includes(LINK.subprotocol)) throw fail('LINK_INCOMPATIBLE', { supported: [LINK.subprotocol] });
}

function refuse(socket: Duplex, { status, headers, body }: Refusal): void {
  const text = JSON.stringify(body);
  const all: (readonly [string, string])[] = [
    ...SECURITY_HEADERS,
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(Buffer.byteLength(text))],
    ['Cache-Control', 'no-store'],
    ['Connection', 'close'],
    ...Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]),
  ];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${statusText(status)}\r\n${lines}\r\n${text}`, () => socket.destroy());
}
