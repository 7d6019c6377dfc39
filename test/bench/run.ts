import { cpus } from 'node:os';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aiGatewayRows } from './ai-gateway.js';
import { createDatabase, stopPostgres, whyNoPostgres } from '../support/postgres.js';
import { startProcess, type Running } from '../support/process.js';
import { datasetFolder, CACHE, copyOf, enterContracts, registerTenants, todayOf, type Dataset } from './dataset.js';
import { loadCases, type LoadCase, type Subject } from './cases.js';
import { enumerationRows } from './enumeration.js';
import { copyOfDatabase, passwordHash, postgresFacts, sqliteFacts } from './facts.js';
import { WrongAnswer } from './load.js';
import { exportRows } from './export.js';
import { fileRows } from './files.js';
import { importRows } from './import.js';
import { linkRows } from './link.js';
import { coldStart, latencyRows, loadRow, type Sides } from './measure.js';
import { reminderRows } from './reminders.js';
import type { RawOptions } from './raw.js';
import { table, type Row } from './report.js';
import { credentials, signIn, startService } from './service.js';

/** With four lines each, one in a hundred with twelve. */
const CONTRACTS = numberOf('BENCH_CONTRACTS', 100_000);
/** Seconds per round of one side of one case. */
const SECONDS = numberOf('BENCH_SECONDS', 2);
/** The data set on PostgreSQL is created for each run, so it is smaller. */
const POSTGRES_CONTRACTS = Math.min(CONTRACTS, 10_000);
/** If empty, all cases are measured; `postgres` adds the cases on PostgreSQL. */
const CASES = new Set(
  (process.env['BENCH_CASES'] ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== ''),
);
/** Cases that create their own accounts and need no contracts. */
const WITHOUT_DATASET: ReadonlySet<string> = new Set(['ai-gateway', 'enumeration', 'files', 'reminders']);
const needsDataset = CASES.size === 0 || [...CASES].some((key) => !WITHOUT_DATASET.has(key));
const POSTGRES_CASES: ReadonlySet<string> = new Set(['list', 'get', 'create', 'receipt', 'import']);
const POSTGRES_AT_LEAST = 0.5;

// This file also starts itself as the raw program, in a separate process.
if (process.env['RAW_SETTING'] === undefined) await bench();
else
  (await import('./raw.js')).startRaw(
    JSON.parse(process.env['RAW_SETTING']) as RawOptions,
    Number(process.env['PORT']),
  );

async function bench(): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  const rows: Row[] = [];
  try {
    if (isWanted('ai-gateway')) rows.push(...aiGatewayRows());
    if (isWanted('enumeration')) rows.push(...(await enumerationRows()));
    if (isWanted('files')) rows.push(...(await fileRows()));
    if (isWanted('reminders')) rows.push(...(await reminderRows()));
    if (needsDataset) {
      console.error(`data set of ${CONTRACTS} contracts`);
      const { folder, dataset } = await datasetFolder(CONTRACTS);
      if (isWanted('link')) rows.push(...(await linkRows(folder, await subjectOf(folder, dataset))));
      if (CASES.size === 0 || [...CASES].some((key) => key !== 'link' && !WITHOUT_DATASET.has(key)))
        await onSqlite(folder, dataset, rows, undo);
    }
    if (isWanted('postgres')) await onPostgres(rows, undo);
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    console.error(`WRONG ANSWER: ${error.message}`);
    process.exitCode = 1;
  } finally {
    for (const step of undo.toReversed()) await step();
    await stopPostgres();
  }
  await report(rows);
}

async function onSqlite(
  folder: string,
  dataset: Dataset,
  rows: Row[],
  undo: (() => Promise<unknown>)[],
): Promise<void> {
  const [ours, theirs] = [await copyOf(folder, 'ours'), await copyOf(folder, 'raw')];
  undo.push(
    () => rm(ours, { recursive: true, force: true }),
    () => rm(theirs, { recursive: true, force: true }),
  );
  if (isWanted('start')) rows.push(...(await coldStart(ours)));
  const subject = await subjectOf(theirs, dataset);
  const service = await started(startService(ours), undo);
  const raw = await started(startRawProgram(join(theirs, 'tenant.db'), join(theirs, 'platform.db'), subject), undo);
  const sides: Sides = { ours: service, raw, token: (await signIn(service.origin, 'bench')).token, seconds: SECONDS };
  const smallToken = (await signIn(service.origin, 'bench-small')).token;
  rows.push(...(await latencyRows(sides, { smallToken, contracts: CONTRACTS, isWanted })));
  if (isWanted('export')) rows.push(...(await exportRows(sides, CONTRACTS)));
  await measured(
    loadCases(subject).filter(({ key }) => isWanted(key)),
    sides,
    rows,
    '',
  );
  if (isWanted('import')) rows.push(...(await importRows(sides, subject, ''))); // last, because it changes the data of both sides
}

async function subjectOf(folder: string, { bench: tenant }: Dataset): Promise<Subject> {
  const today = todayOf(tenant);
  return { tenant, today, facts: await sqliteFacts(join(folder, 'tenant.db'), tenant, today) };
}

async function onPostgres(rows: Row[], undo: (() => Promise<unknown>)[]): Promise<void> {
  const missing = await whyNoPostgres();
  if (missing !== undefined) return console.error(`PostgreSQL is left out: ${missing}`);
  console.error(`data set of ${POSTGRES_CONTRACTS} contracts on PostgreSQL`);
  const database = await createDatabase({ durable: true });
  const dataDir = await mkdtemp(join(CACHE, 'postgres-'));
  undo.push(database.drop, () => rm(dataDir, { recursive: true, force: true }));
  const env = { TENANT_DATABASE_URL: database.url };
  const tenant = (await registerTenants(dataDir, POSTGRES_CONTRACTS, env)).bench;
  await enterContracts(database.url, tenant);
  const copy = await copyOfDatabase(database.adminUrl);
  undo.push(copy.drop);
  const today = todayOf(tenant);
  const subject: Subject = { tenant, today, facts: await postgresFacts(copy.adminUrl, tenant, today) };
  const service = await started(startService(dataDir, env), undo);
  const raw = await started(startRawProgram(copy.adminUrl, join(dataDir, 'platform.db'), subject), undo);
  const sides: Sides = { ours: service, raw, token: (await signIn(service.origin, 'bench')).token, seconds: SECONDS };
  const asked = [...CASES].some((key) => POSTGRES_CASES.has(key)) ? CASES : POSTGRES_CASES;
  const cases = loadCases(subject).filter(({ key }) => POSTGRES_CASES.has(key) && asked.has(key));
  await measured(
    cases.map((one) => ({ ...one, atLeast: POSTGRES_AT_LEAST })),
    sides,
    rows,
    'PostgreSQL: ',
  );
  if (asked.has('import')) rows.push(...(await importRows(sides, subject, 'PostgreSQL: ')));
}

async function measured(cases: readonly LoadCase[], sides: Sides, rows: Row[], prefix: string): Promise<void> {
  for (const one of cases) {
    const row = await loadRow({ ...one, name: `${prefix}${one.name}` }, sides);
    console.error(table([row]).split('\n')[1]);
    rows.push(row);
  }
}

async function started(starting: Promise<Running>, undo: (() => Promise<unknown>)[]): Promise<Running> {
  const running = await starting;
  undo.push(running.stop);
  return running;
}

function startRawProgram(database: string, platformFile: string, { tenant, today, facts }: Subject): Promise<Running> {
  const { tenantId, userId, userName, subjectId, subjectName, reminderLeadDays } = tenant;
  const hash = passwordHash(platformFile, credentials('bench').email);
  const options: RawOptions = {
    database,
    tenantId,
    userId,
    userName,
    subjectId,
    subjectName,
    reminderLeadDays,
    today,
    totals: facts.totals,
    lifecycle: facts.lifecycle,
    passwordHash: hash,
    ownerEmail: credentials('bench').email,
  };
  return startProcess(['--import=tsx', import.meta.filename], {
    path: '/api/v1/health',
    env: { RAW_SETTING: JSON.stringify(options) },
  });
}

async function report(rows: readonly Row[]): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const file = join(CACHE, 'bench-result.json');
  const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model };
  await writeFile(
    file,
    JSON.stringify(
      { at: new Date().toISOString(), machine, contracts: needsDataset ? CONTRACTS : 0, seconds: SECONDS, rows },
      undefined,
      2,
    ),
  );
  console.log(
    `${table(rows)}\n\n${needsDataset ? `${CONTRACTS} contracts, ` : ''}${machine.cores} cores, Node ${machine.node}; as JSON in ${file}`,
  );
}

function isWanted(key: string): boolean {
  return CASES.size === 0 || CASES.has(key);
}

function numberOf(name: string, usual: number): number {
  const given = Number(process.env[name] ?? usual);
  if (!Number.isSafeInteger(given) || given < 1) throw new RangeError(`${name} must be a whole number above 0`);
  return given;
}
