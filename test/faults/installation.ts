import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client } from '../support/http.js';
import { createDatabase } from '../support/postgres.js';
import { startProcess, type Running } from '../support/process.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import type { Owner } from './ledger.js';
import { storedInPostgres, storedInSqlite, type StoredContract } from './stored.js';

/** A server that may be killed and started again, and its databases. */
export interface Installation {
  /** The folder of SQLite's files. */
  readonly dataDir: string;
  /** `nodeOptions`: options of Node.js. */
  start(nodeOptions?: readonly string[]): Promise<Running>;
  /** The content of the tenant database, read directly. */
  stored(): Promise<readonly StoredContract[]>;
  remove(): Promise<void>;
}

/** For monitoring queries. */
export const METRICS_TOKEN = 'metrics-of-a-server-that-will-be-killed';

/** A fixed public address, whatever the port of the next server, because it is the issuer of tokens. */
const start = (env: Readonly<Record<string, string>>, nodeOptions: readonly string[] = []): Promise<Running> =>
  startProcess([...nodeOptions, program('server/main.ts')], {
    path: '/api/v1/health',
    env: {
      ...COMPILE_CACHE,
      LOG_LEVEL: 'error',
      METRICS_TOKEN,
      JWT_ACCESS_TTL: '24h',
      PUBLIC_URL: 'http://localhost:8080',
      ...env,
    },
  });

export interface InstallOptions {
  /** Whether PostgreSQL waits for the disk, as in production. */
  readonly durable?: boolean;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function install(
  kind: 'sqlite' | 'postgres',
  { durable = true, env = {} }: InstallOptions = {},
): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), 'duebook-kill-'));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  if (kind === 'sqlite')
    return {
      dataDir,
      start: (nodeOptions) => start({ ...env, DATA_DIR: dataDir }, nodeOptions),
      stored: () => storedInSqlite(join(dataDir, 'tenant.db')),
      remove: removeFolder,
    };
  const [platform, tenant] = [await createDatabase({ durable }), await createDatabase({ durable })];
  return {
    dataDir,
    start: (nodeOptions) =>
      start(
        { ...env, DATA_DIR: dataDir, PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url },
        nodeOptions,
      ),
    stored: () => storedInPostgres(tenant.adminUrl),
    remove: async () => {
      await Promise.all([platform.drop(), tenant.drop()]);
      await removeFolder();
    },
  };
}

interface Me {
  readonly user: { readonly id: string };
  readonly subjects: readonly { readonly id: string }[];
}

/** The account that `register` makes. */
export const OWNER = {
  tenantSlug: 'ledger',
  tenantName: 'Ledger',
  adminName: 'Ledger Owner',
  email: 'owner@example.com',
  password: 'a book needs no secrets 42',
};

/** The token remains valid after a restart, because its keys are in the platform database. */
export async function register(origin: string): Promise<{ readonly token: string; readonly owner: Owner }> {
  const { status, text, body } = await client(origin).post<{ accessToken: string }>('/auth/register', OWNER);
  if (status !== 201) throw new Error(`cannot register: ${status} ${text}`);
  const { user, subjects } = (await client(origin, body.accessToken).get<Me>('/auth/me')).body;
  return { token: body.accessToken, owner: { subjectId: subjects[0]?.id ?? '', ownerId: user.id } };
}
