import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ObjectStore } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createDataMoves, type DataMoves, type MoveRequest } from '../../server/data-planes/moving/moves.js';
import type { Planes } from '../../server/data-planes/moving/sides.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { TenantStore } from '../../server/store/tenants.js';
import { openExternalServices } from './external-services.js';
import { aCall, openTenantDatabase, type DatabaseName } from './plane.js';

/** A data plane with its own database, keys and files. */
export interface Side {
  readonly data: DataPlane<Operations>;
  readonly plane: BoundPlane<Operations>;
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly objects: ObjectStore;
  as(changes: Partial<Call>): BoundPlane<Operations>;
}

/** A new organisation whose data is in one of two data planes. */
export interface PlanePair {
  readonly call: Call;
  readonly from: Side;
  readonly to: Side;
  readonly platform: Database;
  /** Of a process of its own; `changed` replaces the data planes that it sees. */
  moves(changed?: (planes: Planes) => Planes, options?: { readonly waitMs?: number }): DataMoves;
  readonly request: MoveRequest;
}

export interface OpenPair {
  pair(): Promise<PlanePair>;
  close(): Promise<void>;
}

const log = createLog({ level: 'silent', name: 'test' });
const clock = systemClock;

/** Two data planes, from an embedded one to that of an agent, and the database of the platform. */
export async function openPair([one, other]: readonly [DatabaseName, DatabaseName]): Promise<OpenPair> {
  const undo: (() => Promise<void>)[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'duebook-moves-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const database = await openDatabase(`sqlite:${join(folder, 'platform.db')}`, { poolMax: 2 });
  undo.push(() => database.close());
  await migrate(database, PLATFORM_MIGRATIONS);
  const sides = [await openSide(one, undo), await openSide(other, undo)] as const;
  return {
    pair: async () => {
      const call = aCall();
      const at = clock.now();
      const tenant = { id: call.tenantId, settings: {} };
      await database.write({ tenantId: null }, (tx) =>
        new TenantStore(tx).insert({
          ...tenant,
          slug: `move-${call.tenantId}`,
          name: 'Acme',
          planCode: 'free',
          status: 'active',
          createdAt: at,
          updatedAt: at,
        }),
      );
      const [from, to] = [sideOf(sides[0], call), sideOf(sides[1], call)];
      return {
        call,
        from,
        to,
        platform: database,
        request: { tenant, actor: { kind: 'cli', id: null, name: 'duebook', ip: null, requestId: newId() } },
        moves: (changed = (planes) => planes, options = {}) =>
          createDataMoves({
            database,
            clock,
            log,
            planes: () => changed({ embedded: from.data, agent: to.data }),
            ...options,
          }),
      };
    },
    close: async () => {
      for (const step of undo.toReversed()) await step();
    },
  };
}

type Opened = Omit<Side, 'plane' | 'as'>;

async function openSide(name: DatabaseName, undo: (() => Promise<void>)[]): Promise<Opened> {
  const { database, close } = await openTenantDatabase(name);
  undo.push(close);
  const keyRing = parseKeyRing(generateKeyRingText());
  const { external, close: closeFiles } = await openExternalServices({ clock, keyRing });
  undo.push(closeFiles);
  const data = createLocalDataPlane({ operations: OPERATIONS, database, clock, keyRing, external });
  return { data, database, keyRing, objects: external.files.objects };
}

function sideOf(opened: Opened, call: Call): Side {
  const as = (changes: Partial<Call>) => bind(opened.data, { ...call, ...changes }, { operations: OPERATIONS });
  return { ...opened, as, plane: as({}) };
}
