import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { checksumOf } from '../../data-plane-agent/base/database/migrator.js';
import { addDays, todayIn, type Day } from '../../data-plane-agent/base/day.js';
import { generateKeyRingText, parseKeyRing, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { root } from '../support/source.js';
import { contractInput, type Owner } from './contract-input.js';
import { register, signIn, startService, type Slug } from './service.js';

/** Where books are kept between runs, and results: where tools keep what they can make again. */
export const CACHE = join(root, 'node_modules/.cache/duebook-bench');
/** Moves when `contract-input.ts` makes another book. */
const MAKER = 1;

export interface Tenant extends Owner {
  readonly tenantId: string;
  readonly userName: string;
  readonly subjectName: string;
  readonly timeZone: string;
  readonly reminderLeadDays: number;
  readonly contracts: number;
}
export type Book = Readonly<Record<Slug, Tenant>>;

/** The data folder of a server whose tenants have their books. Made once for each size and schema, then copied from. */
export async function bookFolder(contracts: number): Promise<{ readonly folder: string; readonly book: Book }> {
  const schema = sha256Hex([...TENANT_MIGRATIONS, ...PLATFORM_MIGRATIONS].map(checksumOf).join()).slice(0, 12);
  const folder = join(CACHE, `book-${contracts}-${MAKER}-${schema}`);
  const known = await readFile(join(folder, 'book.json'), 'utf8').catch(() => undefined); // not made yet
  if (known !== undefined) return { folder, book: JSON.parse(known) as Book };
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  try {
    const book = await makeBook(making, contracts);
    await writeFile(join(making, 'book.json'), JSON.stringify(book));
    await rename(making, folder);
    return { folder, book };
  } finally {
    await rm(making, { recursive: true, force: true }); // still there when it failed
  }
}

/** A copy to write in. */
export async function copyOf(folder: string, name: string): Promise<string> {
  const copy = await mkdtemp(join(CACHE, `${name}-`));
  await cp(folder, copy, { recursive: true });
  return copy;
}

/** Tenants are registered as anyone registers; their contracts are entered by the data plane's own operation. */
async function makeBook(dataDir: string, contracts: number): Promise<Book> {
  const book = await registerTenants(dataDir, contracts);
  for (const tenant of Object.values(book)) await enterContracts(`sqlite:${join(dataDir, 'tenant.db')}`, tenant);
  return book;
}

export async function registerTenants(
  dataDir: string,
  contracts: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Book> {
  const service = await startService(dataDir, env);
  try {
    return {
      bench: await registered(service.origin, 'bench', contracts),
      'bench-small': await registered(service.origin, 'bench-small', Math.ceil(contracts / 40)),
    };
  } finally {
    await service.stop();
  }
}

interface Me {
  readonly user: { readonly id: string; readonly name: string };
  readonly tenant: { readonly id: string };
  readonly subjects: readonly { readonly id: string; readonly name: string }[];
  readonly settings: { readonly timezone: string; readonly reminderLeadDays: number };
}

async function registered(origin: string, slug: Slug, contracts: number): Promise<Tenant> {
  await register(origin, slug);
  const { api } = await signIn(origin, slug);
  const { user, tenant, subjects, settings } = (await api.get<Me>('/auth/me')).body;
  const [subject] = subjects;
  if (!subject) throw new Error('a registered tenant has a subject company');
  return {
    tenantId: tenant.id,
    userId: user.id,
    userName: user.name,
    subjectId: subject.id,
    subjectName: subject.name,
    timeZone: settings.timezone,
    reminderLeadDays: settings.reminderLeadDays,
    contracts,
  };
}

/** On SQLite those that wait together share a commit, on PostgreSQL each has a connection. */
const AT_ONCE = { sqlite: 64, postgres: 10 } as const;

export async function enterContracts(databaseUrl: string, tenant: Tenant): Promise<void> {
  const database = await openDatabase(databaseUrl, { poolMax: AT_ONCE.postgres });
  const today = todayOf(tenant);
  // A second for each contract, so that none is created at the same instant as another.
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
      await plane.invoke(
        'createContract',
        { call },
        contractInput(i, { count: tenant.contracts, today, owner: tenant }),
      );
      if (i % 10_000 === 9_999) console.error(`  ${i + 1} contracts entered`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE[database.dialect] }, enter));
  } finally {
    await database.close();
  }
}

export const todayOf = ({ timeZone }: Pick<Tenant, 'timeZone'>): Day => todayIn(timeZone, Date.now());

const callOf = ({ tenantId, userId, userName, timeZone, reminderLeadDays }: Tenant, today: Day): Call => ({
  tenantId,
  requestId: 'bench-book',
  timeoutMs: 60_000,
  actor: { kind: 'user', id: userId, name: userName, roleCode: 'owner', ip: null },
  subjectScope: null,
  ownerScope: null,
  controls: {},
  rights: ALL_RIGHTS,
  timeZone,
  today,
  reminderLeadDays,
  currencyCode: 'CNY',
  language: 'en',
  idempotency: null,
  ifVersion: null,
});
