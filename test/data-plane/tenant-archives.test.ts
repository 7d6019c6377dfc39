import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { NOT_EXPORTED } from '../../data-plane-agent/plane/tables/exported.js';
import {
  createTenantExports,
  type ArchiveRequest,
  type TenantExports,
} from '../../server/data-planes/archive/export.js';
import { createTenantImports, type TenantImports } from '../../server/data-planes/archive/import.js';
import { TenantStore } from '../../server/store/tenants.js';
import { rowsOf } from '../support/data-moves.js';
import { openPair, type OpenPair, type PlanePair, type Side } from '../support/plane-pair.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';

const BYTES = Buffer.alloc(5 * 1024 * 1024, 'more than one part\n');
const signal = AbortSignal.timeout(10 * 60_000);

for (const kinds of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  describe(`an export and an import that are killed, from ${kinds.join(' to ')}`, function () {
    this.timeout(240_000);
    needsPostgres();
    let opened: OpenPair;
    let folder: string;
    before(async () => {
      opened = await openPair(kinds);
      folder = await mkdtemp(join(tmpdir(), 'duebook-archives-'));
    });
    after(async () => {
      await opened?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('leaves the data as it was, whenever it is killed, and rows larger than a page arrive', async () => {
      const pair = await filled(opened);
      const request = await requestOf(pair);
      const sent = await compared(pair, pair.from);
      const out = join(folder, newId());

      let deaths = 0;
      for (const calls of [3, 11, 14, 30, 45]) {
        const dies = exportsOf(pair, dying(pair.from.data, calls));
        await fails(dies.export({ ...request, folder: out, signal }), Killed, 'TENANT_DATA_LOST');
        deaths += 1;
        expect(existsSync(out), `after ${calls} calls`).to.equal(false);
      }
      expect(deaths).to.equal(5);
      await refused(pair.from.plane.createContract(aContract()));
      expect((await pair.from.plane.listContracts({})).total).to.equal(3);
      await exportsOf(pair).cancel(request);
      const { id } = await pair.from.plane.createContract(aContract());
      await pair.from.plane.deleteContract({ contractId: id });
      const manifest = await exportsOf(pair).export({ ...request, folder: out, signal });
      expect(manifest.files).to.deep.include({ count: 1, bytes: BYTES.length, missing: [], different: [] });
      await pair.from.plane.createContract(aContract());

      const into = { ...request, folder: out, isDryRun: false, signal };
      for (const calls of [3, 12, 20, 35, 60]) {
        const dies = importsOf(pair, dying(pair.to.data, calls));
        await fails(dies.import(into), Killed, 'TENANT_DATA_LOST');
      }
      await refused(pair.to.plane.createContract(aContract()));
      await importsOf(pair).cancel(request);
      expect(Object.values(await rowsOf(pair.to.database, pair.call.tenantId)).flat()).to.deep.equal([]);
      const imported = await importsOf(pair).import(into);
      expect(imported).to.deep.include({ exportId: manifest.exportId, files: 1, bytes: BYTES.length });
      const arrived = await compared(pair, pair.to);
      for (const [table, rows] of Object.entries(sent))
        if (!['contracts', 'audit_log', 'contract_groups', 'receivable_days'].includes(table))
          expect(arrived[table], table).to.deep.include.members(rows as Record<string, unknown>[]);
      expect(arrived['import_batches']).to.deep.equal(sent['import_batches']);
      expect((await pair.to.plane.listContracts({ q: 'FOUND' })).total).to.equal(1);
      await pair.to.plane.createContract(aContract());
    });

    it('is completed by the next one when it is killed before its last step', async () => {
      const pair = await filled(opened);
      const request = await requestOf(pair);
      const out = join(folder, newId());
      await exportsOf(pair).export({ ...request, folder: out, signal });
      const into = { ...request, folder: out, isDryRun: false, signal };
      const last = refusing(pair.to.data, 'finishReceiving');
      await fails(importsOf(pair, last).import(into), Killed);
      await fails(importsOf(pair).import(into), undefined, 'TENANT_DATA_NOT_EMPTY');
      expect((await pair.to.plane.listContracts({})).total).to.equal(3);
      await pair.to.plane.createContract(aContract());
    });
  });
}

class Killed extends Error {}

const log = createLog({ level: 'silent', name: 'test' });

const optionsOf = ({ platform }: PlanePair, plane: DataPlane<Operations>) => ({
  database: platform,
  clock: systemClock,
  log,
  plane: () => plane,
  product: { name: 'Duebook', version: '0.1.0' },
});
const exportsOf = (pair: PlanePair, plane = pair.from.data): TenantExports =>
  createTenantExports(optionsOf(pair, plane));
const importsOf = (pair: PlanePair, plane = pair.to.data): TenantImports => createTenantImports(optionsOf(pair, plane));

async function requestOf({ platform, call, request }: PlanePair): Promise<ArchiveRequest> {
  const tenant = await platform.read({ tenantId: null }, (tx) => new TenantStore(tx).byId(call.tenantId));
  if (!tenant) throw new Error('the pair has an organisation');
  return { tenant, actor: request.actor };
}

type Invoke = DataPlane<Operations>['invoke'];
type AnyInvoke = (...asked: Parameters<Invoke>) => Promise<never>;

function around(plane: DataPlane<Operations>, mayPass: (name: string) => boolean): DataPlane<Operations> {
  const invoke: AnyInvoke = (name, ...rest) =>
    mayPass(name) ? (plane.invoke(name, ...rest) as Promise<never>) : Promise.reject(new Killed());
  return { invoke: invoke as Invoke };
}

/** From the call of this number on, the process does nothing. */
function dying(plane: DataPlane<Operations>, calls: number): DataPlane<Operations> {
  let left = calls;
  return around(plane, () => (left -= 1) > 0);
}

/** At an operation, after the question whether it is allowed. */
function refusing(plane: DataPlane<Operations>, operation: string): DataPlane<Operations> {
  let asked = 0;
  return around(plane, (name) => name !== operation || (asked += 1) === 1);
}

async function refused(work: Promise<unknown>): Promise<void> {
  const outcome = await work.then(
    () => 'done',
    (error: unknown) => (isFailure(error) ? error.code : String(error)),
  );
  expect(outcome).to.equal('DATA_MOVING');
}

async function fails(work: Promise<unknown>, kind: typeof Killed | undefined, code?: string): Promise<void> {
  try {
    await work;
  } catch (error) {
    const isKilled = kind !== undefined && error instanceof kind;
    const isFault = error instanceof Error && 'code' in error && error.code === code;
    if (!isKilled && !isFault) throw error;
    return;
  }
  throw new Error('it did not fail');
}

async function filled(opened: OpenPair): Promise<PlanePair> {
  const pair = await opened.pair();
  const { from, call } = pair;
  const { tenantId } = call;
  for (const contractNo of ['ONE', 'TWO', 'FOUND'])
    await from.plane.createContract(
      aContract({ contractNo, payments: [aLine()], remark: '远航 🚢 '.repeat(900).trim() }),
    );
  const large = JSON.stringify({ text: '🚢 远航'.repeat(300_000) });
  const fileId = newId();
  const key = `tenants/${tenantId}/2026/03/${fileId}`;
  const { etag } = await from.objects.write(key, Readable.from([BYTES]), {
    sizeBytes: BYTES.length,
    contentType: 'application/pdf',
  });
  await from.database.write({ tenantId }, async (tx) => {
    await tx.run(
      'INSERT INTO import_batches (tenant_id, id, report, rejected, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
      [tenantId, newId(), large, large, 1, 2],
    );
    await tx.run(
      "INSERT INTO files (tenant_id, id, kind, file_name, created_at, updated_at, content_type, size_bytes, sha256, object_key, etag, scan_status, scan_tries) VALUES (?, ?, 'receipt', 'a.pdf', 1, 1, 'application/pdf', ?, ?, ?, ?, 'clean', 0)",
      [tenantId, fileId, BYTES.length, sha256Hex(BYTES), key, etag],
    );
  });
  return pair;
}

/** Without what exports leave out. */
async function compared({ call }: PlanePair, { database }: Side): Promise<Record<string, readonly unknown[]>> {
  const rows = await rowsOf(database, call.tenantId);
  return Object.fromEntries(
    Object.entries(rows)
      .filter(([table]) => !(table in NOT_EXPORTED))
      .map(([table, all]) => [table, all.map(({ object_key: _key, ...row }) => row)]),
  );
}
