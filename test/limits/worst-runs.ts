import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { slowdown } from '../support/machine-speed.js';
import { program } from '../support/programs.js';
import type { Sent, ToSend } from '../support/send-worker.js';
import { startServer, type TestServer } from '../support/server.js';
import { collectGarbage, longestWork } from '../support/watched-loop.js';
import { organisation, type Organisation } from '../guarantees/organisations.js';
import { sampleOf, type Sample } from '../guarantees/requests.js';
import { worstQueries, type Worst } from './worst-bodies.js';
import { IMPORT_ROUTES } from './worst-imports.js';

export const BOUND_MS = 50;
/** A single excess may be caused by garbage collection or compilation; expensive work exceeds the limit each time. */
const TRIES = 8;
/** From the third try on, longer each time: what shares the machine's processors may slow it down for seconds. */
const PAUSE_MS = 1_500;

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);

/**
 * The endpoints in three parts, because parallel workers share the tests of a run by files: the imports, the others that
 * use the data plane, and the rest.
 */
export const PARTS = Object.groupBy(endpoints, ({ route, calls }) =>
  IMPORT_ROUTES.includes(route) ? 'imports' : (calls ?? []).length > 0 ? 'contracts' : 'others',
);

type BodiesOf = (endpoint: Endpoint, sample: Sample) => Worst[];

/** A server for the tests of a `describe`, and a thread that sends it the most expensive requests. */
export function watchedServer(): { slowOf(endpoint: Endpoint, bodiesOf: BodiesOf): Promise<string[]> } {
  let server: TestServer;
  let org: Organisation;
  let thread: Worker;
  before(async () => {
    server = await startServer({
      env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0', RATE_LIMIT_PER_MINUTE: '0' },
      checkAnswers: false,
    });
    org = await organisation(server);
    thread = new Worker(program('test/support/send-worker.ts'), { execArgv: [] });
    slowdown(); // once beforehand, so that the functions of the reference work are compiled
  });
  after(async () => {
    await thread.terminate();
    await server.stop();
  });

  /** A request such as a sign-out may have ended the session. */
  const sample = async (route: string): Promise<Sample> => {
    if ((await org.client.get('/auth/me')).status !== 200) org = await organisation(server);
    return sampleOf(route, org);
  };

  const send = async (toSend: ToSend): Promise<Sent> => {
    // Handed over and not copied: most bodies have 16 MB.
    thread.postMessage(toSend, toSend.body ? [toSend.body.buffer] : []);
    const [sent] = (await once(thread, 'message')) as [Sent];
    return sent;
  };

  /**
   * Sends a request until the server was not blocked for longer than the bound. Times of the first try count as they
   * were measured. If that is too long, the next ones count in relation to the speed that the machine had before and
   * after the request, whichever is higher: 75 ms at two thirds of the nominal speed are 50 ms.
   */
  const blocked = async (label: string, make: () => Promise<ToSend>): Promise<string | undefined> => {
    let least = Infinity;
    let last: Sent | undefined;
    const measured: string[] = [];
    for (let tries = 0; tries < TRIES && least > BOUND_MS; tries++) {
      if (tries > 1) await sleep((tries - 1) * PAUSE_MS);
      const toSend = await make();
      if (tries > 0) collectGarbage();
      const slowBefore = tries === 0 ? 1 : slowdown();
      const ms = await longestWork(async () => {
        last = await send(toSend);
      });
      const slow = tries === 0 ? 1 : Math.min(slowBefore, slowdown());
      least = Math.min(least, ms / slow);
      measured.push(slow === 1 ? ms.toFixed(0) : `${ms.toFixed(0)} / ${slow.toFixed(1)}`);
    }
    const isBroken = last === undefined || last.status >= 500;
    const what = `${label}: ${measured.join(', ')} ms, ${last?.status} ${last?.text.slice(0, 100)}`;
    if (process.env['WORST'])
      process.stdout.write(`${least > BOUND_MS || isBroken ? '!!' : '  '} ${least.toFixed(0).padStart(5)} ${what}\n`);
    return least > BOUND_MS || isBroken ? what : undefined;
  };

  const addressed = (route: string, { params, query }: Sample, search?: string): Pick<ToSend, 'url' | 'method'> => {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? name));
    const text = search ?? new URLSearchParams(query ?? {}).toString();
    return { method, url: `${server.client.base}${path}${text === '' ? '' : `?${text}`}` };
  };
  const headersOf = ({ needs }: Endpoint, { headers }: Sample): Record<string, string> => ({
    'Content-Type': 'application/json',
    ...(needs === 'public' ? {} : { Authorization: `Bearer ${org.token}` }),
    ...headers,
  });

  return {
    async slowOf(endpoint, bodiesOf) {
      const { route } = endpoint;
      // Not a reminder for each of the thousands of lines that earlier requests created, again for each body.
      if (route.startsWith('POST /collections/')) org = await organisation(server);
      const slow: (string | undefined)[] = [];
      const bodies = route.startsWith('GET ') ? [] : bodiesOf(endpoint, await sample(route));
      for (const { label } of bodies) {
        slow.push(
          await blocked(`${route}: ${label}`, async () => {
            const fresh = await sample(route);
            const body = bodiesOf(endpoint, fresh)
              .find((worst) => worst.label === label)
              ?.text();
            return { ...addressed(route, fresh), headers: headersOf(endpoint, fresh), body: bytesOf(body) };
          }),
        );
      }
      for (const { label, text } of worstQueries(endpoint)) {
        slow.push(
          await blocked(`${route}: ${label}`, async () => {
            const fresh = await sample(route);
            return {
              ...addressed(route, fresh, text()),
              headers: headersOf(endpoint, fresh),
              body: bytesOf(fresh.body && JSON.stringify(fresh.body)),
            };
          }),
        );
      }
      return slow.filter((fault) => fault !== undefined);
    },
  };
}

/** In memory of their own. */
const bytesOf = (text: string | undefined): Uint8Array<ArrayBuffer> | undefined =>
  text === undefined ? undefined : new TextEncoder().encode(text);
