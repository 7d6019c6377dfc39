import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { fakeClock, type FakeClock } from './clock.js';
import { aCall, openTenantDatabase, type DatabaseName, type TestPlane } from './plane.js';
import { needsPostgres } from './postgres.js';

/** Two data planes on one database, each with connections of its own. */
export interface Replicas {
  /** The same caller of a new tenant at each of them. */
  both(changes?: Partial<Call>): [TestPlane, TestPlane];
  /** A caller at a plane that has kept nothing, on the database of the given one. */
  fresh(of: Pick<TestPlane, 'database'>, call: Call): BoundPlane<Operations>;
  /** A plane on the database of the first, as `database` shows it, with these operations. */
  planeOn(database: Database, operations?: Operations): DataPlane<Operations>;
  readonly database: Database;
  readonly url: string;
  readonly clock: FakeClock;
  readonly keyRing: KeyRing;
}

/** Defines one suite for each database. `replicas` may be called in hooks and tests. */
export function forEachReplicas(define: (name: DatabaseName, replicas: () => Replicas) => void): void {
  for (const name of ['sqlite', 'postgres'] as const satisfies readonly DatabaseName[])
    describe(`on ${name}`, () => {
      if (name === 'postgres') needsPostgres();
      let opened: (Replicas & { close(): Promise<void> }) | undefined;
      before('open two replicas', async () => {
        opened = await openReplicas(name);
      });
      after('close two replicas', async () => opened?.close());
      define(name, () => {
        if (!opened) throw new Error('replicas are used in hooks and tests, once the suite has opened its database');
        return opened;
      });
    });
}

async function openReplicas(name: DatabaseName): Promise<Replicas & { close(): Promise<void> }> {
  const clock = fakeClock();
  const keyRing = parseKeyRing(generateKeyRingText());
  const planeOn = (database: Database, operations: Operations = OPERATIONS): DataPlane<Operations> =>
    createLocalDataPlane({ operations, database, clock, keyRing });
  const { database, url, close } = await openTenantDatabase(name);
  const other = await openDatabase(url, { poolMax: 4 });
  const [here, there] = [planeOn(database), planeOn(other)];
  const callerOf = (data: DataPlane<Operations>, of: Database, call: Call): TestPlane => {
    const as = (changes: Partial<Call>) => bind(data, { ...call, ...changes }, { operations: OPERATIONS });
    return { data, database: of, call, clock, as, plane: as({}) };
  };
  return {
    both(changes = {}) {
      const call = { ...aCall(), ...changes };
      return [callerOf(here, database, call), callerOf(there, other, call)];
    },
    fresh: (of, call) => bind(planeOn(of.database), call, { operations: OPERATIONS }),
    planeOn,
    database,
    url,
    clock,
    keyRing,
    async close() {
      await other.close();
      await close();
    },
  };
}
