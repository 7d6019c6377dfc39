import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { PATIENCE_MS } from './deadline.js';

/** Requests to an S3 server, none of which waits for ever: the client library has no time limits of its own. */
export interface S3Transport {
  request(options: RequestOptions | string | URL, callback?: OnAnswer): ClientRequest;
  request(url: string | URL, options: RequestOptions, callback?: OnAnswer): ClientRequest;
  /** Ends the connections that are kept for the next request. */
  close(): void;
}

type OnAnswer = (answer: IncomingMessage) => void;

/** Asks the server within its time; rejects with an `ObjectStoreError`. */
export type Ask = <T>(question: () => Promise<T>, ms?: number) => Promise<T>;

export function createS3Transport({ tls, patienceMs = PATIENCE_MS }: { readonly tls: boolean; readonly patienceMs?: number }): S3Transport {
  const agent = tls ? new HttpsAgent({ keepAlive: true, minVersion: 'TLSv1.2' }) : new HttpAgent({ keepAlive: true });
  const send = tls ? httpsRequest : httpRequest;
  // Counts from the first packet on, both ways: for a server that takes no byte, and for one that gives none.
  const ours = { agent, timeout: patienceMs };
  return {
    request: (target: RequestOptions | string | URL, second?: RequestOptions | OnAnswer, third?: OnAnswer): ClientRequest => {
      const onAnswer = typeof second === 'function' ? second : third;
      const options = typeof second === 'object' ? { ...second, ...ours } : ours;
      const request = typeof target === 'string' || target instanceof URL ? send(target, options) : send({ ...target, ...options });
      request.on('timeout', () => request.destroy(silent(patienceMs)));
      request.once('response', (answer: IncomingMessage) => {
        request.setTimeout(STALLED_MS);
        // Where nobody reads what a server says beside its status, the connection could not be used again.
        if ((answer.statusCode ?? 0) >= 500) answer.resume();
        onAnswer?.(answer);
      });
      return request;
    },
    close: () => agent.destroy(),
  };
}

/** An answer that has begun is read as fast as its reader works, who may take a breath. */
const STALLED_MS = 60_000;

const silent = (ms: number): Error => Object.assign(new Error(`nothing came for ${Math.round(ms / 1000)} s`), { code: 'ETIMEDOUT' });
