import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentPage, PaymentStats } from '../../data-plane-agent/plane/contract/records/lines.js';
import { makeTenant, OPERATOR, signIn } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import { enterCsv } from '../support/enter-csv.js';
import type { Client } from '../support/http.js';
import { forEachServer } from '../support/server.js';
import type { ContractPage } from '../../server/endpoints/named.js';

// The clock shows 17:00 UTC on 14 March, which is already 15 March in Shanghai, the time zone of this tenant.
const NOW = '2026-03-14T17:00:00.000Z';

/*
 * The figures below were worked out from the CSV alone, with decimal arithmetic in a spreadsheet's manner, before the
 * product saw it:
 *   currency      = lineCurrency, or currencyCode where that is empty
 *   outstanding   = MAX(0, amount - receivedAmount)        uninvoiced = MAX(0, amount - invoiceAmount)
 *   overdue       = outstanding where dueDate <  2026-03-15
 *   dueSoon       = outstanding where dueDate >= 2026-03-15 and dueDate <= 2026-03-22 (seven days of lead)
 *   sums          = SUMIF by currency; counts = COUNTIF over all rows
 *   contracts     = a pivot of the rows by contractNo; what a contract shows adds only lines in its own currency
 */
const CNY = {
  amount: 5862125.23,
  received: 2486644.86,
  outstanding: 3379705.37,
  overdue: 527688.66,
  dueSoon: 394983.06,
  uninvoiced: 4122896.66,
};
const JPY = {
  amount: 18562584,
  received: 12283035,
  outstanding: 6279549,
  overdue: 1839090,
  dueSoon: 1085074,
  uninvoiced: 8341551,
};
const KWD = {
  amount: 37820.345,
  received: 23592.723,
  outstanding: 14227.622,
  overdue: 2604.687,
  dueSoon: 0,
  uninvoiced: 21404.791,
};
const USD = {
  amount: 175913.42,
  received: 38140.18,
  outstanding: 137872.22,
  overdue: 62168.94,
  dueSoon: 0,
  uninvoiced: 136903.41,
};
const COUNTS = {
  due: 113,
  overdue: 44,
  dueSoon: 8,
  reconcile: 80,
  invoice: 162,
  paid: 101,
  partial: 37,
  unpaid: 120,
  all: 258,
};

describe('fifty contracts from a CSV', () => {
  forEachServer(
    (server) => {
      let owner: Client;
      let details: readonly ContractDetail[];
      const subjects = new Map<string, string>();
      before('entered through the API', async function () {
        this.timeout(180_000);
        const { services, client } = server();
        const made = await makeTenant(services);
        const tenantId = made.tenant.id;
        await services.tenants.updateSettings({ tenantId, settings: { timezone: 'Asia/Shanghai' } }, OPERATOR);
        for (const name of ['Harbour Equipment Ltd', '远航租赁有限公司', 'Pacific Leasing KK'])
          subjects.set(name, (await services.tenants.subjects.add({ tenantId, name }, OPERATOR)).id);
        owner = (await signIn(client, { tenant: made.tenant, member: made.owner })).client;
        details = await enterCsv(readFileSync(new URL('../support/book.csv', import.meta.url), 'utf8'), {
          client: owner,
          subjects,
          ownerId: made.owner.id,
        });
      });

      const contracts = async (query: Record<string, string | number | boolean>) =>
        (await owner.get<ContractPage>('/contracts', { query })).body;
      const payments = async (query: Record<string, string | number>) =>
        (await owner.get<PaymentPage>('/payments', { query })).body;

      it('contain every contract and line', async () => {
        expect(details).to.have.length(50);
        expect(details.flatMap((contract) => contract.payments)).to.have.length(258);
        expect(await contracts({})).to.include({ total: 50, pageCount: 3 });
      });

      it('have the statistics of the manual calculation', async () => {
        expect((await owner.get<PaymentStats>('/payments/stats')).body).to.deep.equal({
          asOf: '2026-03-15',
          counts: COUNTS,
          byCurrency: [
            { currencyCode: 'CNY', ...CNY },
            { currencyCode: 'JPY', ...JPY },
            { currencyCode: 'KWD', ...KWD },
            { currencyCode: 'USD', ...USD },
          ],
          ...CNY,
        });
      });

      it('have as many lines on each tab as were counted', async () => {
        for (const tab of ['due', 'overdue', 'reconcile', 'invoice', 'all'] as const)
          expect((await payments({ tab })).total, tab).to.equal(COUNTS[tab]);
      });

      it('are listed as overdue from the oldest on, with a matching sum', async () => {
        const { items } = await payments({ tab: 'overdue', pageSize: 200 });
        const reported = items.map(({ contractNo, period, dueDate, outstandingAmount, currencyCode, daysOverdue }) => ({
          contractNo,
          period,
          dueDate,
          outstandingAmount,
          currencyCode,
          daysOverdue,
        }));
        expect(reported[0]).to.deep.equal({
          contractNo: 'HT-2025-032',
          period: '2025-02',
          dueDate: '2025-02-10',
          outstandingAmount: 14075.46,
          currencyCode: 'CNY',
          daysOverdue: 398,
        });
        expect(reported.at(-1)).to.deep.equal({
          contractNo: 'HT-2025-008',
          period: 'on delivery',
          dueDate: '2026-03-14',
          outstandingAmount: 3.18,
          currencyCode: 'KWD',
          daysOverdue: 1,
        });
        const sumInFen = items
          .filter(({ currencyCode }) => currencyCode === 'CNY')
          .reduce((sum, { outstandingAmount }) => sum + Math.round(outstandingAmount * 100), 0);
        expect(sumInFen).to.equal(52768866);
      });

      it('split overdue lines and contracts by subject company', async () => {
        const byHand = {
          'Harbour Equipment Ltd': [16, 10, 16],
          远航租赁有限公司: [17, 6, 11],
          'Pacific Leasing KK': [17, 10, 17],
        };
        for (const [name, [all, overdue, overdueLines]] of Object.entries(byHand)) {
          const subjectId = subjects.get(name) ?? '';
          expect((await contracts({ subjectId })).total, name).to.equal(all);
          expect((await contracts({ subjectId, overdue: true })).total, name).to.equal(overdue);
          expect((await payments({ tab: 'overdue', subjectId })).total, name).to.equal(overdueLines);
        }
      });

      it('are filtered as counted by hand', async () => {
        const byHand = [
          [{ overdue: true }, 26],
          [{ dueSoon: true }, 8],
          [{ overdue: true, dueSoon: true }, 2],
          [{ payment: 'paid' }, 1],
          [{ payment: 'partial' }, 43],
          [{ payment: 'unpaid' }, 6],
          [{ type: 'sale' }, 30],
          [{ type: 'lease' }, 20],
          [{ type: 'lease', overdue: true }, 14],
          [{ q: '盾构' }, 9],
          [{ q: "O'NEILL" }, 4],
        ] as const;
        for (const [query, total] of byHand)
          expect((await contracts(query)).total, JSON.stringify(query)).to.equal(total);
      });

      it('show totals of their own lines', () => {
        const byHand = {
          'HT-2025-007': {
            receivableAmount: 413728.8,
            receivedAmount: 172387,
            outstandingAmount: 241341.8,
            overdueAmount: 0,
            overpaidAmount: 0,
            isDueSoon: true,
            nextDueDate: '2026-03-15',
          },
          'HT-2025-008': {
            receivableAmount: 5300.072,
            receivedAmount: 3176.863,
            outstandingAmount: 2123.209,
            overdueAmount: 1593.202,
            overpaidAmount: 0,
            isOverdue: true,
            daysOverdue: 201,
            nextDueDate: '2025-08-26',
          },
          'HT-2025-011': {
            receivableAmount: 307123.3,
            receivedAmount: 92136.99,
            outstandingAmount: 214986.31,
            isDueSoon: true,
            isOverdue: false,
            nextDueDate: '2026-03-22',
          },
          'HT-2025-013': {
            receivableAmount: 305501.96,
            receivedAmount: 15275.1,
            outstandingAmount: 290226.86,
            isDueSoon: false,
            isOverdue: false,
            nextDueDate: '2026-03-23',
          },
          // A retention in dollars is open; in the contract's own currency, 031 is overpaid by 737 yuan.
          'HT-2025-016': {
            currencyCode: 'JPY',
            receivableAmount: 3441600,
            outstandingAmount: 0,
            overdueAmount: 0,
            isOverdue: true,
            paymentStatus: 'partial',
            nextDueDate: '2026-01-23',
          },
          'HT-2025-031': {
            currencyCode: 'CNY',
            receivableAmount: 194128.92,
            receivedAmount: 194865.92,
            outstandingAmount: 0,
            overpaidAmount: 737,
            isOverdue: false,
            paymentStatus: 'partial',
            nextDueDate: '2026-07-16',
          },
        };
        for (const [contractNo, figures] of Object.entries(byHand))
          expect(
            details.find((contract) => contract.contractNo === contractNo),
            contractNo,
          ).to.include(figures);
      });
    },
    { clock: fakeClock(NOW) },
  );
});
