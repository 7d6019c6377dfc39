import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { TIMEOUT_MS } from './deadline.js';
import { ObjectStoreError } from './object-store.js';

/** HTTP requests to an S3 server with limits on time and size, which the client library lacks. */
export interface S3Transport {
  /** For requests whose responses are buffered: each must be small, and complete within `ms` of the request. */
  buffered(ms: number): Requests;
  /** For object content, which is streamed. Error responses are limited like other responses. */
  readonly streamed: Requests;
  /** Closes idle connections. */
  close(): void;
}

export interface Requests {
  request(options: RequestOptions | string | URL, callback?: OnAnswer): ClientRequest;
  request(url: string | URL, options: RequestOptions, callback?: OnAnswer): ClientRequest;
}

type OnAnswer = (answer: IncomingMessage) => void;

/** Runs a request with a timeout; rejects with an `ObjectStoreError`. */
export type Ask = <T>(request: () => Promise<T>, ms?: number) => Promise<T>;

export function createS3Transport({
  tls,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly tls: boolean;
  readonly timeoutMs?: number;
}): S3Transport {
  const agent = tls ? new HttpsAgent({ keepAlive: true, minVersion: 'TLSv1.2' }) : new HttpAgent({ keepAlive: true });
  const send = tls ? httpsRequest : httpRequest;
  // An idle timeout in both directions: for a server that accepts no bytes or sends none.
  const common = { agent, timeout: timeoutMs };
  const requests = (bound: (request: ClientRequest) => void): Requests => ({
    request: (
      target: RequestOptions | string | URL,
      second?: RequestOptions | OnAnswer,
      third?: OnAnswer,
    ): ClientRequest => {
      const onAnswer = typeof second === 'function' ? second : third;
      const options = typeof second === 'object' ? { ...second, ...common } : common;
      const request =
        typeof target === 'string' || target instanceof URL ? send(target, options) : send({ ...target, ...options });
      request.on('timeout', () => request.destroy(idleTimeout(timeoutMs)));
      bound(request);
      request.once('response', (answer: IncomingMessage) => {
        request.setTimeout(STALLED_MS);
        // The body must be consumed, or the connection cannot be reused.
        if (isBodyIgnored(answer)) answer.resume();
        onAnswer?.(answer);
      });
      return request;
    },
  });
  return {
    buffered: (ms) => requests((request) => boundAnswer(request, { ms, isContent: () => false })),
    streamed: requests((request) =>
      boundAnswer(request, { ms: timeoutMs, isContent: ({ statusCode = 0 }) => CONTENT.includes(statusCode) }),
    ),
    close: () => agent.destroy(),
  };
}

/** All of an object, or a part of it. */
const CONTENT: readonly number[] = [200, 206];
/** A response is read at the reader's pace, which may pause. */
const STALLED_MS = 60_000;
/** A list page of a thousand keys has about half of this size. */
const MAX_BYTES = 2 ** 20;

/** For these statuses the client library throws without reading the body. */
const isBodyIgnored = ({ statusCode = 0 }: IncomingMessage): boolean =>
  statusCode >= 500 || [408, 429, 499].includes(statusCode);

/** Aborts responses that are too slow or too large. Of streamed content only the headers have to arrive in time. */
function boundAnswer(
  request: ClientRequest,
  { ms, isContent }: { readonly ms: number; readonly isContent: (answer: IncomingMessage) => boolean },
): void {
  let timer: NodeJS.Timeout | undefined;
  let abort = (reason: Error): unknown => request.destroy(reason);
  const begin = (): void => {
    timer ??= setTimeout(
      () =>
        abort(
          new ObjectStoreError(
            'unavailable',
            `the object store did not complete a response within ${Math.ceil(ms / 1000)} s`,
          ),
        ),
      ms,
    );
  };
  // The time starts when the request is sent.
  request.once('finish', begin);
  request.once('response', (answer: IncomingMessage) => {
    request.off('finish', begin);
    if (isContent(answer)) return clearTimeout(timer);
    begin();
    abort = (reason) => answer.destroy(reason);
    const { socket } = answer;
    let size = 0;
    // Counted on the socket: a listener on the response would start it before its reader is attached.
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > MAX_BYTES) abort(new ObjectStoreError('unavailable', 'the response of the object store is too large'));
    };
    socket.on('data', count);
    request.once('close', () => socket.off('data', count));
  });
  request.once('close', () => clearTimeout(timer));
}

const idleTimeout = (ms: number): Error =>
  Object.assign(new Error(`no data for ${Math.round(ms / 1000)} s`), { code: 'ETIMEDOUT' });
