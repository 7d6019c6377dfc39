import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { createDatabase, whyNoPostgres } from '../support/postgres.js';
import { contractInput } from './contract-input.js';
import { CACHE, enterContracts, registerTenants, type Tenant } from './dataset.js';
import { ask, openLoop, percentile, WrongAnswer, type Asked } from './load.js';
import type { Row } from './report.js';
import { signIn, startService } from './service.js';

const CONTRACTS = 2_000;
/** Of each contract; all are overdue. */
const LINES = 5;
const MOST_SECONDS = 30;
const MOST_LIST_MS = 100;
/** Lists are requested at this interval, whether or not the previous one was answered. */
const EVERY_MS = 20;
const LIST: Asked = { method: 'GET', path: '/api/v1/contracts?sort=endDate&page=3&pageSize=20' };

/** A run over 10 000 overdue lines, each with a message of its own, with its effect on concurrent list requests. */
export async function reminderRows(): Promise<Row[]> {
  await mkdir(CACHE, { recursive: true });
  const rows = await rowsOn('SQLite', undefined);
  const missing = await whyNoPostgres();
  if (missing !== undefined) console.error(`reminders on PostgreSQL are left out: ${missing}`);
  else {
    const database = await createDatabase({ durable: true });
    try {
      rows.push(...(await rowsOn('PostgreSQL', database.url)));
    } finally {
      await database.drop();
    }
  }
  return rows;
}

async function rowsOn(kind: string, tenantUrl: string | undefined): Promise<Row[]> {
  const dataDir = await mkdtemp(join(CACHE, 'reminders-'));
  try {
    const env = tenantUrl === undefined ? {} : { TENANT_DATABASE_URL: tenantUrl };
    const tenant = (await registerTenants(dataDir, CONTRACTS, env)).bench;
    await enterContracts(tenantUrl ?? `sqlite:${join(dataDir, 'tenant.db')}`, tenant, overdueContract);
    const service = await startService(dataDir, { RATE_LIMIT_PER_MINUTE: '0', ...env });
    try {
      return await measured(kind, service.origin);
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

function overdueContract(
  i: number,
  { tenant, today }: { readonly tenant: Tenant; readonly today: Day },
): ContractInput {
  const {
    payments: _,
    workflowStage: _stage,
    ...contract
  } = contractInput(i, { count: tenant.contracts, today, owner: tenant });
  const payments = Array.from({ length: LINES }, (_line, n) => ({
    period: `${n + 1}`,
    dueDate: addDays(today, -1 - ((i * LINES + n) % 80)),
    amount: 1_000,
  }));
  return { ...contract, payments };
}

async function measured(kind: string, origin: string): Promise<Row[]> {
  const { api, token } = await signIn(origin, 'bench');
  // Without a mail server a message fails at once, so that the time is that of the decisions.
  const channel = await api.post('/tenant-admin/notification-channels', {
    kind: 'email',
    name: 'Receivables',
    target: 'receivables@example.com',
  });
  if (channel.status !== 201) throw new WrongAnswer(`reminders: ${channel.text}`);
  for (let i = 0; i < 20; i++) await ask(origin, LIST, { token }); // warm
  const lists = openLoop(origin, () => LIST, { token, everyMs: EVERY_MS });
  const began = performance.now();
  const run = JSON.parse(
    await ask(origin, { method: 'POST', path: '/api/v1/collections/run-due-reminders' }, { token }),
  ) as { readonly evaluated: number; readonly queued: number };
  const seconds = (performance.now() - began) / 1000;
  const times = (await lists.stop()).toSorted((a, b) => a - b);
  if (run.queued !== CONTRACTS * LINES)
    throw new WrongAnswer(`reminders: ${run.queued} of ${CONTRACTS * LINES} lines were decided on`);
  const p99 = percentile(times, 0.99);
  const row = { key: 'reminders', raw: null, ratio: null };
  return [
    {
      ...row,
      name: `${kind}: ${CONTRACTS * LINES} due lines decided`,
      unit: 's',
      figure: seconds,
      target: `≤ ${MOST_SECONDS} s`,
      met: seconds <= MOST_SECONDS,
      details: { run: { evaluated: run.evaluated, queued: run.queued } },
    },
    {
      ...row,
      name: `${kind}: list meanwhile, p99`,
      unit: 'ms',
      figure: p99,
      target: `≤ ${MOST_LIST_MS} ms`,
      met: p99 <= MOST_LIST_MS,
      details: { requests: times.length, p50: percentile(times, 0.5), longest: times.at(-1) },
    },
  ];
}
