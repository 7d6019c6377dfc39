import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { parseKeyRing, generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import type { WorkedTenant } from '../../data-plane-agent/host/system-call.js';
import { createUpkeep, type Round, type Upkeep } from '../../data-plane-agent/host/upkeep.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { aCall } from './plane.js';

/** The upkeep of one process over a database, with access for tests. */
export interface UpkeepProcess {
  readonly upkeep: Upkeep;
  /** Calls `upkeep.round` with a test's name. */
  round(steps: Round['steps']): Promise<void>;
  /** The plane of a caller of a tenant, by default a new one. */
  as(changes?: Partial<Call>): BoundPlane<Operations>;
  readonly data: DataPlane<Operations>;
  /** The calls made by jobs, in order. */
  readonly calls: { readonly name: string; readonly call: Call }[];
  /** The tenants in each request to the tenant directory. */
  readonly asked: (readonly string[])[];
  readonly logged: Record<string, unknown>[];
}

/** The active tenants: by default all, in the time zone of Shanghai. */
export const inShanghai = (ids: readonly string[]): WorkedTenant[] =>
  ids.map((id) => ({
    id,
    timeZone: 'Asia/Shanghai',
    reminderLeadDays: 3,
    reminderEscalationDays: 7,
    reminderHour: 9,
    currencyCode: 'EUR',
    language: 'zh-CN',
  }));

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

const STATEMENTS: ReadonlySet<string | symbol> = new Set([
  'all',
  'steady',
  'get',
  'getForUpdate',
  'run',
  'defer',
  'insert',
  'hold',
]);

/** A wrapper of the database that counts transactions and statements. */
export function counted(database: Database): {
  readonly database: Database;
  readonly counts: { transactions: number; statements: number };
} {
  const counts = { transactions: 0, statements: 0 };
  const watched = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get(target, name) {
        if (STATEMENTS.has(name)) counts.statements += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
      },
    });
  const read: Database['read'] = (scope, work) => {
    counts.transactions += 1;
    return database.read(scope, (tx) => work(watched(tx)));
  };
  const write: Database['write'] = (scope, work, options) => {
    counts.transactions += 1;
    return database.write(scope, (tx) => work(watched(tx)), options);
  };
  return {
    counts,
    database: Object.assign(Object.create(database) as Database, {
      dialect: database.dialect,
      read,
      write,
    }),
  };
}
