import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { InFlight } from '../in-flight.js';
import { SECURITY_HEADERS } from './headers.js';
import { frameworkBody, JSON_TYPE, statusText } from './problems.js';

export interface Listening {
  readonly port: number;
  /**
   * Lets `upgrades` take over the connections of requests that it accepts. All other requests for an upgrade are
   * answered like requests without one, as HTTP allows.
   */
  onUpgrade(upgrades: Upgrades): void;
  /**
   * From now on each answer ends its connection, so that `stop`, some seconds later, finds none on which a client is just
   * sending a request: that would be lost.
   */
  drain(): void;
  /**
   * Refuses new connections, completes running requests, whose answers end their connections, then closes. Upgraded
   * connections are not waited for.
   */
  stop(): Promise<void>;
}

/** Takes over connections, for WebSockets. */
export interface Upgrades {
  accepts(request: IncomingMessage): boolean;
  /** Owns the socket from now on: it answers the request, and ends the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Longer than the 60 s for which load balancers keep idle connections, so that they close them, not we. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 15_000;
const REQUEST_MS = 120_000;
const extensions = new WeakMap<IncomingMessage, (ms: number) => void>();
/** Room for an access token with a scope of a thousand subject companies. */
const HEADER_BYTES = 64 * 1024;

/** Gives a running request a new time limit, from now, for receiving its body; the default is two minutes. */
export const allowLonger = (request: IncomingMessage, ms: number): void => extensions.get(request)?.(ms);

/** A certificate with its chain, and its private key, both as PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Serves HTTP, or HTTPS with `tls`; port 0 picks a free port. Rejects when the address is not available. */
export async function listen(
  handle: RequestListener,
  { host, port, tls }: { host: string; port: number; tls?: TlsIdentity | undefined },
): Promise<Listening> {
  let upgrades: Upgrades | undefined;
  const upgraded = new Set<Duplex>();
  // A missing Host header is refused by `refuseMalformed`, in our error format.
  const options: ServerOptions = {
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES,
    requireHostHeader: false,
    shouldUpgradeCallback: (request) => upgrades?.accepts(request) ?? false,
  };
  const server = tls
    ? createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2' }, handle)
    : createServer(options, handle);
  // A client that sends `Expect: 100-continue` gets the 100 only when its body is read.
  server.on('checkContinue', handle);
  answerParseErrors(server);
  limitRequests(server);
  const endConnections = closingConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    onUpgrade: (given) => {
      upgrades = given;
      server.on('upgrade', (request, socket, head) => {
        // Older versions of Node.js ask no `shouldUpgradeCallback`.
        if (!given.accepts(request)) return void socket.end(refusal(404), () => socket.destroy());
        upgraded.add(socket);
        socket.once('close', () => upgraded.delete(socket));
        given.upgrade(request, socket, head);
      });
    },
    drain: endConnections,
    stop: () => {
      endConnections();
      return stop(server, upgraded);
    },
  };
}

/**
 * Returns a function after which every answer says that its connection closes. Node.js goes on announcing that it is
 * kept, and a client would send its next request into a connection that `stop` is closing.
 */
function closingConnections(server: Server): () => void {
  const running = new InFlight<ServerResponse>();
  let isEnding = false;
  const close = (answer: ServerResponse): void => {
    if (!answer.headersSent) answer.setHeader('Connection', 'close');
  };
  const follow: RequestListener = (_request, answer) => {
    if (isEnding) close(answer);
    answer.once('close', running.add(answer));
  };
  server.prependListener('request', follow);
  server.prependListener('checkContinue', follow);
  return () => {
    isEnding = true;
    for (const answer of running) close(answer);
  };
}

function stop(server: Server, upgraded: ReadonlySet<Duplex>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearInterval(sweep);
      resolve();
    };
    const sweep = setInterval(() => {
      // Connections become idle after their last response and would be kept alive.
      server.closeIdleConnections();
      if (upgraded.size > 0)
        server.getConnections((error, open) => {
          if (!error && open <= upgraded.size) done();
        });
    }, 20);
    server.close(done);
  });
}

/**
 * Replaces Node's request timeout, which is the same for every request, whereas uploads of large files may take longer.
 */
function limitRequests(server: Server): void {
  const limit = (request: IncomingMessage): void => {
    if (request.complete) return;
    const over = (): void => {
      if (!request.complete)
        server.emit(
          'clientError',
          Object.assign(new Error('the request was not received in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
          request.socket,
        );
    };
    const { socket } = request;
    let timer = setTimeout(over, REQUEST_MS);
    const end = (): void => {
      clearTimeout(timer);
      extensions.delete(request);
      socket.off('close', end);
    };
    extensions.set(request, (ms) => {
      clearTimeout(timer);
      timer = setTimeout(over, ms);
    });
    request.once('end', end);
    request.once('close', end);
    // A request with malformed content closes without an event of its own.
    socket.once('close', end);
  };
  server.prependListener('request', limit);
  server.prependListener('checkContinue', limit);
}

/** Input that is not HTTP has no request or response object, so the refusal is written to the socket. */
function answerParseErrors(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const remember: RequestListener = (request, answer) => void answers.set(request.socket, answer);
  server.prependListener('request', remember);
  server.prependListener('checkContinue', remember);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    const inTheMiddle = answer !== undefined && answer.headersSent && !answer.writableEnded;
    if (!socket.writable || inTheMiddle || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(refusal(STATUS_OF[error.code ?? ''] ?? 400), () => socket.destroy());
  });
}

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function refusal(status: number): string {
  const body = JSON.stringify(frameworkBody(status, statusText(status)));
  const headers: (readonly [string, string])[] = [
    ...SECURITY_HEADERS,
    ['Cache-Control', 'no-store'],
    ['X-Request-Id', randomUUID()],
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ];
  return `HTTP/1.1 ${status} ${statusText(status)}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
