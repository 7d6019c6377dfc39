import { expect } from 'chai';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { invoices } from '../../data-plane-agent/plane/tables/invoices.js';
import { tasks } from '../../data-plane-agent/plane/tables/tasks.js';
import { newTask } from '../../data-plane-agent/plane/domain/tasks/tasks.js';
import { RollupDelta } from '../../data-plane-agent/plane/store/rollup-delta.js';
import { InvoiceStore } from '../../data-plane-agent/plane/store/invoices.js';
import { ChangeRecorder } from '../../data-plane-agent/plane/store/change-recorder.js';
import { TaskStore } from '../../data-plane-agent/plane/store/tasks.js';
import { analyse, explaining } from '../support/explaining.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const OWNERS = [newId(), newId(), newId(), newId()];

describe('the queries for invoice records and fulfillment tasks', () => {
  forEachPlane(
    (_name, makePlane) => {
      let t: TestPlane;
      let contractId = '';
      let lineId = '';
      before('a book large enough that a planner prefers indexes', async function () {
        this.timeout(180_000);
        t = makePlane();
        const contracts: Awaited<ReturnType<TestPlane['plane']['createContract']>>[] = [];
        for (let n = 0; n < 50; n++) contracts.push(await t.plane.createContract(aContract({ payments: [aLine()] })));
        [contractId, lineId] = [contracts[0]?.id ?? '', contracts[0]?.payments[0]?.id ?? ''];
        await t.database.write(t.call, (tx) => fill(tx, t, contracts));
        await analyse(t.database);
      });

      const plansOf = async (
        read: (stores: { invoices: InvoiceStore; tasks: TaskStore }) => Promise<unknown>,
      ): Promise<string[]> => {
        const plans: string[] = [];
        await t.database.read(t.call, async (tx) => {
          const noting = explaining(tx, plans);
          await read({
            invoices: new InvoiceStore(noting, t.call, {
              recorder: new ChangeRecorder(),
              rollupDelta: new RollupDelta(),
            }),
            tasks: new TaskStore(noting, t.call, new ChangeRecorder()),
          });
        });
        return plans;
      };

      it('those of a contract and of a line are found by the contract', async () => {
        const plans = await plansOf(async (store) => {
          await store.invoices.ofContract(contractId);
          await store.invoices.linkedTo(contractId, lineId);
          await store.invoices.linkedTo(contractId, null);
          await store.invoices.count(contractId);
          await store.tasks.ofContract(contractId);
        });
        expect(plans).to.have.length(5);
        for (const plan of plans.slice(0, 4))
          expect(plan)
            .to.match(/invoices_by_contract|invoices_invoice_no/)
            .and.not.to.match(/Seq Scan|SCAN invoices/);
        expect(plans[4]).to.match(/tasks_by_contract|tasks_code/);
      });

      it('a number is found in its own index', async () => {
        const [plan] = await plansOf((store) => store.invoices.holderOf(OWNERS[0] ?? '', 'n-77'));
        expect(plan).to.include('invoices_invoice_no');
      });

      it('due tasks are found among open ones, and the step reads no others', async () => {
        const [plan] = await plansOf((store) => store.tasks.contractsFallenDue('2026-01-03', 20));
        expect(plan).to.include('tasks_falling_due');
      });

      it("a member's tasks are found among open ones", async () => {
        const plans = await plansOf(async (store) => {
          await store.tasks.countOpenOf(OWNERS[1] ?? '');
          await store.tasks.samplesOf(OWNERS[1] ?? '');
          await store.tasks.subjectsOf(OWNERS[1] ?? '');
        });
        for (const plan of plans) expect(plan).to.include('tasks_open_of_owner');
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});

/** Few tasks are open, as most are done. */
async function fill(
  tx: Transaction,
  { call: { tenantId } }: TestPlane,
  contracts: readonly {
    readonly id: string;
    readonly subjectId: string;
    readonly payments: readonly { readonly id: string }[];
  }[],
): Promise<void> {
  const context = { today: '2026-03-15', now: 0, actorId: null };
  for (const { id, subjectId, payments } of contracts) {
    const several = Array.from({ length: 40 }, (_, n) => n);
    await tasks.insert(
      tx,
      tenantId,
      several.map((n) =>
        newTask(
          {
            code: `t-${n}`,
            title: 'x',
            status: n % 10 === 0 ? 'pending' : 'accepted',
            dueDate: `2026-01-${10 + (n % 20)}`,
            ownerId: OWNERS[n % 20 === 0 ? 1 : 0] ?? null,
          },
          { id: newId(), contractId: id },
          context,
        ),
      ),
    );
    await invoices.insert(
      tx,
      tenantId,
      several.map((n) => ({
        id: newId(),
        contractId: id,
        lineId: n % 2 === 0 ? (payments[0]?.id ?? null) : null,
        receiptId: null,
        subjectId,
        invoiceNo: `n-${n}`,
        invoiceKey: `n-${n}`,
        amountMinor: 100,
        currencyCode: 'CNY',
        invoiceDate: null,
        status: 'issued' as const,
        attachment: null,
        taxRate: null,
        note: null,
        fromLine: false,
        reversesId: null,
        reversedById: null,
        createdAt: n,
        createdBy: null,
        updatedAt: n,
        updatedBy: null,
        deletedAt: null,
      })),
    );
  }
}
