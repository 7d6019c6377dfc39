import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { SECURITY_HEADERS } from './headers.js';
import { frameworkBody, JSON_TYPE, statusText } from './problems.js';

export interface Listening {
  readonly port: number;
  /** Takes no new connections, answers what has been asked, then ends. */
  stop(): Promise<void>;
}

/** Longer than the 60 s that load balancers keep an idle connection, so that it is theirs to close. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 15_000;
const REQUEST_MS = 120_000;
const extensions = new WeakMap<IncomingMessage, (ms: number) => void>();
/** Room for an access token with a scope of a thousand subject companies. */
const HEADER_BYTES = 64 * 1024;

/** Gives a request that has begun another time to come in whole, from now on; usually it has two minutes. */
export const allowLonger = (request: IncomingMessage, ms: number): void => extensions.get(request)?.(ms);

/** Serves over HTTP; port 0 takes a free one. Rejects when the address cannot be had. */
export async function listen(
  handle: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  // A missing Host header is refused by us, in our error shape.
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES,
      requireHostHeader: false,
    },
    handle,
  );
  // The client that asks first is told to go on when its body is wanted, not before.
  server.on('checkContinue', handle);
  answerParseErrors(server);
  limitRequests(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, stop: () => stop(server) };
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy is idle after its answer, and would be kept for more requests.
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
  });
}

/** Node's own limit is the same for every request, and an upload of a large file takes longer than a query may. */
function limitRequests(server: Server): void {
  const limit = (request: IncomingMessage): void => {
    if (request.complete) return;
    const over = (): void => {
      if (!request.complete)
        server.emit(
          'clientError',
          Object.assign(new Error('the request did not come in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
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
    // One whose bytes made no sense in the middle closes without a word.
    socket.once('close', end);
  };
  server.prependListener('request', limit);
  server.prependListener('checkContinue', limit);
}

/** What is no HTTP has no request and no answer: the refusal is written on the bare connection. */
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
