import { expect } from 'chai';
import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { PAYMENT_TABS, type PaymentTab } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { pageStatement, type PaymentFilter } from '../../data-plane-agent/plane/store/payment-list.js';
import { analyse } from '../support/explaining.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const INDEX_OF: Readonly<Record<PaymentTab, string>> = {
  due: 'lines_by_state',
  overdue: 'lines_by_state',
  reconcile: 'lines_to_reconcile',
  invoice: 'lines_by_state',
  all: 'lines_by_state',
};

describe('the queries for payment lines', () => {
  forEachPlane(
    (name, makePlane) => {
      let test: TestPlane;
      let contractId = '';
      before('a book large enough that a planner prefers indexes', async function () {
        this.timeout(180_000);
        test = makePlane();
        for (let n = 0; n < 15; n++)
          contractId = (
            await test.plane.createContract(
              aContract({ payments: Array.from({ length: 200 }, (_, i) => someLine(n * 200 + i)) }),
            )
          ).id;
        await analyse(test.database);
      });

      for (const tab of PAYMENT_TABS) {
        it(`a page of ${tab} scans ${INDEX_OF[tab]} in its order, and reads only the rows of the page`, async () => {
          const plan = await planOf({ tab });
          expect(plan).to.match(
            new RegExp(
              name === 'sqlite'
                ? `SEARCH payment_lines USING COVERING INDEX ${INDEX_OF[tab]} `
                : `Index (Only )?Scan (Backward )?using ${INDEX_OF[tab]} `,
            ),
          );
          // Only the page is sorted, never the tab: the inner statement has no sort.
          expect(innerSorts(plan), plan).to.equal(0);
        });
      }

      it('the lines of a contract are found by its id', async () => {
        expect(await planOf({ tab: 'all', contractId }))
          .to.include('lines_by_contract')
          .and.not.include('Seq Scan on payment_lines');
      });

      // PostgreSQL plans by its statistics.
      if (name === 'sqlite')
        it('the first pages of a large subject company scan the tab in its order', async () => {
          expect(await planOf({ tab: 'overdue', subjectId: contractId, total: 10_000 })).to.include('lines_by_state');
        });

      it('a line paid by the same transfer is found by its serial number', async () => {
        const plan = await test.database.read(test.call, (tx) =>
          explain(tx, 'SELECT id FROM payment_lines WHERE tenant_id = ? AND bank_serial_no = ?', [
            test.call.tenantId,
            'S-1',
          ]),
        );
        expect(plan).to.include('lines_by_bank_serial');
      });

      it('receipts are found by the id of their line', async () => {
        const plan = await test.database.read(test.call, (tx) =>
          explain(tx, 'SELECT id FROM receipts WHERE tenant_id = ? AND line_id = ? ORDER BY id DESC LIMIT ?', [
            test.call.tenantId,
            contractId,
            20,
          ]),
        );
        expect(plan).to.include('receipts_by_line').and.not.include('Seq Scan');
      });

      const planOf = ({
        tab,
        contractId: only = null,
        subjectId = null,
        total = 100,
      }: Pick<PaymentFilter, 'tab'> & Partial<PaymentFilter> & { total?: number }): Promise<string> =>
        test.database.read(test.call, (tx) => {
          const { sql, values } = pageStatement({
            dialect: tx.dialect,
            call: test.call,
            filter: { tab, contractId: only, subjectId, includeDeleted: false },
            limit: 20,
            offset: 0,
            total,
          });
          return explain(tx, sql, values);
        });
    },
    { only: ['sqlite', 'postgres'] },
  );
});

/** Lines on every tab, each a small part of the table. */
const someLine = (n: number) =>
  aLine({
    period: `P${n}`,
    dueDate: `20${20 + (n % 12)}-0${1 + (n % 9)}-1${n % 10}`,
    amount: 10,
    receivedAmount: n % 7 === 0 ? 0 : 10,
    reconciliationStatus: n % 11 === 0 || n % 7 === 0 ? 'pending' : 'matched',
    invoiceAmount: n % 5 === 0 ? 0 : 10,
    ...(n % 100 === 0 ? { bankSerialNo: 'S-1' } : {}),
  });

async function explain(tx: Transaction, sql: string, values: readonly (string | number | null)[]): Promise<string> {
  const rows = await tx.all(`${tx.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${sql}`, values);
  return rows
    .map((row: Row) =>
      tx.dialect === 'sqlite'
        ? `${row['parent'] === 0 ? '' : '  '}${String(row['detail'])}`
        : String(row['QUERY PLAN']),
    )
    .join('\n');
}

/**
 * Sorts below the limit. SQLite indents the inner statement; PostgreSQL prints it below `Limit`, each node with its cost,
 * and what sorted inputs are merged by as their `Sort Key`.
 */
function innerSorts(plan: string): number {
  const lines = plan.split('\n');
  if (!plan.includes('Limit')) return lines.filter((line) => /^ .*TEMP B-TREE/.test(line)).length;
  return lines.slice(lines.findIndex((line) => line.includes('Limit'))).filter((line) => /Sort +\(/.test(line)).length;
}
