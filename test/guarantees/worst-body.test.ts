import { expect } from 'chai';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { program } from '../support/programs.js';
import type { Sent, ToSend } from '../support/send-worker.js';
import { startServer, type TestServer } from '../support/server.js';
import { collectGarbage, longestWork } from '../support/watched-loop.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, type Sample } from './requests.js';
import { worstBodies, worstQueries, type Worst } from './worst-bodies.js';
import { prepareWorkbooks, worstImports } from './worst-imports.js';

const BOUND_MS = 50;
/** A single excess may be caused by garbage collection or compilation; expensive work exceeds the limit each time. */
const TRIES = 5;

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
const bodiesOf = (endpoint: Endpoint, sample: Sample): Worst[] => [
  ...worstImports(endpoint.route, sample),
  ...worstBodies(endpoint, sample),
];

describe('the most expensive body', () => {
  let server: TestServer;
  let org: Organisation;
  let thread: Worker;
  before(async () => {
    server = await startServer({
      env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0', RATE_LIMIT_PER_MINUTE: '0' },
      checkAnswers: false,
    });
    org = await organisation(server);
    await prepareWorkbooks();
    thread = new Worker(program('test/support/send-worker.ts'), { execArgv: [] });
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
    thread.postMessage(toSend);
    const [sent] = (await once(thread, 'message')) as [Sent];
    return sent;
  };

  const blocked = async (label: string, make: () => Promise<ToSend>): Promise<string | undefined> => {
    let least = Infinity;
    let last: Sent | undefined;
    for (let tries = 0; tries < TRIES && least > BOUND_MS; tries++) {
      if (tries > 0) collectGarbage();
      const toSend = await make();
      least = Math.min(
        least,
        await longestWork(async () => {
          last = await send(toSend);
        }),
      );
    }
    if (process.env['WORST'])
      process.stdout.write(
        `${least > BOUND_MS ? '!!' : '  '} ${least.toFixed(0).padStart(5)} ${last?.status} ${label} ${process.env['WORST'] === '2' || least > BOUND_MS ? (last?.text ?? '').slice(0, 120) : ''}\n`,
      );
    return least > BOUND_MS
      ? `${label}: ${least.toFixed(0)} ms, ${last?.status} ${last?.text.slice(0, 100)}`
      : undefined;
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

  for (const endpoint of endpoints) {
    const { route } = endpoint;
    it(`of ${route} delays no other request by more than ${BOUND_MS} ms`, async () => {
      const slow: (string | undefined)[] = [];
      const bodies = route.startsWith('GET ') ? [] : bodiesOf(endpoint, await sample(route));
      for (const { label } of bodies) {
        slow.push(
          await blocked(`${route}: ${label}`, async () => {
            const fresh = await sample(route);
            const body = bodiesOf(endpoint, fresh)
              .find((worst) => worst.label === label)
              ?.text();
            return { ...addressed(route, fresh), headers: headersOf(endpoint, fresh), body };
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
              body: fresh.body && JSON.stringify(fresh.body),
            };
          }),
        );
      }
      expect(slow.filter((fault) => fault !== undefined)).to.deep.equal([]);
    }).timeout(300_000); // some bodies have megabytes
  }
});
