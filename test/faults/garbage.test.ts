import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { client, type Answer, type Client } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { aContract, aLine } from '../support/samples.js';
import { install, METRICS_TOKEN, register, type Installation } from './installation.js';
import type { Owner } from './ledger.js';

/** Few in the normal suite; use `GARBAGE_REQUESTS=200000` for a long run. */
const REQUESTS = Number(process.env['GARBAGE_REQUESTS'] ?? 3_000);
const IN_FLIGHT = 32;

/**
 * Native objects are destroyed during garbage collection, which is when incompatibilities of driver and Node.js crash
 * the process.
 */
const COLLECT_EACH_SECOND = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent('setInterval(globalThis.gc, 1_000).unref();')}`,
];

describe('a server whose garbage is collected every second', () => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`on ${kind}`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(120_000 + REQUESTS * 20);

      let installation: Installation | undefined;
      let server: Running | undefined;
      after('remove the installation', async () => {
        await server?.kill();
        await installation?.remove();
      });

      it(`answers ${REQUESTS} requests of mixed kinds, and exits 0 on SIGTERM`, async () => {
        installation = await install(kind, { durable: false });
        server = await installation.start(COLLECT_EACH_SECOND);
        const { token, owner } = await register(server.origin);
        const unexpected = await mixedRequests(client(server.origin, token), owner);
        expect({ unexpected, running: server.running() }).to.deep.equal({ unexpected: [], running: true });
        expect(await server.stop()).to.equal(0);
      });
    });
  }
});

interface Known {
  readonly contractId: string;
  readonly lineId: string;
}

/** Sends the requests concurrently; returns those with an unexpected status, at most ten. */
async function mixedRequests(api: Client, owner: Owner): Promise<string[]> {
  const known = await Promise.all(Array.from({ length: 20 }, () => enter(api, owner)));
  const unexpected: string[] = [];
  let sent = 0;
  const work = async (): Promise<void> => {
    for (let i = sent++; i < REQUESTS && unexpected.length < 10; i = sent++) {
      const [name, expected, send] = kindOf(i);
      const { status, text } = await insisting(() =>
        send(api, { i, owner, ...(known[i % known.length] ?? { contractId: '', lineId: '' }) }),
      ).catch(withoutAnswer);
      if (status !== expected) unexpected.push(`${name} (${i}): ${status} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return unexpected;
}

/** A connection that breaks off is reported with the request that it carried. */
const withoutAnswer = (error: unknown) => ({ status: 'no answer', text: inspect(error) });

/**
 * Repeats, like a client, requests that are refused because of load or because the first one with the key is still
 * running.
 */
async function insisting(send: () => Promise<Answer<unknown>>): Promise<Answer<unknown>> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (![409, 429, 503].includes(answer.status) || tries === 50) return answer;
    await sleep(100);
  }
}

async function enter(api: Client, owner: Owner): Promise<Known> {
  const { status, text, body } = await api.post<{ id: string; payments: { id: string }[] }>(
    '/contracts',
    aContract({ ...owner, payments: [aLine({ dueDate: '2026-01-31' })] }),
  );
  if (status !== 201) throw new Error(text);
  return { contractId: body.id, lineId: body.payments[0]?.id ?? '' };
}

type Kind = readonly [
  name: string,
  status: number,
  send: (api: Client, about: Known & { readonly i: number; readonly owner: Owner }) => Promise<Answer<unknown>>,
];

const PAPER = '设备买卖合同\n合同编号：HT-2026-09\n合同总价：人民币壹拾贰万元整（¥120,000.00）\n签订日期：2026年3月1日';

/** One request in twenty is heavy. */
function kindOf(i: number): Kind {
  const kind = i % 20 === 0 ? HEAVY[(i / 20) % HEAVY.length] : LIGHT[i % LIGHT.length];
  if (!kind) throw new Error('there is a kind for every number');
  return kind;
}

const LIGHT: readonly Kind[] = [
  ['list', 200, (api, { i }) => api.get('/contracts', { query: { page: 1 + (i % 5), sort: 'nextDueDate' } })],
  ['get', 200, (api, { contractId }) => api.get(`/contracts/${contractId}`)],
  ['receipt', 200, (api, { lineId, i }) => api.patch(`/payments/${lineId}/receipt`, { receivedAmount: i % 900 })],
  ['search', 200, (api) => api.get('/contracts', { query: { q: '远东机械' } })],
  ['payments', 200, (api) => api.get('/payments', { query: { tab: 'overdue' } })],
  ['stats', 200, (api) => api.get('/payments/stats')],
  ['session', 200, (api) => api.get('/auth/me')],
  ['history', 200, (api, { contractId }) => api.get(`/contracts/${contractId}/history`)],
  ['summary', 200, (api) => api.get('/analytics/summary')],
  ['unknown', 404, (api) => api.get('/contracts/00000000-0000-7000-8000-000000000000')],
  ['invalid', 400, (api) => api.post('/contracts', { quantity: 'many' })],
  ['refused', 401, (api) => api.get('/auth/me', { token: 'x.y.z' })],
  ['list of all', 200, (api) => api.get('/contracts', { query: { pageSize: 100 } })],
  [
    'note',
    201,
    (api, { contractId, i }) =>
      api.post(
        `/contracts/${contractId}/notes`,
        { label: 'Seen', value: `visit ${i % 40}` },
        { headers: { 'Idempotency-Key': `note-${i % 40}-${contractId}` } },
      ),
  ],
  ['metrics', 200, (api) => api.raw('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } })],
];

/** The requests exercise threads, streams, cryptography and native code. */
const HEAVY: readonly Kind[] = [
  [
    'create',
    201,
    (api, { owner }) => api.post('/contracts', aContract({ ...owner, payments: [aLine(), aLine({ period: '2' })] })),
  ],
  [
    'export',
    200,
    (api, { contractId }) => api.get('/contracts/export', { query: { ids: contractId, profile: 'full' } }),
  ],
  ['extraction', 201, (api) => api.post('/contracts/extract', { text: PAPER })],
  ['import', 200, (api, { owner }) => api.post('/contracts/import', { rows: [aContract(owner)] })],
  [
    'sign-in',
    200,
    (api) =>
      api.post('/auth/login', {
        tenantSlug: 'ledger',
        email: 'owner@example.com',
        password: 'a book needs no secrets 42',
      }),
  ],
  ['change', 200, (api, { contractId, i }) => api.patch(`/contracts/${contractId}`, { remark: `seen ${i}` })],
];
