import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isFailure, type FailureCode } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { MoveFault } from '../../server/data-planes/moving/move-fault.js';
import type { Planes } from '../../server/data-planes/moving/sides.js';
import { completeFigures, rowsOf } from '../support/data-moves.js';
import { until } from '../support/joined-agent.js';
import { openPair, type OpenPair, type PlanePair } from '../support/plane-pair.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';

const KEY = { key: 'a key of a client', requestHash: 'of the request' };

for (const kinds of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  describe(`data that is moved from ${kinds.join(' to ')}`, () => {
    needsPostgres();
    let opened: OpenPair;
    before(async () => {
      opened = await openPair(kinds);
    });
    after(async () => opened?.close());

    it('arrives completely, rows larger than a page among it, and is sealed with the keys there', async () => {
      const pair = await filled(opened, LARGE);
      const sent = await rowsOf(pair.from.database, pair.call.tenantId);
      const { phase, progress } = await pair.moves().move({ ...pair.request, direction: 'agent' });
      expect(phase).to.equal('moved');
      expect(await rowsOf(pair.to.database, pair.call.tenantId)).to.deep.equal(await chained(pair, sent));
      expect(progress.tables['import_batches']?.rows).to.equal(1);
      // The answer to a key is sealed with other keys, and is still the answer.
      const contract = aContract({ contractNo: 'REPEATED' });
      const repeated = await pair.to.data.invoke(
        'createContract',
        { call: { ...pair.call, idempotency: KEY } },
        contract,
      );
      expect(repeated.replayed).to.equal(true);
      expect(await pair.to.plane.checkAudit({ from: null })).to.deep.include({ done: true, faults: [] });
      expect((await pair.to.plane.listContracts({ q: 'REPEATED' })).total).to.equal(1);
      const [file] = (await rowsOf(pair.to.database, pair.call.tenantId))['files'] ?? [];
      const stored = await pair.to.objects.head(String(file?.['object_key']));
      expect(stored?.sizeBytes).to.equal(LARGE.file);
      const content = await pair.to.objects.read(String(file?.['object_key']), {
        sizeBytes: LARGE.file,
        signal: AbortSignal.timeout(10_000),
      });
      expect(content && (await buffer(content)).equals(bytesOf(LARGE.file))).to.equal(true);
    });

    it('has all figures, with what waited to be added to them', async () => {
      const pair = await filled(opened);
      const { payments } = await pair.from.plane.createContract(aContract({ payments: [aLine({ amount: 70 })] }));
      await pair.from.plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 7 });
      const waiting = await pair.from.database.read(pair.call, (tx) =>
        tx.all('SELECT id FROM waiting_figures WHERE tenant_id = ?', [pair.call.tenantId]),
      );
      expect(waiting).to.have.length.above(0);
      const before = await pair.from.plane.getPaymentStats({});
      expect((await pair.moves().move({ ...pair.request, direction: 'agent' })).phase).to.equal('moved');
      expect(await pair.to.plane.getPaymentStats({})).to.deep.equal(before);
      const [sent, arrived] = [
        await rowsOf(pair.from.database, pair.call.tenantId),
        await rowsOf(pair.to.database, pair.call.tenantId),
      ];
      expect(arrived).to.deep.equal(sent);
    });

    it('is refused where it was, and used where it is; what was there can be deleted and moved back', async () => {
      const pair = await filled(opened);
      await pair.moves().move({ ...pair.request, direction: 'agent' });
      await refused(pair.from.plane.listContracts({}), 'DATA_MOVED');
      await refused(pair.from.plane.createContract(aContract()), 'DATA_MOVED');
      const { id } = await pair.to.plane.createContract(aContract());
      await faulty(pair.moves().move({ ...pair.request, direction: 'embedded' }), 'DATA_MOVE_NOT_EMPTY');
      expect((await pair.moves().deleteSource(pair.request)).sourceDeletedAt).to.be.a('number');
      expect(Object.values(await rowsOf(pair.from.database, pair.call.tenantId)).flat()).to.deep.equal([]);
      const changes = await pair.from.database.read(pair.call, (tx) =>
        tx.all('SELECT changes FROM rollup_changes WHERE tenant_id = ?', [pair.call.tenantId]),
      );
      expect(changes).to.deep.equal([]);
      const objects = await listed(pair.from.objects.list(`tenants/${pair.call.tenantId}/`));
      expect(objects).to.deep.equal([]);
      await refused(pair.from.plane.listContracts({}), 'DATA_MOVED');
      await pair.moves().move({ ...pair.request, direction: 'embedded' });
      expect((await pair.from.plane.getContract({ contractId: id })).id).to.equal(id);
      await refused(pair.to.plane.getContract({ contractId: id }), 'DATA_MOVED');
    });

    it('arrives once, whenever the process that moves it is killed', async function () {
      this.timeout(240_000);
      const pair = await filled(opened, LARGE);
      const sent = await rowsOf(pair.from.database, pair.call.tenantId);
      let runs = 0;
      for (let isOver = false; !isOver && runs < 100; runs += 1) {
        // After 1 to 97 calls, in turn before the last of them has an effect and after it.
        const dies = killed({ after: 1 + ((runs * 17) % 97), isDone: runs % 2 === 0 });
        try {
          await pair.moves(dies).move({ ...pair.request, direction: 'agent' });
          isOver = true;
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }
      expect(runs).to.be.within(6, 50);
      expect(await rowsOf(pair.to.database, pair.call.tenantId)).to.deep.equal(await chained(pair, sent));
      const leftovers = await listed(pair.to.objects.list(`uploads/${pair.call.tenantId}/`));
      expect(leftovers).to.deep.equal([]);
    });

    it('cannot be changed while it is moved, can be read, and can be changed again when the move is cancelled', async () => {
      const pair = await filled(opened);
      const dies = killed({ at: 'receiveFilePart' });
      await pair
        .moves(dies)
        .move({ ...pair.request, direction: 'agent' })
        .catch(ignoreKilled);
      await refused(pair.from.plane.createContract(aContract()), 'DATA_MOVING');
      await refused(pair.from.plane.removeEnded({}), 'DATA_MOVING');
      await refused(pair.to.plane.listContracts({}), 'DATA_MOVING');
      expect((await pair.from.plane.listContracts({})).total).to.equal(4);
      expect((await pair.moves().cancel(pair.request)).phase).to.equal('cancelled');
      await pair.from.plane.createContract(aContract());
      expect(Object.values(await rowsOf(pair.to.database, pair.call.tenantId)).flat()).to.deep.equal([]);
      expect((await pair.moves().move({ ...pair.request, direction: 'agent' })).phase).to.equal('moved');
    });

    it('is not switched if a row or a file differs, and what differs is copied again', async () => {
      for (const tamper of [changeRow, changeFile]) {
        const pair = await filled(opened, LARGE);
        const sent = await rowsOf(pair.from.database, pair.call.tenantId);
        const changes = first('digestRows', () => tamper(pair));
        await faulty(pair.moves(changes).move({ ...pair.request, direction: 'agent' }), 'DATA_MOVE_UNVERIFIED');
        await refused(pair.from.plane.createContract(aContract()), 'DATA_MOVING');
        await refused(pair.to.plane.listContracts({}), 'DATA_MOVING');
        await pair.moves().move({ ...pair.request, direction: 'agent' });
        expect(await rowsOf(pair.to.database, pair.call.tenantId)).to.deep.equal(await chained(pair, sent));
      }
    });

    it('is refused by a data plane that has data, and by a second process', async () => {
      const pair = await filled(opened);
      await pair.to.plane.createContract(aContract());
      await faulty(pair.moves().move({ ...pair.request, direction: 'agent' }), 'DATA_MOVE_NOT_EMPTY');
      await pair.from.plane.createContract(aContract());
      const other = await filled(opened);
      let second: Promise<unknown> = Promise.resolve();
      const begins = first('readRowsToMove', async () => {
        second = faulty(
          other.moves(undefined, { waitMs: 0 }).move({ ...other.request, direction: 'agent' }),
          'DATA_MOVE_RUNNING',
        );
        await second;
      });
      expect((await other.moves(begins).move({ ...other.request, direction: 'agent' })).phase).to.equal('moved');
      await second;
    });

    it('includes what a transaction writes that had begun before', async () => {
      const pair = await filled(opened);
      const id = newId();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: written, resolve: hasWritten } = Promise.withResolvers<void>();
      const writing = pair.from.database.write({ tenantId: pair.call.tenantId }, async (tx) => {
        await tx.run('INSERT INTO closed_records (tenant_id, id, record_id, ends_at) VALUES (?, ?, ?, ?)', [
          pair.call.tenantId,
          id,
          id,
          1,
        ]);
        hasWritten();
        await released;
      });
      await written;
      const moving = pair.moves().move({ ...pair.request, direction: 'agent' });
      const phase = async () => (await pair.moves().latest(pair.call.tenantId))?.phase;
      try {
        await until(async () => (await phase()) === 'freezing', 'the data plane is about to be frozen');
        await sleep(300);
        expect(await phase()).to.equal('freezing');
      } finally {
        release();
      }
      await writing;
      await moving;
      const rows = (await rowsOf(pair.to.database, pair.call.tenantId))['closed_records'];
      expect(rows?.map((row) => row['id'])).to.deep.equal([id]);
    });
  });
}

interface Sizes {
  /** Of the report and the answer, in characters. */
  readonly text: number;
  /** Of the file, in bytes. */
  readonly file: number;
}
/** Larger than a page of rows and than a part of a file. */
const LARGE: Sizes = { text: 1_300_000, file: 8_500_000 };
const SMALL: Sizes = { text: 10_000, file: 10_000 };
const bytesOf = (size: number): Buffer => Buffer.alloc(size, 'the bytes of a file');

/** An organisation with contracts, a report of an import, an answer to a key, and a file. */
async function filled(opened: OpenPair, sizes = SMALL): Promise<PlanePair> {
  const pair = await opened.pair();
  const { from, call } = pair;
  const { tenantId } = call;
  for (let n = 0; n < 3; n += 1)
    await from.plane.createContract(aContract({ payments: [aLine()], remark: '远航 🚢 '.repeat(900).trim() }));
  const contract = aContract({ contractNo: 'REPEATED' });
  await from.as({ idempotency: KEY }).createContract(contract);
  const text = JSON.stringify({ text: '🚢 远航'.repeat(sizes.text / 5) });
  const fileId = newId();
  const key = `tenants/${tenantId}/2026/03/${fileId}`;
  const about = { sizeBytes: sizes.file, contentType: 'application/pdf' };
  const { etag } = await from.objects.write(key, Readable.from([bytesOf(sizes.file)]), about);
  await from.database.write({ tenantId }, async (tx) => {
    await tx.run(
      'INSERT INTO import_batches (tenant_id, id, report, rejected, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
      [tenantId, newId(), text, text.slice(0, 1_200_000), 1, 2],
    );
    await tx.run(
      'INSERT INTO idempotency_records (tenant_id, key, operation, request_hash, answer, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
      [tenantId, 'large', 'x', 'x', from.keyRing.seal(text, `idempotency_records.answer.${tenantId}.large`), 2],
    );
    await tx.run(
      "INSERT INTO files (tenant_id, id, kind, file_name, created_at, updated_at, content_type, size_bytes, sha256, object_key, etag, scan_status, scan_tries) VALUES (?, ?, 'receipt', 'a', 1, 1, 'application/pdf', ?, 'x', ?, ?, 'clean', 0)",
      [tenantId, fileId, sizes.file, key, etag],
    );
  });
  await completeFigures(from.database, tenantId);
  return pair;
}

/** The rows as they are when the audit is chained, which a move does first. */
async function chained(pair: PlanePair, sent: Awaited<ReturnType<typeof rowsOf>>) {
  const now = await rowsOf(pair.from.database, pair.call.tenantId);
  return { ...sent, audit_log: now['audit_log'], audit_heads: now['audit_heads'] };
}

async function listed<T>(objects: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const object of objects) all.push(object);
  return all;
}

class Killed extends Error {}

const ignoreKilled = (error: unknown): void => {
  if (!(error instanceof Killed)) throw error;
};

type Invoke = DataPlane<Operations>['invoke'];
type AnyInvoke = (...asked: Parameters<Invoke>) => Promise<never>;

/** Calls of the data planes, each with what to do before or after it. */
function around(work: (name: string, isAgent: boolean, invoke: () => Promise<never>) => Promise<never>) {
  return ({ embedded, agent }: Planes): Planes => {
    const wrapped = (plane: DataPlane<Operations>, isAgent: boolean): DataPlane<Operations> => {
      const invoke: AnyInvoke = (name, ...rest) =>
        work(name, isAgent, () => plane.invoke(name, ...rest) as Promise<never>);
      return { invoke: invoke as Invoke };
    };
    return { embedded: wrapped(embedded, false), agent: wrapped(agent, true) };
  };
}

/** The process ends at a call: before or after it has an effect. From then on it does nothing. */
function killed({ after = Infinity, at, isDone = false }: { after?: number; at?: string; isDone?: boolean }) {
  let calls = 0;
  return around(async (name, _isAgent, invoke) => {
    calls += 1;
    if (calls < after && name !== at) return invoke();
    // The questions before a move are harmless.
    if (at !== undefined && calls < 12) return invoke();
    if (isDone) await invoke();
    throw new Killed();
  });
}

/** Does something before the first call of that name by the move itself. */
function first(at: string, what: () => Promise<void>) {
  let isOver = false;
  let hasBegun = false;
  return around(async (name, _isAgent, invoke) => {
    hasBegun ||= name === 'beginMovingOut';
    if (name === at && hasBegun && !isOver) {
      isOver = true;
      await what();
    }
    return invoke();
  });
}

async function changeRow({ to, call: { tenantId } }: PlanePair): Promise<void> {
  await to.database.write({ tenantId }, (tx) =>
    tx.run("UPDATE contracts SET party_b = 'somebody else' WHERE tenant_id = ? AND contract_no = 'REPEATED'", [
      tenantId,
    ]),
  );
}

async function changeFile({ to, call: { tenantId } }: PlanePair): Promise<void> {
  const [file] = (await rowsOf(to.database, tenantId))['files'] ?? [];
  const other = Buffer.alloc(Number(file?.['size_bytes']), 'other bytes');
  await to.objects.write(String(file?.['object_key']), Readable.from([other]), {
    sizeBytes: other.length,
    contentType: 'application/pdf',
  });
}

async function refused(work: Promise<unknown>, code: FailureCode): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isFailure(error, code), `${code}, but ${String(error)}`).to.equal(true);
}

async function faulty(work: Promise<unknown>, code: MoveFault['code']): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(MoveFault);
  expect((error as MoveFault).code).to.equal(code);
}
