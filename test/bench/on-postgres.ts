import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase, whyNoPostgres } from '../support/postgres.js';
import { chainOnPostgres } from './audit-chained.js';
import { loadCases, type Subject } from './cases.js';
import { CACHE, enterContracts, registerTenants, todayOf } from './dataset.js';
import { drawnCases, drawnOf, type Drawn } from './drawn-cases.js';
import { postgresFacts } from './facts.js';
import { importRows } from './import.js';
import { started, tokensOn, type Run } from './measured.js';
import type { Sides } from './measure.js';
import { memoryAfterLoad } from './memory.js';
import { copiedOf, startRawProgram } from './raw-program.js';
import { fillPostgres } from './raw/fill.js';
import { postgresStore } from './raw/postgres.js';
import { startService } from './service.js';
import { CASES, POSTGRES_CONTRACTS, SECONDS } from './settings.js';

const ON_POSTGRES: ReadonlySet<string> = new Set([
  'list',
  'lists',
  'lists-busy',
  'members',
  'get',
  'get-varied',
  'create',
  'create-varied',
  'receipt',
  'import',
  'memory',
]);
const AT_LEAST = 0.5;
const PREFIX = 'PostgreSQL: ';

/** The product and the raw program on one server, each with tables of its own in the same database. */
export async function onPostgres({ rows, undo, measured }: Run): Promise<void> {
  const missing = await whyNoPostgres();
  if (missing !== undefined) return console.error(`PostgreSQL is left out: ${missing}`);
  console.error(`data set of ${POSTGRES_CONTRACTS} contracts on PostgreSQL`);
  await mkdir(CACHE, { recursive: true });
  const database = await createDatabase({ durable: true });
  const dataDir = await mkdtemp(join(CACHE, 'postgres-'));
  undo.push(database.drop, () => rm(dataDir, { recursive: true, force: true }));
  const env = { TENANT_DATABASE_URL: database.url };
  const tenant = (await registerTenants(dataDir, POSTGRES_CONTRACTS, env)).bench;
  await enterContracts(database.url, tenant);
  await chainOnPostgres(dataDir, { env, adminUrl: database.adminUrl });
  const today = todayOf(tenant);
  const subject: Subject = { tenant, today, facts: await postgresFacts(database.adminUrl, tenant, today) };
  await fillPostgres(database.adminUrl, copiedOf(tenant, today));
  const lists = await listsOn(database.adminUrl, subject);

  const service = await started(startService(dataDir, env), undo);
  const tokens = await tokensOn(service.origin);
  const raw = await started(
    startRawProgram(subject, {
      database: database.adminUrl,
      platformFile: join(dataDir, 'platform.db'),
      tokens,
      lists: lists.all,
    }),
    undo,
  );
  const sides: Sides = { ours: service, raw, token: tokens.owner, tokens, seconds: SECONDS };
  const asked = [...CASES].some((key) => ON_POSTGRES.has(key)) ? CASES : ON_POSTGRES;
  const isWanted = (key: string): boolean => asked.has(key);
  const drawn = { rows, isWanted, subject, prefix: PREFIX, atLeast: AT_LEAST };
  await drawnCases(lists, sides, drawn);
  await measured(
    loadCases(subject)
      .filter(({ key }) => ON_POSTGRES.has(key) && isWanted(key))
      .map((one) => ({ ...one, name: `${PREFIX}${one.name}`, atLeast: AT_LEAST })),
    sides,
  );
  if (isWanted('lists-busy')) await drawnCases(lists, sides, { ...drawn, isBusy: true });
  if (isWanted('memory')) rows.push(...(await memoryAfterLoad(service, PREFIX)));
  if (isWanted('import')) rows.push(...(await importRows(sides, subject, PREFIX)));
}

/** Draws the lists, after the statistics of all tables were updated. */
async function listsOn(adminUrl: string, subject: Subject): Promise<Drawn> {
  const store = postgresStore(adminUrl);
  try {
    await store.run('VACUUM ANALYZE');
    return await drawnOf(subject, (of) => store.count(of));
  } finally {
    await store.end();
  }
}
