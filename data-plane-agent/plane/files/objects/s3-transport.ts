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

/**
 * Requests to an S3 server, which are waited for and listened to so long and no longer: the client library has no
 * limits of its own.
 */
export interface S3Transport {
  /** For questions, whose answers are kept in memory: each is small, and whole `ms` after the question was. */
  asking(ms: number): Requests;
  /**
   * For the content of objects, which is read as it comes. What is answered in its place is as small as other answers.
   */
  readonly reading: Requests;
  /** Ends the connections that are kept for the next request. */
  close(): void;
}

export interface Requests {
  request(options: RequestOptions | string | URL, callback?: OnAnswer): ClientRequest;
  request(url: string | URL, options: RequestOptions, callback?: OnAnswer): ClientRequest;
}

type OnAnswer = (answer: IncomingMessage) => void;

/** Asks the server within its time; rejects with an `ObjectStoreError`. */
export type Ask = <T>(question: () => Promise<T>, ms?: number) => Promise<T>;

export function createS3Transport({
  tls,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly tls: boolean;
  readonly timeoutMs?: number;
}): S3Transport {
  const agent = tls ? new HttpsAgent({ keepAlive: true, minVersion: 'TLSv1.2' }) : new HttpAgent({ keepAlive: true });
  const send = tls ? httpsRequest : httpRequest;
  // Counts from the first packet on, both ways: for a server that takes no byte, and for one that gives none.
  const ours = { agent, timeout: timeoutMs };
  const requests = (bound: (request: ClientRequest) => void): Requests => ({
    request: (
      target: RequestOptions | string | URL,
      second?: RequestOptions | OnAnswer,
      third?: OnAnswer,
    ): ClientRequest => {
      const onAnswer = typeof second === 'function' ? second : third;
      const options = typeof second === 'object' ? { ...second, ...ours } : ours;
      const request =
        typeof target === 'string' || target instanceof URL ? send(target, options) : send({ ...target, ...options });
      request.on('timeout', () => request.destroy(silent(timeoutMs)));
      bound(request);
      request.once('response', (answer: IncomingMessage) => {
        request.setTimeout(STALLED_MS);
        // Where nobody reads what a server says beside its status, the connection could not be used again.
        if (isPassedOver(answer)) answer.resume();
        onAnswer?.(answer);
      });
      return request;
    },
  });
  return {
    asking: (ms) => requests((request) => boundAnswer(request, { ms, isContent: () => false })),
    reading: requests((request) =>
      boundAnswer(request, { ms: timeoutMs, isContent: ({ statusCode }) => statusCode === 200 }),
    ),
    close: () => agent.destroy(),
  };
}

/** An answer that has begun is read as fast as its reader works, who may take a breath. */
const STALLED_MS = 60_000;
/** A page of a list has a thousand keys, and half of this with ours. */
const MOST_BYTES = 2 ** 20;

/** The client library throws for these without a look at what is said. */
const isPassedOver = ({ statusCode = 0 }: IncomingMessage): boolean =>
  statusCode >= 500 || [408, 429, 499].includes(statusCode);

/**
 * Breaks off what does not end: drops that keep a connection busy, and what would fill the memory. Of content only the
 * headers have to come in time.
 */
function boundAnswer(
  request: ClientRequest,
  { ms, isContent }: { readonly ms: number; readonly isContent: (answer: IncomingMessage) => boolean },
): void {
  let late: NodeJS.Timeout | undefined;
  let breakOff = (reason: Error): unknown => request.destroy(reason);
  const begin = (): void => {
    late ??= setTimeout(
      () =>
        breakOff(
          new ObjectStoreError(
            'unavailable',
            `the object store did not come to the end of an answer within ${Math.ceil(ms / 1000)} s`,
          ),
        ),
      ms,
    );
  };
  // What we send sets the pace until it is sent.
  request.once('finish', begin);
  request.once('response', (answer: IncomingMessage) => {
    request.off('finish', begin);
    if (isContent(answer)) return clearTimeout(late);
    begin();
    breakOff = (reason) => answer.destroy(reason);
    const { socket } = answer;
    let size = 0;
    // Counted as it comes over the line: whoever listens to the answer itself sets it going, before its reader is
    // there.
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > MOST_BYTES) breakOff(new ObjectStoreError('unavailable', 'the object store answers without end'));
    };
    socket.on('data', count);
    request.once('close', () => socket.off('data', count));
  });
  request.once('close', () => clearTimeout(late));
}

const silent = (ms: number): Error =>
  Object.assign(new Error(`nothing came for ${Math.round(ms / 1000)} s`), { code: 'ETIMEDOUT' });
