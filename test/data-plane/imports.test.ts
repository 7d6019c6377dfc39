import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { badFields, failureOf } from '../support/failures.js';
import { aSheet, cellsOf, contractOf, faultsOf, HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { forEachPlane, PLANES } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };

describe('an import', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('creates contracts from valid rows, and reports the field and value of each invalid one', async () => {
        const test = makePlane();
        const validRow = cellsOf({
          unitPrice: '1,234.50',
          startDate: '2026/1/1',
          signDate: '2025年12月31日',
          terms: '[{"kind":"deposit","title":"Ten percent","note":"in advance"}]',
        });
        const report = await test.plane.importContracts(
          aSheet([
            validRow,
            cellsOf({ quantity: 'two', endDate: '31.12.26', partyB: '  ', unitPrice: -1 }),
            null,
            cellsOf({ endDate: '2025-01-01', currencyCode: 'XXX' }),
            cellsOf({ terms: '[{"kind":"bribe","title":"T","note":"N"}]' }),
          ]),
        );
        expect(report).to.include({ total: 5, created: 1, failed: 3, skipped: 1, contracts: 1 });
        expect(report.rows.map(({ row, status }) => [row, status])).to.deep.equal([
          [2, 'created'],
          [3, 'failed'],
          [4, 'skipped'],
          [5, 'failed'],
          [6, 'failed'],
        ]);
        expect(faultsOf(report)).to.have.members([
          '3 quantity INVALID_INPUT',
          '3 endDate INVALID_INPUT',
          '3 partyB INVALID_INPUT',
          '3 unitPrice INVALID_INPUT',
          '5 currencyCode INVALID_INPUT',
          '6 terms[0].kind INVALID_INPUT',
        ]);
        const [quantity] = report.rows[1]?.errors?.filter(({ field }) => field === 'quantity') ?? [];
        expect(quantity).to.deep.equal({
          field: 'quantity',
          code: 'INVALID_INPUT',
          message: 'quantity must be a number alone, without a currency or unit',
          value: 'two',
        });
        const contract = await contractOf(test, String(validRow['contractNo']));
        expect(contract).to.include({
          unitPrice: 1234.5,
          totalAmount: 2469,
          signDate: '2025-12-31',
          startDate: '2026-01-01',
          subjectId: HARBOUR.id,
          ownerId: MING.id,
          type: 'sale',
          currencyCode: 'CNY',
          workflowStage: 'draft',
        });
        expect(contract.terms.map(({ title }) => title)).to.deep.equal(['Ten percent']);
        expect(report.rows[0]?.contractId).to.equal(contract.id);
        expect((await test.plane.listContracts({})).total).to.equal(1);
      });

      it('leaves the same trail as a contract that is created by a request, marked as an import', async () => {
        const test = makePlane();
        const { rows } = await test.plane.importContracts(
          ofRows([aContract({ ...IDS, payments: [aLine({ receivedAmount: 50 })] })]),
        );
        const id = rows[0]?.contractId ?? '';
        expect(
          (await test.plane.listWorkflowEvents({ contractId: id })).map(({ kind, source }) => ({ kind, source })),
        ).to.deep.equal([{ kind: 'created', source: 'import' }]);
        expect((await test.plane.listAudit({ recordId: id })).items.map(({ action }) => action)).to.deep.equal([
          'importContracts',
        ]);
        expect((await test.plane.getPaymentStats({})).byCurrency).to.deep.include.members([
          {
            currencyCode: 'CNY',
            amount: 1000,
            received: 50,
            outstanding: 950,
            overdue: 0,
            dueSoon: 0,
            uninvoiced: 1000,
          },
        ]);
        expect((await test.plane.listContracts({ q: '上海远东' })).total, 'the search finds it').to.equal(1);
      });

      it('combines rows of one contract number, with a line each, wherever they are', async () => {
        const test = makePlane();
        const first = cellsOf({
          'line.period': 'deposit',
          'line.dueDate': '2026-02-01',
          'line.amount': 100,
          'line.receivedAmount': 40,
        });
        const other = cellsOf({
          'line.period': 'all',
          'line.dueDate': '2026-05-01',
          'line.amount': 7,
          'line.receivedAmount': null,
        });
        const again = {
          ...first,
          contractNo: String(first['contractNo']).toLowerCase().toUpperCase(),
          startDate: '2026/1/1',
          projectName: null,
          'line.period': 'rest',
          'line.dueDate': '2026-03-01',
          'line.amount': 300,
          'line.receivedAmount': null,
        };
        const report = await test.plane.importContracts(aSheet([first, other, again]));
        expect(report).to.include({ created: 3, failed: 0, contracts: 2 });
        expect(report.rows[0]?.contractId).to.equal(report.rows[2]?.contractId);
        const contract = await contractOf(test, String(first['contractNo']));
        expect(
          contract.payments.map(({ period, amount, receivedAmount }) => ({ period, amount, receivedAmount })),
        ).to.deep.equal([
          { period: 'deposit', amount: 100, receivedAmount: 40 },
          { period: 'rest', amount: 300, receivedAmount: 0 },
        ]);
      });

      it('creates no part of a contract with a refused row, and reports this for its valid rows', async () => {
        const test = makePlane();
        const first = cellsOf({ 'line.period': '1', 'line.dueDate': '2026-02-01', 'line.amount': 100 });
        const report = await test.plane.importContracts(
          aSheet([
            first,
            { ...first, 'line.period': '2', 'line.amount': 'much' },
            { ...first, partyA: 'Somebody else', 'line.period': '3' },
            { ...first, 'line.period': '4' },
          ]),
        );
        expect(report).to.include({ created: 0, failed: 4, contracts: 0 });
        expect(faultsOf(report)).to.deep.equal([
          '2 - INVALID_INPUT',
          '3 line.amount INVALID_INPUT',
          '4 partyA INVALID_INPUT',
          '5 - INVALID_INPUT',
        ]);
        expect(report.rows[0]?.errors?.[0]?.message).to.equal('row 3 of the same contract has an error');
        expect(report.rows[2]?.errors?.[0]).to.include({
          message: 'partyA contradicts row 2 of the same contract',
          value: 'Somebody else',
        });
        expect((await test.plane.listContracts({})).total).to.equal(0);
      });

      it('reports the row and the column of a line that is refused', async () => {
        const { plane } = makePlane();
        const first = cellsOf({
          'line.period': '1',
          'line.dueDate': '2026-02-01',
          'line.amount': 100,
          'line.reconciliationStatus': null,
        });
        const report = await plane.importContracts(
          aSheet([
            first,
            { ...first, 'line.period': '2', 'line.amount': 100.005 },
            cellsOf({
              'line.period': '1',
              'line.dueDate': '2026-02-01',
              'line.amount': 1,
              'line.reconciliationStatus': 'matched',
            }),
          ]),
        );
        expect(faultsOf(report)).to.deep.equal([
          '2 - INVALID_INPUT',
          '3 line.amount INVALID_INPUT',
          '4 line.reconciliationStatus RECONCILE_WITHOUT_RECEIPT',
        ]);
      });

      it('refuses a number of another row or another contract, and changes nothing of the existing one', async () => {
        const test = makePlane();
        const there = await test.plane.createContract(
          aContract({ ...IDS, contractNo: 'HT-7', archiveCode: 'AR-X-7', projectName: 'Before' }),
        );
        const twin = cellsOf({ contractNo: 'HT-8' });
        const report = await test.plane.importContracts(
          aSheet([
            cellsOf({ contractNo: 'ht-7', projectName: 'After' }),
            twin,
            cellsOf({ contractNo: 'HT-8' }),
            cellsOf({ archiveCode: 'ar-x-7' }),
            cellsOf({ archiveCode: twin['archiveCode'] ?? '' }),
          ]),
        );
        expect(faultsOf(report)).to.deep.equal([
          '2 contractNo DUPLICATE_CONTRACT_NO',
          '4 contractNo DUPLICATE_CONTRACT_NO',
          '5 archiveCode DUPLICATE_ARCHIVE_CODE',
          '6 archiveCode DUPLICATE_ARCHIVE_CODE',
        ]);
        expect(report.rows[2]?.errors?.[0]?.message).to.equal('contractNo is already used in row 3');
        expect((await test.plane.getContract({ contractId: there.id })).projectName).to.equal('Before');
      });

      it('rolls back rollups and trail, too, if one of many contracts fails midway', async () => {
        const test = makePlane();
        await test.plane.createContract(
          aContract({ ...IDS, contractNo: 'TAKEN', payments: [aLine({ invoiceNo: 'F-1', invoiceAmount: 10 })] }),
        );
        const before = (await test.plane.listAudit({})).total;
        const rows = Array.from({ length: 60 }, (_, i) =>
          aContract({
            ...IDS,
            ...(i % 20 === 13
              ? {
                  contractNo: i === 13 ? 'taken' : undefined,
                  payments: [aLine({ invoiceNo: 'F-1', invoiceAmount: 5 })],
                }
              : { payments: [aLine()] }),
          } as never),
        );
        const report = await test.plane.importContracts(
          ofRows(rows.map((row, i) => (i % 20 === 13 && i !== 13 ? { ...row, contractNo: `OWN-${i}` } : row))),
        );
        expect(report).to.include({ created: 57, failed: 3 });
        expect((await test.plane.listContracts({ pageSize: 1 })).total).to.equal(58);
        expect((await test.plane.listAudit({})).total - before, 'one for each contract and one for the batch').to.equal(
          58,
        );
        expect((await test.plane.getPaymentStats({})).byCurrency[0]).to.include({
          amount: 58_000,
          outstanding: 58_000,
        });
      });

      it('is rolled back completely by a fault that is not due to a row', async () => {
        const { plane } = makePlane();
        for (const [row, field] of [
          [{ foo: 1 }, 'rows[1].foo'],
          [7, 'rows[1]'],
          [{ payments: [{ foo: 1 }] }, 'rows[1].payments[0].foo'],
          [{ terms: ['x'] }, 'rows[1].terms[0]'],
        ] as const)
          expect(await badFields(plane.importContracts(ofRows([aContract(IDS), row])))).to.have.all.keys(field);
        expect(
          await failureOf(
            plane.importContracts({
              ...aSheet([cellsOf()]),
              sheet: { header: ['x'], records: [], blank: [], csv: null, date1904: false },
            }),
          ),
        ).to.deep.equal({
          code: 'IMPORT_FILE_INVALID',
          details: {
            reason: 'no column has a known header; the first row must be the header, without a title above it',
          },
        });
        expect((await plane.listContracts({})).total).to.equal(0);
      });

      it('that runs twice concurrently creates each contract once', async function () {
        this.timeout(180_000);
        const test = makePlane();
        const sheet = aSheet(Array.from({ length: 40 }, () => cellsOf()));
        const [one, two, three] = await Promise.all([
          test.plane.importContracts(sheet),
          test.plane.importContracts(sheet),
          test.as({ actor: { ...test.call.actor, id: newId() } }).importContracts(sheet),
        ]);
        expect(one.created + two.created + three.created).to.equal(40);
        expect(one.failed + two.failed + three.failed).to.equal(80);
        expect((await test.plane.listContracts({ pageSize: 1 })).total).to.equal(40);
      });

      it('that is sent twice under one key runs once', async () => {
        const test = makePlane();
        const sheet = aSheet([cellsOf(), cellsOf({ quantity: 0 })]);
        const keyed = test.as({ idempotency: { key: 'import-1', requestHash: 'a' } });
        const first = await keyed.importContracts(sheet);
        expect(await keyed.importContracts(sheet)).to.deep.equal(first);
        expect((await test.plane.listContracts({})).total).to.equal(1);
      });
    },
    { only: PLANES },
  );
});
