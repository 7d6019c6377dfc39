import { Agent, request } from 'node:http';
import autocannon, { type Request } from 'autocannon';

/** The results of one side under load. */
export interface Load {
  readonly perSecond: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export const CONNECTIONS = 32;
/** The rounds of which the median counts, where a case does not say otherwise. */
export const ROUNDS = 3;
/** A server that does not answer once in this time does not answer. */
const MOST_SECONDS = 30;

/** Thrown for a wrong answer, which makes the figures meaningless. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

interface Asking {
  readonly token: string;
  readonly seconds: number;
  /**
   * So many requests instead of as many as the seconds allow. All of them are answered: a load that ends with the time
   * leaves 32 requests that are broken off, for which a server has work that belongs to no answer.
   */
  readonly amount?: number;
}

/** Sends requests in turn on 32 connections. Any answer except 2xx ends the benchmark. */
export async function underLoad(
  origin: string,
  requests: Request[],
  { token, seconds, amount }: Asking,
): Promise<Load> {
  // The quantiles of autocannon are whole milliseconds, which are too coarse where the median is below two.
  const times: number[] = [];
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    ...(amount === undefined ? { duration: seconds } : { amount: Math.max(amount, CONNECTIONS) }),
    // The end is noticed at a sample; the default, a second, is longer than some loads.
    sampleInt: 100,
    timeout: MOST_SECONDS,
    requests,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    setupClient: (client) => void client.on('response', (_status, _bytes, time) => times.push(time)),
  });
  const isSilent = result['2xx'] + result.non2xx + result.errors === 0;
  // On a busy machine a short load may end before its first answer.
  if (isSilent && seconds < MOST_SECONDS) return underLoad(origin, requests, { token, seconds: 4 * seconds });
  if (result.non2xx > 0 || result.errors > 0 || isSilent) {
    throw new WrongAnswer(
      `${origin}: ${result['2xx']} answers were 2xx, ${result.non2xx} were not, ${result.errors} connections failed; statuses ${JSON.stringify(result.statusCodeStats)}`,
    );
  }
  return {
    perSecond: result['2xx'] / result.duration,
    seconds: result.duration,
    p50: median(times),
    p99: p99(times),
  };
}

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests the paths sequentially on one connection, `rounds` times; returns the sorted times in milliseconds. */
export async function oneByOne(
  origin: string,
  paths: readonly string[],
  { token, rounds }: { readonly token: string; readonly rounds: number },
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      for (const path of paths) {
        const began = performance.now();
        await ask(origin, { method: 'GET', path }, { token, agent });
        times.push(performance.now() - began);
      }
    }
  } finally {
    agent.destroy();
  }
  return times.toSorted((a, b) => a - b);
}

/**
 * Sends a request at a fixed interval in milliseconds, whether or not the last one was answered. `stop` waits for all
 * answers and returns the times in milliseconds.
 */
export function openLoop(
  origin: string,
  next: () => Asked,
  { token, everyMs }: { readonly token: string; readonly everyMs: number },
): { stop(): Promise<readonly number[]> } {
  const agent = new Agent({ keepAlive: true });
  const times: Promise<number>[] = [];
  const timer = setInterval(() => {
    const began = performance.now();
    const time = ask(origin, next(), { token, agent }).then(() => performance.now() - began);
    time.catch(() => undefined); // reported by `stop`
    times.push(time);
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      try {
        return await Promise.all(times);
      } finally {
        agent.destroy();
      }
    },
  };
}

/** The text of a 2xx answer. */
export function ask(
  origin: string,
  { method, path, body, headers: others }: Asked,
  { token, agent }: { readonly token: string; readonly agent?: Agent },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...others,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const asked = request(`${origin}${path}`, { method, headers, ...(agent ? { agent } : {}) }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (answer.statusCode !== undefined && answer.statusCode < 300) resolve(text);
        else reject(new WrongAnswer(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`));
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** A quantile of sorted values. */
export function percentile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError('nothing was measured');
  return value;
}

/** The 99th percentile of values in any order. */
export const p99 = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.99,
  );

export const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
