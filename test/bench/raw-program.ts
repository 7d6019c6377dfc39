import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { startProcess, type Running } from '../support/process.js';
import type { Subject } from './cases.js';
import { CACHE, type Tenant } from './dataset.js';
import type { Count, DrawnList } from './drawn-lists.js';
import { passwordHash } from './facts.js';
import { fillSqlite, type Copied } from './raw/fill.js';
import { filtersOf, type Reader } from './raw/lists.js';
import { openSqlite, sqliteStore } from './raw/sqlite.js';
import { totalKey, type RawOptions } from './raw/server.js';
import type { MemberName } from './service.js';

/** Increment when the tables of the raw program change. */
const VERSION = 1;
const PROGRAM = join(import.meta.dirname, 'raw/server.ts');

/** The tables of the raw program for a data set. What it answers depends on the day, so it is made once a day. */
export async function rawTables(folder: string, { tenant, today }: Pick<Subject, 'tenant' | 'today'>): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const prefix = `raw-${basename(folder)}-`;
  const name = `${prefix}${VERSION}-${today}.db`;
  const known = (await readdir(CACHE)).filter((file) => file.startsWith(prefix));
  if (known.includes(name)) return join(CACHE, name);
  for (const file of known) await rm(join(CACHE, file), { force: true });
  console.error('tables of the raw program');
  const making = join(CACHE, `${prefix}making-${process.pid}`);
  fillSqlite(join(folder, 'tenant.db'), making, copiedOf(tenant, today));
  await rename(making, join(CACHE, name));
  return join(CACHE, name);
}

/** Counts what the raw program has tables for. */
export async function withCounts<T>(file: string, work: (count: Count) => Promise<T>): Promise<T> {
  const tables = openSqlite(file);
  try {
    const store = sqliteStore(tables);
    return await work((of) => store.count(of));
  } finally {
    tables.close();
  }
}

export const copiedOf = (tenant: Tenant, today: string): Copied => ({
  tenantId: tenant.tenantId,
  today,
  reminderLeadDays: tenant.reminderLeadDays,
  names: Object.fromEntries([...tenant.subjects, ...tenant.owners, ...tenant.scoped].map(({ id, name }) => [id, name])),
  hiddenFields: [tenant.fields.rating, tenant.fields.margin],
});

/** What the members that the benchmark signs in as may see. */
export function readersOf({ scoped, subjects }: Tenant): Readonly<Record<MemberName, Reader>> {
  const own = scoped.find(({ email }) => email.includes('-own@'));
  if (!own) throw new Error('the data set has no member with a scope of their own');
  const all = { subjects: null, owner: null, isHidden: false };
  return {
    owner: { name: 'owner', ...all },
    some: { name: 'some', ...all, subjects: subjects.slice(0, 5).map(({ id }) => id) },
    own: { name: 'own', ...all, owner: own.id },
    hidden: { name: 'hidden', ...all, isHidden: true },
  };
}

export interface RawSide {
  /** The raw program's file, or `postgres://…`. */
  readonly database: string;
  readonly platformFile: string;
  readonly tokens: Readonly<Record<MemberName, string>>;
  /** All lists that will be asked for, with their totals. */
  readonly lists: readonly DrawnList[];
}

export function startRawProgram(
  { tenant, today, facts }: Subject,
  { database, platformFile, tokens, lists }: RawSide,
): Promise<Running> {
  const readers = readersOf(tenant);
  const options: RawOptions = {
    ...copiedOf(tenant, today),
    database,
    userId: tenant.userId,
    ...facts.lifecycle,
    readers: Object.fromEntries(Object.entries(tokens).map(([name, token]) => [token, readers[name as MemberName]])),
    totals: Object.fromEntries(
      lists.map(({ path, reader, total }) => [totalKey(reader, filtersOf(path.slice(path.indexOf('?') + 1))), total]),
    ),
    overdueTotal: facts.overdue,
    passwordHash: passwordHash(platformFile, tenant.email),
    emails: Object.fromEntries([...tenant.owners, ...tenant.scoped].map(({ id, email }) => [id, email])),
    fields: Object.entries(tenant.fields).map(([code, id]) => ({ code, id })),
  };
  return startProcess(['--import=tsx', PROGRAM, JSON.stringify(options)], { path: '/api/v1/health', env: {} });
}
