import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { parseKeyRing, generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import type { WorkedTenant } from '../../data-plane-agent/host/system-call.js';
import { createUpkeep, type Round, type Upkeep } from '../../data-plane-agent/host/upkeep.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { aCall } from './plane.js';

/** The upkeep of one process over a database, and what of it a test looks at. */
export interface UpkeepProcess {
  readonly upkeep: Upkeep;
  /** As `upkeep.round`, in the name of a test. */
  round(steps: Round['steps']): Promise<void>;
  /** The plane of a caller of a tenant; of a fresh one unless `changes` names it. */
  as(changes?: Partial<Call>): BoundPlane<Operations>;
  readonly data: DataPlane<Operations>;
  /** Calls that jobs have made, in their order. */
  readonly calls: { readonly name: string; readonly call: Call }[];
  /** What tenants were asked about, question by question. */
  readonly asked: (readonly string[])[];
  readonly logged: Record<string, unknown>[];
}

/** Whose work is done: everybody's, in Shanghai, unless a test says otherwise. */
export const inShanghai = (ids: readonly string[]): WorkedTenant[] =>
  ids.map((id) => ({ id, timeZone: 'Asia/Shanghai', reminderLeadDays: 3, currencyCode: 'EUR', language: 'zh-CN' }));

export function upkeepProcess({
  database,
  clock,
  tenants = inShanghai,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly tenants?: (ids: readonly string[]) => WorkedTenant[];
}): UpkeepProcess {
  const data = createLocalDataPlane({ operations: OPERATIONS, database, clock, keyRing: KEYS });
  const calls: UpkeepProcess['calls'] = [];
  const asked: (readonly string[])[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    name: 'test',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const watched: DataPlane<Operations> = {
    invoke: (name, asking, input) => {
      calls.push({ name, call: asking.call });
      return data.invoke(name, asking, input);
    },
  };
  const upkeep = createUpkeep({
    database,
    plane: watched,
    clock,
    log,
    tenants: async (ids) => {
      asked.push(ids);
      return tenants(ids);
    },
  });
  return {
    upkeep,
    round: (steps) => upkeep.round({ job: 'test', steps }),
    as: (changes = {}) => bind(data, { ...aCall(), ...changes }, { operations: OPERATIONS }),
    data,
    calls,
    asked,
    logged,
  };
}

const KEYS = parseKeyRing(generateKeyRingText());

/** The database, with the transactions and statements that go through it counted. */
export function counted(database: Database): {
  readonly database: Database;
  readonly counts: { transactions: number; statements: number };
} {
  const counts = { transactions: 0, statements: 0 };
  const watching =
    <K extends 'read' | 'write'>(kind: K): Database[K] =>
    (scope, work) => {
      counts.transactions += 1;
      return database[kind](scope, (tx) =>
        work(
          new Proxy(tx, {
            get(target, name) {
              if (name === 'all' || name === 'get' || name === 'run') counts.statements += 1;
              const value: unknown = Reflect.get(target, name, target);
              return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
            },
          }),
        ),
      );
    };
  return {
    counts,
    database: Object.assign(Object.create(database) as Database, {
      dialect: database.dialect,
      read: watching('read'),
      write: watching('write'),
    }),
  };
}
