import { expect } from 'chai';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { Insertion } from '../../data-plane-agent/base/database/insertion.js';
import { addDays } from '../../data-plane-agent/base/day.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { TestPlane } from '../support/plane.js';
import { forEachReplicas } from '../support/replicas.js';
import { rebuildRollups, rollupsOf } from '../support/rollups.js';
import { aContract, aLine } from '../support/samples.js';
import { until } from '../support/file-server.js';

/** In how many transactions the rows of a table were last written. */
const transactionsOf = async ({ database, call }: TestPlane, table: 'contracts' | 'receipts'): Promise<number> => {
  const row = await database.read(call, (tx) =>
    tx.get(`SELECT count(DISTINCT xmin::text) AS n FROM ${table} WHERE tenant_id = ?`, [call.tenantId]),
  );
  return Number(row?.['n']);
};

const codeOf = (error: unknown): string => (isFailure(error) ? error.code : String(error));

/**
 * Keeps organisations from entering their first types and templates until so many transactions wait to do so. Otherwise
 * the second four may begin so late that they find what the first four have entered. Resolves once the lock is held;
 * `over` once it was released.
 */
async function holdingTypes(database: Database, waiters: number): Promise<{ readonly over: Promise<void> }> {
  const held = Promise.withResolvers<void>();
  const over = database.write({ tenantId: newId() }, async (tx) => {
    await tx.all('LOCK TABLE lifecycle_templates IN SHARE MODE');
    held.resolve();
    const waiting = () =>
      tx.get("SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'lifecycle_templates'::regclass");
    await until(waiting, (row) => Number(row?.['n']) >= waiters);
  });
  await Promise.race([held.promise, over]);
  return { over };
}

async function asRebuilt(test: TestPlane): Promise<void> {
  const kept = await rollupsOf(test);
  await rebuildRollups(test);
  expect(kept).to.deep.equal(await rollupsOf(test));
}

interface Noted {
  /** What locks rows, or takes a lock. */
  readonly locks: Set<string>;
  /** The tables that are read as what does not change, and those that are changed. */
  readonly steady: Set<string>;
  readonly changed: Set<string>;
}

/** A database that notes what the statements of its writes do. */
function noting(database: Database, { locks, steady, changed }: Noted): Database {
  const LOCKING = /FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?|pg_(?:try_)?advisory\w+/;
  const watched = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (given: unknown, ...more: unknown[]): unknown => {
          const sql = given instanceof Insertion ? given.sql(1) : given;
          const read = name === 'steady' ? /FROM (\w+)/g : /(?:INSERT INTO|(?<!DO |FOR )UPDATE|DELETE FROM) (\w+)/g;
          for (const [, table = ''] of String(sql).matchAll(read)) (name === 'steady' ? steady : changed).add(table);
          const [lock] = LOCKING.exec(name === 'getForUpdate' ? 'FOR UPDATE' : String(sql)) ?? [];
          if (lock !== undefined) locks.add(name === 'getForUpdate' ? `${lock}, noted` : lock);
          return value.call(target, given, ...more) as unknown;
        };
      },
    });
  const write: Database['write'] = (scope, work, options) => database.write(scope, (tx) => work(watched(tx)), options);
  return Object.assign(Object.create(database) as Database, { dialect: database.dialect, write });
}

describe('writes of many at once', () => {
  forEachReplicas((name, replicas) => {
    it('enter contracts together, and refuse a number that another has', async () => {
      const [test] = replicas().both();
      const numbers = Array.from({ length: 34 }, (_, n) => `N-${n}`);
      const enter = (contractNo: string) => test.plane.createContract(aContract({ contractNo, payments: [aLine()] }));
      const [first = '', ...others] = numbers;
      await enter(first);
      await Promise.all(others.map(enter));
      if (name === 'postgres') expect(await transactionsOf(test, 'contracts')).to.equal(6); // four of eight
      const again = await Promise.allSettled(
        [...numbers.slice(0, 5), 'N-34', 'N-35', 'N-35', 'N-36', 'N-36'].map((contractNo) =>
          test.plane.createContract(aContract({ contractNo })),
        ),
      );
      const refused = again.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []));
      expect(refused).to.deep.equal(Array<string>(7).fill('DUPLICATE_CONTRACT_NO'));
      expect((await test.plane.listContracts({})).total).to.equal(37);
      await asRebuilt(test);
    });

    it('are the first of an organisation, whose types come with the first of them', async () => {
      const [test, other] = replicas().both();
      const hold = name === 'postgres' ? await holdingTypes(other.database, 2) : undefined;
      const refused = Array.from({ length: 4 }, () =>
        test.plane.recordReceipt({ paymentId: newId(), receivedAmount: 1 }).catch(codeOf),
      );
      const entered = Array.from({ length: 8 }, () => test.plane.createContract(aContract({ typeCode: 'sale' })));
      await hold?.over;
      expect(await Promise.all(refused)).to.deep.equal(Array<string>(4).fill('NOT_FOUND'));
      expect((await Promise.all(entered)).map(({ typeCode }) => typeCode)).to.deep.equal(Array<string>(8).fill('sale'));
      // Four creates are in the transaction of the four receipts; the first of each four is by itself.
      if (name === 'postgres') expect(await transactionsOf(test, 'contracts')).to.equal(4);
    });

    it('leave no more to be added to the figures than others, however many lines they have', async function () {
      this.timeout(120_000);
      const [test] = replicas().both();
      const { database, call } = test;
      // The first has about as many entries as are left as text; the second has more.
      for (const [lines, count] of [
        [90, 60],
        [150, 12],
      ] as const) {
        const payments = Array.from({ length: lines }, (_, n) =>
          aLine({ period: `P${n}`, dueDate: addDays('2026-01-01', n), amount: 10 }),
        );
        await Promise.all(Array.from({ length: count }, () => test.plane.createContract(aContract({ payments }))));
      }
      const row = await database.read(call, (tx) =>
        tx.get('SELECT count(*) AS n FROM waiting_figures WHERE tenant_id = ?', [call.tenantId]),
      );
      expect(Number(row?.['n'])).to.be.below(16);
      await asRebuilt(test);
    });

    it('keep the totals of each contract and its version, whichever replica they come to', async function () {
      this.timeout(120_000);
      const [test, other] = replicas().both();
      const contracts = await Promise.all(
        Array.from({ length: 3 }, () =>
          test.plane.createContract(
            aContract({ payments: Array.from({ length: 4 }, (_, n) => aLine({ period: `P${n}`, amount: 1_000 })) }),
          ),
        ),
      );
      const lines = contracts.flatMap(({ payments }) => payments.map(({ id }) => id));
      const receipts = lines.flatMap((paymentId, i) =>
        Array.from({ length: 6 }, (_, n) =>
          (n % 2 ? test : other).plane.addReceipt({ paymentId, amount: 10 + i, bankSerialNo: `S-${i}-${n}` }),
        ),
      );
      const answers = await Promise.all(receipts);
      expect(answers).to.have.length(72);
      for (const { id, version, payments } of contracts) {
        const now = await test.plane.getContract({ contractId: id });
        const received = payments.map((line) => 6 * (10 + lines.indexOf(line.id)));
        const byId = new Map(now.payments.map((line) => [line.id, line.receivedAmount]));
        expect(payments.map((line) => byId.get(line.id))).to.deep.equal(received);
        expect(now.receivedAmount).to.equal(received.reduce((sum, one) => sum + one, 0));
        expect(now.version).to.equal(version + 24);
      }
      await asRebuilt(test);
    });

    it('enter a contract once for a key, whichever replica it comes to', async () => {
      const [test, other] = replicas().both();
      const keys = Array.from({ length: 20 }, (_, n) => `key-${n}`);
      const entered = await Promise.all(
        keys.flatMap((key) =>
          [test, other].map(({ as }) =>
            as({ idempotency: { key, requestHash: 'aa' } })
              .createContract(aContract({ contractNo: key, payments: [aLine()] }))
              .then(({ id }) => id, codeOf),
          ),
        ),
      );
      const stored = await Promise.all(
        keys.map((key) =>
          test.as({ idempotency: { key, requestHash: 'aa' } }).createContract(aContract({ contractNo: key })),
        ),
      );
      expect(new Set(entered.filter((one) => one !== 'IDEMPOTENCY_IN_PROGRESS'))).to.deep.equal(
        new Set(stored.map(({ id }) => id)),
      );
      expect((await test.plane.listContracts({})).total).to.equal(20);
      await asRebuilt(test);
    });

    if (name === 'postgres')
      it('lock nothing that other parts would not notice, and change nothing that others read as steady', async () => {
        const [test] = replicas().both();
        const noted: Noted = { locks: new Set(), steady: new Set(), changed: new Set() };
        const data = replicas().planeOn(noting(test.database, noted));
        const plane = bind(
          data,
          { ...test.call, idempotency: { key: 'once', requestHash: 'aa' } },
          { operations: OPERATIONS },
        );
        const { payments } = await test.plane.createContract(aContract({ payments: [aLine()] }));
        const paymentId = payments[0]?.id ?? '';
        const runs: Readonly<Record<string, () => Promise<unknown>>> = {
          createContract: () => plane.createContract(aContract({ payments: [aLine({ bankSerialNo: 'S-1' })] })),
          addReceipt: () => plane.addReceipt({ paymentId, amount: 1, bankSerialNo: 'S-1' }),
          recordReceipt: () => plane.recordReceipt({ paymentId, receivedAmount: 2, bankSerialNo: 'S-2' }),
        };
        const sharing = Object.entries(OPERATIONS).flatMap(([key, one]) =>
          'mayShare' in one && one.mayShare ? [key] : [],
        );
        expect(sharing).to.have.members(Object.keys(runs));
        for (const run of Object.values(runs)) {
          await run();
          await test.database.write(test.call, (tx) =>
            tx.run('DELETE FROM idempotency_records WHERE tenant_id = ?', [test.call.tenantId]),
          );
        }
        expect(noted.steady).to.include.all.keys(
          'closed_records',
          'data_moves',
          'lifecycle_stages',
          'lifecycle_templates',
        );
        expect(noted.changed).to.include.all.keys(
          'contracts',
          'payment_lines',
          'receipts',
          'audit_log',
          'data_versions',
        );
        expect([...noted.steady].filter((table) => noted.changed.has(table))).to.deep.equal([]);
        expect([...noted.locks]).to.have.members([
          'FOR UPDATE, noted',
          'FOR UPDATE SKIP LOCKED', // deletes the rows that it locks
          'pg_advisory_xact_lock_shared', // excludes no other writer of the kind
          'pg_try_advisory_xact_lock', // of a key, with which a process runs one request at a time
        ]);
      });

    it('have receipts share a transaction', async () => {
      const [test] = replicas().both();
      const lines = await Promise.all(
        Array.from({ length: 18 }, async () => {
          const { payments } = await test.plane.createContract(aContract({ payments: [aLine()] }));
          return payments[0]?.id ?? '';
        }),
      );
      await Promise.all(lines.map((paymentId) => test.plane.recordReceipt({ paymentId, receivedAmount: 1 })));
      if (name === 'postgres') expect(await transactionsOf(test, 'receipts')).to.equal(3);
      expect(await test.plane.getPaymentStats({})).to.include({ received: 18 });
      await asRebuilt(test);
    });
  });
});
