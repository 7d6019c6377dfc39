import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { addWaiting, WaitingCount } from '../../data-plane-agent/plane/store/waiting-figures.js';
import type { TestPlane } from '../support/plane.js';
import { forEachReplicas } from '../support/replicas.js';
import { rebuildRollups, rollupsOf, withoutContracts } from '../support/rollups.js';
import { aContract, aLine } from '../support/samples.js';

const waitingOf = async ({ database, call }: TestPlane): Promise<number> => {
  const row = await database.read(call, (tx) =>
    tx.get('SELECT count(*) AS n FROM waiting_figures WHERE tenant_id = ?', [call.tenantId]),
  );
  return Number(row?.['n']);
};

async function asRebuilt(test: TestPlane): Promise<void> {
  const kept = await rollupsOf(test);
  await rebuildRollups(test);
  expect(kept).to.deep.equal(await rollupsOf(test));
}

async function someLines({ plane }: TestPlane, count: number): Promise<string[]> {
  const { payments } = await plane.createContract(
    aContract({
      payments: Array.from({ length: count }, (_, n) => aLine({ period: `P${n}`, dueDate: '2026-03-10', amount: 100 })),
    }),
  );
  return payments.map(({ id }) => id);
}

describe('figures that wait to be added to the rollups', () => {
  it('are added by the first write of a process, then after many or large ones, twice as many', () => {
    const count = new WaitingCount();
    const due = (tenant: string, times: number, characters: number) =>
      Array.from({ length: times }, () => count.due(tenant, characters)).flatMap((most, n) =>
        most === 0 ? [] : [[n, most]],
      );
    expect(due('one', 130, 300)).to.deep.equal([
      [0, 64],
      [64, 128],
      [128, 128],
    ]);
    expect(due('other', 10, 10_000)).to.deep.equal([
      [0, 64],
      [4, 8],
      [8, 8],
    ]);
  });

  it('are left while another transaction of the process adds, but not endlessly', () => {
    const count = new WaitingCount();
    const adder = {};
    const due = (characters: number) => count.due('one', characters, adder);
    expect(due(10)).to.equal(64);
    expect([due(33_000), due(33_000), due(33_000)]).to.deep.equal([0, 0, 0]);
    count.ended('one', new Set([{}]));
    expect(due(1)).to.equal(0);
    count.ended('one', new Set([{}, adder]));
    expect(due(1)).to.equal(10);
    expect([due(65_000), due(65_000), due(65_000)]).to.deep.equal([0, 0, 6]);
    expect(count.due('other', 10, adder)).to.equal(64);
  });

  forEachReplicas((name, replicas) => {
    it('are left by each write, seen by all readers, and added by one of many', async () => {
      const [test, other] = replicas().both();
      const [paymentId = ''] = await someLines(test, 1);
      expect(await waitingOf(test)).to.equal(0);
      const seen: number[] = [];
      for (let n = 1; n <= 64; n++) {
        await test.plane.recordReceipt({ paymentId, receivedAmount: n });
        seen.push(await waitingOf(test));
        if (n % 16 === 0)
          for (const plane of [test.plane, other.plane, replicas().fresh(test, test.call)])
            expect(await plane.getPaymentStats({})).to.include({ received: n, outstanding: 100 - n });
      }
      expect(seen).to.deep.equal([...Array.from({ length: 63 }, (_, n) => n + 1), 0]);
      await asRebuilt(test);
    });

    it('are left by each process, and each adds what an ended one has left', async () => {
      const [test, other] = replicas().both();
      const [paymentId = ''] = await someLines(test, 1);
      for (let n = 1; n <= 10; n++) await test.plane.recordReceipt({ paymentId, receivedAmount: n });
      expect(await waitingOf(test)).to.equal(10);
      await other.plane.recordReceipt({ paymentId, receivedAmount: 20 });
      expect(await waitingOf(test)).to.equal(0);
      await asRebuilt(test);
    });

    it('are also added if an earlier release has left them', async () => {
      const [test] = replicas().both();
      const { database, call } = test;
      const [paymentId = ''] = await someLines(test, 1);
      await test.plane.recordReceipt({ paymentId, receivedAmount: 40 });
      await database.write(call, async (tx) => {
        const [row, ...others] = await tx.all('SELECT id, changes FROM waiting_figures WHERE tenant_id = ?', [
          call.tenantId,
        ]);
        expect(others).to.deep.equal([]);
        const changes = String(row?.['changes']);
        expect(withoutContracts(changes)).to.have.length.below(changes.length);
        await tx.run('UPDATE waiting_figures SET changes = ? WHERE tenant_id = ? AND id = ?', [
          withoutContracts(changes),
          call.tenantId,
          row?.['id'] ?? null,
        ]);
      });
      expect(await replicas().fresh(test, call).getPaymentStats({})).to.include({ received: 40, outstanding: 60 });
      await asRebuilt(test);
    });

    it('are not left by a refused write', async () => {
      const [test] = replicas().both();
      await test.plane.createContract(aContract({ contractNo: 'ONE', payments: [aLine()] }));
      await test.plane.createContract(aContract({ contractNo: 'ONE', payments: [aLine()] })).then(
        () => expect.fail('the number is taken'),
        (error: unknown) => expect(isFailure(error)).to.equal(true),
      );
      expect(await waitingOf(test)).to.equal(0);
    });

    it('are added once by several transactions at once, while others write and read', async function () {
      this.timeout(120_000);
      const [test, other] = replicas().both();
      const { database, call } = test;
      const lines = await someLines(test, 12);
      const wrong: number[] = [];
      let isOver = false;
      const reading = (async () => {
        while (!isOver) {
          const { received, outstanding } = await replicas().fresh(test, call).getPaymentStats({});
          if (received + outstanding !== 1_200) wrong.push(received + outstanding);
        }
      })();
      const adding = Array.from({ length: 3 }, async () => {
        while (!isOver) await database.write(call, (tx) => addWaiting(tx, call.tenantId, { most: 5 }));
      });
      await Promise.all(
        lines.map(async (paymentId, i) => {
          for (let n = 1; n <= 12; n++)
            await (i % 2 ? test : other).plane.recordReceipt({ paymentId, receivedAmount: n * 5 });
        }),
      );
      isOver = true;
      await Promise.all([reading, ...adding]);
      expect(wrong).to.deep.equal([]);
      expect(await test.plane.getPaymentStats({})).to.include({ received: 720, outstanding: 480 });
      await asRebuilt(test);
    });

    if (name === 'postgres')
      it('are counted once by a transaction that writes, whatever is added meanwhile', async () => {
        const [test] = replicas().both();
        const { database, call } = test;
        const [paymentId = ''] = await someLines(test, 1);
        await test.plane.recordReceipt({ paymentId, receivedAmount: 4 });
        const reading: Operations = {
          ...OPERATIONS,
          createContract: {
            ...OPERATIONS.createContract,
            async run(context, asked, input) {
              const tallies = await context.store.figures.tallies(null);
              // What was read is locked: the first adds nothing, the second waits.
              seen.push(await database.write(call, (tx) => addWaiting(tx, call.tenantId)));
              all = database.write(call, (tx) => addWaiting(tx, call.tenantId, { waits: true }));
              expect(await Promise.race([all, sleep(100, 'waits')])).to.equal('waits');
              seen.push(Number(tallies.status.reduce((sum, { outstanding }) => sum + outstanding, 0n)));
              return OPERATIONS.createContract.run(context, asked, input);
            },
          },
        };
        const seen: number[] = [];
        let all: Promise<number> | undefined;
        const data = replicas().planeOn(database, reading);
        await bind(data, call, { operations: OPERATIONS }).createContract(aContract());
        expect(seen).to.deep.equal([0, 9_600]);
        expect(await all).to.equal(0); // the contract's own write has added it
        await asRebuilt(test);
      });
  });
});
