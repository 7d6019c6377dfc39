import { Agent, request } from 'node:http';

const CONNECTIONS = 1_000;
/** Requests that were not answered by then are given up. */
const TIMEOUT_MS = 10_000;
/** An answer that comes later is of no use to a person. */
const GOOD_WITHIN_MS = 1_000;
const EVERY_MS = 5;

export interface Flooded {
  readonly sent: number;
  /** 2xx within a second, per second of the flood. */
  readonly goodPerSecond: number;
  readonly answered: number;
  /** 429 and 503. */
  readonly refused: number;
  /** Neither answered nor refused in ten seconds, or the connection failed. */
  readonly unanswered: number;
}

interface Answered {
  /** `undefined` if there was no answer. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** Sends requests at a fixed rate. `ended`: when the last was sent; `answers`: when each has its answer or was given up. */
export function flood(
  origin: string,
  paths: readonly string[],
  { token, perSecond, seconds }: { readonly token: string; readonly perSecond: number; readonly seconds: number },
): { readonly ended: Promise<void>; readonly answers: Promise<Flooded> } {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const sent: Promise<Answered>[] = [];
  const began = performance.now();
  const ended = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(seconds, (performance.now() - began) / 1_000);
      while (sent.length < elapsed * perSecond)
        sent.push(answerTo(origin, paths[sent.length % paths.length] ?? '/', { token, agent, timeoutMs: TIMEOUT_MS }));
      if (elapsed < seconds) return;
      clearInterval(timer);
      resolve();
    }, EVERY_MS);
  });
  const answers = (async (): Promise<Flooded> => {
    await ended;
    const all = await Promise.all(sent);
    agent.destroy();
    const good = all.filter(({ status, ms }) => isGood(status) && ms <= GOOD_WITHIN_MS);
    const refusals = all.filter(({ status }) => status === 429 || status === 503);
    return {
      sent: all.length,
      goodPerSecond: good.length / seconds,
      answered: all.filter(({ status }) => isGood(status)).length,
      refused: refusals.length,
      unanswered: all.filter(({ status }) => status === undefined).length,
    };
  })();
  return { ended, answers };
}

const isGood = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300;

/** The status of a request and its time, which begins when it is made, also if it waits for a connection. */
export function answerTo(
  origin: string,
  path: string,
  { token, agent, timeoutMs }: { readonly token: string; readonly agent: Agent; readonly timeoutMs: number },
): Promise<Answered> {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number | undefined): void => {
      clearTimeout(timer);
      resolve({ status, ms: performance.now() - began });
    };
    const asked = request(`${origin}${path}`, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode));
      answer.on('error', () => end(undefined));
    });
    const timer = setTimeout(() => {
      end(undefined);
      asked.destroy();
    }, timeoutMs);
    asked.on('error', () => end(undefined));
    asked.end();
  });
}
