import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Receiver {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  /** In order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** What to answer from now on; a function that writes to the response answers itself. */
  answers(answer: Answer | ((request: ReceivedRequest, response: ServerResponse) => Answer | undefined)): void;
  stop(): Promise<void>;
}

/** A real HTTP server on loopback, which records what it is sent. It answers 200 with `ok` by default. */
export async function startReceiver(): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let answer: Parameters<Receiver['answers']>[0] = { body: 'ok' };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(received);
      const given = typeof answer === 'function' ? answer(received, response) : answer;
      if (given) response.writeHead(given.status ?? 200, { ...given.headers }).end(given.body ?? '');
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answers: (given) => {
      answer = given;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
