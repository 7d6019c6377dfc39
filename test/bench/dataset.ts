import SqliteConnection from 'better-sqlite3';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { checksumOf } from '../../data-plane-agent/base/database/migrator.js';
import { addDays, todayIn, type Day } from '../../data-plane-agent/base/day.js';
import { generateKeyRingText, parseKeyRing, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { root } from '../support/source.js';
import { chainOnSqlite } from './audit-chained.js';
import { contractInput, tasksOf, type Owner } from './contract-input.js';
import type { Client } from '../support/http.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { addFields, addMembers, addSubjects, addTypes, type Member } from './members.js';
import { credentials, register, signIn, startService, type Slug } from './service.js';

/** Where data sets and results are kept between runs: the usual cache folder of tools. */
export const CACHE = join(root, 'node_modules/.cache/duebook-bench');
/** Increment when data sets become different. */
const VERSION = 4;

export interface Tenant extends Owner {
  readonly tenantId: string;
  /** The owner of the organisation, who enters the contracts. */
  readonly userId: string;
  readonly userName: string;
  readonly email: string;
  /** Members with a scope of their own, or with hidden fields. */
  readonly scoped: readonly Member[];
  readonly owners: readonly Member[];
  readonly timeZone: string;
  readonly reminderLeadDays: number;
  readonly contracts: number;
}
export type Dataset = Readonly<Record<Slug, Tenant>>;

/** The data folder of a server with the data set of each tenant. Created once per size and schema, then copied. */
export async function datasetFolder(
  contracts: number,
): Promise<{ readonly folder: string; readonly dataset: Dataset }> {
  const schema = sha256Hex([...TENANT_MIGRATIONS, ...PLATFORM_MIGRATIONS].map(checksumOf).join()).slice(0, 12);
  const folder = join(CACHE, `dataset-${contracts}-${VERSION}-${schema}`);
  const known = await readFile(join(folder, 'dataset.json'), 'utf8').catch(() => undefined); // not created yet
  if (known !== undefined) return { folder, dataset: JSON.parse(known) as Dataset };
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  try {
    const dataset = await createDataset(making, contracts);
    await writeFile(join(making, 'dataset.json'), JSON.stringify(dataset));
    await rename(making, folder);
    return { folder, dataset };
  } finally {
    await rm(making, { recursive: true, force: true }); // exists only after a failure
  }
}

/** A copy that may be changed. */
export async function copyOf(folder: string, name: string): Promise<string> {
  const copy = await mkdtemp(join(CACHE, `${name}-`));
  await cp(folder, copy, { recursive: true });
  return copy;
}

/** Tenants are registered through the API; their contracts are created by calling the operation of the data plane. */
async function createDataset(dataDir: string, contracts: number): Promise<Dataset> {
  const dataset = await registerTenants(dataDir, contracts);
  const file = join(dataDir, 'tenant.db');
  for (const tenant of Object.values(dataset)) await enterContracts(`sqlite:${file}`, tenant);
  await chainOnSqlite(dataDir, file);
  return dataset;
}

export async function registerTenants(
  dataDir: string,
  contracts: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Dataset> {
  const service = await startService(dataDir, env);
  try {
    return {
      bench: await registered({ dataDir, origin: service.origin, slug: 'bench', contracts }),
      'bench-small': await registered({
        dataDir,
        origin: service.origin,
        slug: 'bench-small',
        contracts: Math.ceil(contracts / 40),
      }),
    };
  } finally {
    await service.stop();
  }
}

/** The plan of a new registration lacks contract types, and in the hybrid edition access by API. */
function withAllFeatures(platformFile: string): void {
  const database = new SqliteConnection(platformFile, { timeout: 5_000 });
  try {
    database.exec("UPDATE tenants SET plan_code = 'enterprise'");
  } finally {
    database.close();
  }
}

interface Me {
  readonly user: { readonly id: string; readonly name: string };
  readonly tenant: { readonly id: string };
  readonly subjects: readonly { readonly id: string; readonly name: string }[];
  readonly settings: { readonly timezone: string; readonly reminderLeadDays: number };
}

interface Registered {
  readonly dataDir: string;
  readonly origin: string;
  readonly slug: Slug;
  readonly contracts: number;
}

async function registered({ dataDir, origin, slug, contracts }: Registered): Promise<Tenant> {
  await register(origin, slug);
  withAllFeatures(join(dataDir, 'platform.db'));
  const { api } = await signIn(origin, slug);
  await remindLate(api);
  const { user, tenant, subjects, settings } = (await api.get<Me>('/auth/me')).body;
  const all = [...subjects.map(({ id, name }) => ({ id, name })), ...(await addSubjects(api))];
  const { scoped, owners } = await addMembers(api, slug, all);
  const owner = { id: user.id, name: user.name, email: credentials(slug).email };
  return {
    tenantId: tenant.id,
    userId: user.id,
    userName: user.name,
    email: owner.email,
    subjects: all,
    scoped,
    owners: [owner, ...scoped.filter(({ email }) => email === credentials(slug, 'own').email), ...owners],
    typeCodes: await addTypes(api),
    fields: await addFields(api),
    timeZone: settings.timezone,
    reminderLeadDays: settings.reminderLeadDays,
    contracts,
  };
}

/** Some ten thousand lines are to be reminded of: that must not happen while something else is measured. */
async function remindLate(api: Client): Promise<void> {
  const answer = await api.patch('/tenant-admin/settings', { reminderHour: 23 });
  if (answer.status !== 200) throw new Error(`cannot set the hour of reminders: ${answer.status} ${answer.text}`);
}

/** On SQLite waiting writes share a commit, on PostgreSQL each has a connection. */
const AT_ONCE = { sqlite: 64, postgres: 10 } as const;

export async function enterContracts(
  databaseUrl: string,
  tenant: Tenant,
  inputOf: (i: number, of: { readonly tenant: Tenant; readonly today: Day }) => ContractInput = usualContract,
): Promise<void> {
  const database = await openDatabase(databaseUrl, { poolMax: AT_ONCE.postgres });
  const today = todayOf(tenant);
  // One second per contract, so that all have different creation times.
  let now = Date.parse(`${addDays(today, -2)}T00:00:00Z`) - tenant.contracts * 1000;
  const plane = createLocalDataPlane({
    operations: OPERATIONS,
    database,
    clock: { now: () => now },
    keyRing: parseKeyRing(generateKeyRingText()),
  });
  const call = callOf(tenant, today);
  let next = 0;
  const enter = async (): Promise<void> => {
    while (next < tenant.contracts) {
      now += 1000;
      const i = next++;
      const contract = await plane.invoke('createContract', { call }, inputOf(i, { tenant, today }));
      for (const task of inputOf === usualContract ? tasksOf(i, today) : [])
        await plane.invoke('addTask', { call }, { contractId: contract.output.id, ...task });
      if (i % 10_000 === 9_999) console.error(`  ${i + 1} contracts entered`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE[database.dialect] }, enter));
  } finally {
    await database.close();
  }
}

const usualContract = (i: number, { tenant, today }: { readonly tenant: Tenant; readonly today: Day }): ContractInput =>
  contractInput(i, { count: tenant.contracts, today, owner: tenant });

export const todayOf = ({ timeZone }: Pick<Tenant, 'timeZone'>): Day => todayIn(timeZone, Date.now());

const callOf = ({ tenantId, userId, userName, timeZone, reminderLeadDays }: Tenant, today: Day): Call => ({
  tenantId,
  requestId: 'bench-dataset',
  timeoutMs: 60_000,
  actor: { kind: 'user', id: userId, name: userName, roleCode: 'owner', ip: null },
  subjectScope: null,
  ownerScope: null,
  controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin'])),
  rights: ALL_RIGHTS,
  timeZone,
  today,
  reminderLeadDays,
  reminderEscalationDays: 7,
  reminderHour: 9,
  currencyCode: 'CNY',
  language: 'en',
  idempotency: null,
  ifVersion: null,
});
