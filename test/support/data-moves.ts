import { expect } from 'chai';
import type { Database, Row } from '../../data-plane-agent/base/database/database.js';
import { addWaiting } from '../../data-plane-agent/plane/store/waiting-figures.js';
import { MOVED } from '../../data-plane-agent/plane/tables/moved.js';
import { administration, type Administration } from './administration.js';
import { installations, type Installation, type Outcome, type Running } from './cli.js';
import type { Answer } from './http.js';
import { startHybrid } from './hybrid.js';
import { startAgent, until, type AgentOptions, type TestAgent } from './joined-agent.js';
import { createDatabase } from './postgres.js';
import { aContract, aLine } from './samples.js';
import type { DatabaseKind, TestServer } from './server.js';
import { PDF, uploadsOf } from './uploads.js';

/** A service with an agent that has contract data, and the command line of the installation. */
export interface MovableData {
  readonly server: TestServer;
  readonly org: Administration;
  readonly agent: TestAgent;
  /** A file of several parts, and a small one. */
  readonly files: readonly { readonly id: string; readonly bytes: Uint8Array }[];
  /** The settings of the data plane of the installation. */
  readonly env: Readonly<Record<string, string>>;
  move(...args: string[]): Promise<Outcome>;
  /** The same in a process of its own, which can be killed. */
  startMove(...args: string[]): Promise<Running>;
  run(...args: string[]): Promise<Outcome>;
  stop(): Promise<void>;
}

/** A PDF that takes three parts of a move. */
export const LARGE = Buffer.concat([PDF, Buffer.alloc(9 * 1024 * 1024, 'a line of a long document\n')]);

export interface MovableOptions {
  readonly database: DatabaseKind;
  readonly agent?: AgentOptions;
  /** `OBJECT_STORE_URL` of the installation; a folder if there is none. */
  readonly objectStoreUrl?: string | undefined;
}

export function movableData(): { start(options: MovableOptions): Promise<MovableData> } {
  const installation = installations();
  return {
    async start(options) {
      const undo: (() => Promise<void>)[] = [];
      const stop = async (): Promise<void> => {
        for (const step of undo.splice(0).toReversed()) await step();
      };
      try {
        return await begin(options, { undo, stop, installation });
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}

async function begin(
  { database, agent: options = {}, objectStoreUrl }: MovableOptions,
  {
    undo,
    stop,
    installation,
  }: {
    readonly undo: (() => Promise<void>)[];
    readonly stop: () => Promise<void>;
    readonly installation: () => Promise<Installation>;
  },
): Promise<MovableData> {
  const made = database === 'postgres' ? await createDatabase({ migrated: 'tenant' }) : undefined;
  if (made) undo.push(made.drop);
  // An agent that is called directly listens on loopback.
  const direct = options.accessMode === 'direct' ? { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } : {};
  const server = await startHybrid({ env: direct });
  undo.push(server.stop);
  const org = await administration(server);
  const agent = await startAgent(server, org.tenant.id, { database, ...options });
  undo.push(agent.stop);
  const env = {
    DATA_DIR: server.config.dataDir,
    PUBLIC_URL: server.config.publicUrl,
    EDITION: 'enterprise_hybrid',
    ...direct,
    ...(made ? { TENANT_DATABASE_URL: made.url } : {}),
    ...(objectStoreUrl === undefined ? {} : { OBJECT_STORE_URL: objectStoreUrl }),
  };
  const files = await enterData(org);
  // On PostgreSQL, the newest events are chained a moment later.
  await until(async () => {
    await agent.serving.runJob('audit-chain');
    const { audit_log: events = [] } = await rowsOf(agent.serving.hosted.database, org.tenant.id);
    return events.every(({ position }) => position !== null);
  }, 'all events of the audit are chained');
  const of = async (): Promise<Installation> => installation();
  const tenant = ['--tenant', org.tenant.slug];
  const run = async (...args: string[]): Promise<Outcome> => (await of()).inProcess([...args, ...tenant], { env });
  return {
    server,
    org,
    agent,
    files,
    env,
    run,
    move: (...args) => run('tenants', 'move-data', ...args),
    startMove: async (...args) => (await of()).start(['tenants', 'move-data', ...args, ...tenant], { env }),
    stop,
  };
}

const CONTRACTS = 12;

/** Contracts with payments, receipts, notes, a deleted one, an answer to an idempotency key, and files. */
export async function enterData({ asOwner, subjectId, owner }: Administration): Promise<MovableData['files']> {
  const ids: string[] = [];
  for (let n = 1; n <= CONTRACTS; n += 1) {
    const { status, body, text } = await enterContract({ asOwner, subjectId, owner }, n);
    expect(status, text).to.equal(201);
    ids.push(body.id);
    const line = body.payments[0]?.id ?? '';
    const paid = await asOwner.patch(`/payments/${line}/receipt`, { receivedAmount: 1, receivedDate: '2026-03-01' });
    expect(paid.status, paid.text).to.equal(200);
  }
  expect((await asOwner.delete(`/contracts/${ids.pop() ?? ''}`)).status).to.equal(200);
  const uploads = uploadsOf(asOwner);
  const files: { id: string; bytes: Uint8Array }[] = [];
  for (const [at, bytes] of [LARGE, PDF].entries()) {
    const { id } = await uploads.upload({ bytes, contractId: ids[at] ?? '' });
    files.push({ id, bytes });
  }
  return files;
}

/** The same request, with the same idempotency key, for the same number. */
export const enterContract = (
  { asOwner, subjectId, owner }: Pick<Administration, 'asOwner' | 'subjectId' | 'owner'>,
  n: number,
): Promise<Answer<{ id: string; payments: { id: string }[] }>> =>
  asOwner.post(
    '/contracts',
    aContract({
      archiveCode: `AR-M-${n}`,
      contractNo: `M-${n}`,
      projectName: `Moved ${n}`,
      subjectId,
      ownerId: owner.id,
      payments: [aLine(), aLine({ period: '2026-05', dueDate: '2026-05-30' })],
      remark: '远航 🚢 '.repeat(n * 100).trim(),
    }),
    { headers: { 'Idempotency-Key': `entered-${n}` } },
  );

/**
 * Adds to the figures what writes have left to be added. A move does, whose rows are then compared with those that were
 * there before.
 */
export const completeFigures = (database: Database, tenantId: string): Promise<void> =>
  database.write({ tenantId }, async (tx) => {
    while ((await addWaiting(tx, tenantId, { waits: true })) > 0);
  });

/** All rows of a tenant that are moved, as they are in the tables, but for what differs by key ring and object store. */
export async function rowsOf(database: Database, tenantId: string): Promise<Readonly<Record<string, readonly Row[]>>> {
  return database.read({ tenantId }, async (tx) => {
    const tables: Record<string, Row[]> = {};
    for (const { name, key, columns, sealed, ofStore } of MOVED) {
      const shown = columns.filter((column) => column !== sealed && column !== ofStore);
      tables[name] = await tx.all(
        `SELECT ${shown.join(', ')} FROM ${name} WHERE tenant_id = ?${key.length > 0 ? ` ORDER BY ${key.join(', ')}` : ''}`,
        [tenantId],
      );
    }
    return tables;
  });
}
