import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { valueIn } from '../../data-plane-agent/base/json-text.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ContractQuery } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATION_NAMES, OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import { fakeClock, type FakeClock } from './clock.js';
import { migratedFile } from './migrated.js';
import { openExternalServices } from './external-services.js';
import { createDatabase, needsPostgres } from './postgres.js';
import { serveOverHttp } from './wire.js';

export const PLANES = ['sqlite', 'postgres', 'remote'] as const;
const DATABASES = ['sqlite', 'postgres'] as const;
export type PlaneName = (typeof PLANES)[number];
export type DatabaseName = Exclude<PlaneName, 'remote'>;

/** A data plane for one caller of a new tenant. */
export interface TestPlane {
  readonly plane: BoundPlane<Operations>;
  readonly call: Call;
  /** The plane of another caller; of the same tenant unless `changes` names another. */
  as(changes: Partial<Call>): BoundPlane<Operations>;
  /** Runs a single call, for example with an idempotency key, and reports whether it was replayed. */
  readonly data: DataPlane<Operations>;
  readonly clock: FakeClock;
  /** The database of the plane, for rows that no operation returns. */
  readonly database: Database;
}

/**
 * Creates a caller of a new tenant in the suite's database. Call it from hooks and tests, not while suites are defined.
 */
export type MakePlane = (changes?: Partial<Call>) => TestPlane;

/**
 * Defines one suite for each data plane: SQLite and PostgreSQL in process, and with `PLANES` also a remote one (HTTP on
 * loopback, JSON). The endpoint suites test remote operations in general; suites of operations run remotely if they
 * test what serialisation could change: values of any type, idempotency keys, large answers. `only` limits the planes.
 */
export function forEachPlane(
  define: (name: PlaneName, makePlane: MakePlane) => void,
  { only = DATABASES }: { readonly only?: readonly PlaneName[] } = {},
): void {
  for (const name of only) {
    describe(`on ${name}`, () => {
      if (name === 'postgres') needsPostgres();
      let opened: { readonly base: Omit<TestPlane, 'plane' | 'call' | 'as'>; close(): Promise<void> } | undefined;
      before('open the data plane', async () => {
        opened = await openPlane(name);
      });
      after('close the data plane', async () => opened?.close());
      define(name, (changes = {}) => {
        if (!opened) throw new Error('planes are made in hooks and tests, once the suite has opened its database');
        return callerOf(opened.base, { ...aCall(), ...changes });
      });
    });
  }
}

/** A call by a manager of a new tenant who sees everything. */
export const aCall = (): Call => ({
  tenantId: newId(),
  requestId: 'test-request',
  // Longer than in production: what is tested is not how fast a busy machine is.
  timeoutMs: 60_000,
  actor: { kind: 'user', id: newId(), name: 'Ming Li', roleCode: 'manager', ip: '127.0.0.1' },
  subjectScope: null,
  ownerScope: null,
  controls: {},
  rights: ALL_RIGHTS,
  timeZone: 'Asia/Shanghai',
  today: '2026-03-15',
  reminderLeadDays: 7,
  reminderEscalationDays: 7,
  reminderHour: 9,
  currencyCode: 'CNY',
  language: 'en',
  idempotency: null,
  ifVersion: null,
});

function callerOf(base: Omit<TestPlane, 'plane' | 'call' | 'as'>, call: Call): TestPlane {
  const as = (changes: Partial<Call>) => bind(base.data, { ...call, ...changes }, { operations: OPERATIONS });
  return { ...base, call, plane: as({}), as };
}

async function openPlane(name: PlaneName) {
  const clock = fakeClock();
  const { database, close: closeDatabase } = await openTenantDatabase(name === 'postgres' ? 'postgres' : 'sqlite');
  const keyRing = parseKeyRing(generateKeyRingText());
  const { external: outside, close: closeOutside } = await openExternalServices({ clock, keyRing });
  const local = createLocalDataPlane({ operations: OPERATIONS, database, clock, keyRing, external: outside });
  const close = async (): Promise<void> => {
    await closeOutside();
    await closeDatabase();
  };
  if (name !== 'remote') return { base: { data: local, clock, database }, close };
  const wire = await serveOverHttp(local, OPERATION_NAMES);
  return {
    base: { data: createRemoteDataPlane({ operations: OPERATIONS, transport: wire.transport }), clock, database },
    async close() {
      await wire.close();
      await close();
    },
  };
}

/** A new migrated tenant database, deleted by `close`. */
export async function openTenantDatabase(
  name: DatabaseName,
): Promise<{ readonly database: Database; readonly url: string; close(): Promise<void> }> {
  const { url, remove } = name === 'postgres' ? await postgresPlace() : await sqlitePlace();
  const database = await openDatabase(url, { poolMax: 10 });
  return {
    database,
    url,
    async close() {
      await database.close();
      await remove();
    },
  };
}

async function postgresPlace() {
  const { url, drop } = await createDatabase({ migrated: 'tenant' });
  return { url, remove: drop };
}

async function sqlitePlace() {
  const folder = await mkdtemp(join(tmpdir(), 'duebook-plane-'));
  const file = join(folder, 'tenant.sqlite');
  await writeFile(file, await migratedFile('tenant'), { mode: 0o600 });
  return { url: `sqlite:${file}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A page of contracts as a client reads them. */
export async function listedContracts(plane: Pick<BoundPlane<Operations>, 'listContracts'>, query: ContractQuery) {
  const page = await plane.listContracts(query);
  return { ...page, items: page.items.map(({ json }) => valueIn(json)) };
}
