// Steady requests to a running server, for the check of a rolling update: PASSWORD=… node steady.mjs BASE
// Reads and keyed writes at a fixed rate until SIGTERM, over connections that are kept and over new ones, each sent once. Then compares
// the contracts with the writes, and prints counts as JSON. Exits with 1 if a request failed or a write is missing or there twice.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

const [base] = process.argv.slice(2);
if (base === undefined) throw new Error('usage: PASSWORD=… node steady.mjs BASE');
const EVERY_MS = 100;
/** On a machine that is too slow for the rate fewer are sent, so that no request waits for its turn here. */
const MOST_AT_ONCE = 20;
const DEADLINE_MS = 30_000;
const kept = new Agent({ keepAlive: true, maxSockets: MOST_AT_ONCE });

function call(method, path, { token, body, headers = {}, agent = false } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(`${base}/api/v1${path}`, {
      method,
      agent,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    sent.on('error', reject).on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('error', reject).on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => {
        if (answer.statusCode >= 200 && answer.statusCode < 300) resolve(JSON.parse(text));
        else reject(new Error(`${answer.statusCode} ${text.slice(0, 300)}`));
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const { accessToken: token } = await call('POST', '/auth/login', {
  body: { tenantSlug: 'acme', email: 'ann@acme.example', password: process.env.PASSWORD },
});
const { user, subjects } = await call('GET', '/auth/me', { token });
const run = randomUUID().slice(0, 8);
const contract = (number) => ({
  archiveCode: `${run}-${number}`,
  contractNo: `${run}-${number}`,
  projectName: 'A rolling update',
  type: 'lease',
  subjectId: subjects[0].id,
  ownerId: user.id,
  partyA: 'Harbour Works Ltd',
  partyB: 'Acme Machinery',
  equipmentName: 'Excavator',
  equipmentModel: 'XE-215',
  quantity: 1,
  unitPrice: 60000,
  currencyCode: 'CNY',
  paymentMethod: 'bank transfer',
  payeeAccount: '6222020200112233445',
  startDate: '2026-01-01',
  endDate: '2027-12-31',
  payments: [{ period: '2026-Q1', dueDate: '2026-01-10', amount: 60000 }],
});

let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
const counts = { reads: 0, writes: 0, longestMs: 0 };
const failures = [];
const written = new Map();
const running = new Set();

async function one(number) {
  const agent = number % 2 === 0 ? kept : false;
  const isWrite = number % 5 === 0;
  const began = performance.now();
  const at = new Date().toISOString();
  try {
    if (isWrite) {
      const headers = { 'Idempotency-Key': randomUUID() };
      const { id } = await call('POST', '/contracts', { token, body: contract(number), headers, agent });
      written.set(id, `${run}-${number}`);
      counts.writes += 1;
    } else {
      const [id] = [...written.keys()].slice(-1);
      await (id === undefined
        ? call('GET', '/contracts?pageSize=5', { token, agent })
        : call('GET', `/contracts/${id}`, { token, agent }));
      counts.reads += 1;
    }
  } catch (error) {
    const connection = agent ? 'kept' : 'new';
    failures.push(
      `${at} ${isWrite ? 'write' : 'read'} over a ${connection} connection: ${error.code ?? ''} ${error.message}`,
    );
  }
  counts.longestMs = Math.max(counts.longestMs, Math.round(performance.now() - began));
}

const before = await call('GET', '/contracts?pageSize=1', { token });
const began = performance.now();
for (let number = 0; !stopped; number += 1) {
  const work = one(number).finally(() => running.delete(work));
  running.add(work);
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  while (running.size >= MOST_AT_ONCE) await Promise.race(running);
}
await Promise.all(running);
for (const [id, contractNo] of written) {
  const found = await call('GET', `/contracts/${id}`, { token, agent: kept });
  if (found.contractNo !== contractNo) failures.push(`${id} is ${found.contractNo}, not ${contractNo}`);
}
const { total } = await call('GET', '/contracts?pageSize=1', { token });
if (total !== before.total + written.size)
  failures.push(`${total} contracts, of which ${before.total} were there, after ${written.size} writes`);
console.log(
  JSON.stringify({
    ...counts,
    seconds: Math.round((performance.now() - began) / 1000),
    failed: failures.length,
    failures: failures.slice(0, 20),
  }),
);
process.exit(failures.length === 0 ? 0 : 1);
