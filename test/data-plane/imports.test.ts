import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { badFields, failureOf } from '../support/failures.js';
import { aField } from '../support/fields.js';
import {
  aSheet,
  cellsOf,
  faultsOf,
  HARBOUR,
  LEAVER,
  MING,
  ofCsv,
  ofRows,
  YUANHANG,
} from '../support/import-samples.js';
import { forEachPlane, PLANES, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };

describe('an import', () => {
  forEachPlane(
    (_name, makePlane) => {
      const contractOf = async ({ plane }: Pick<TestPlane, 'plane'>, contractNo: string): Promise<ContractDetail> => {
        const { items } = await plane.listContracts({ q: contractNo });
        const found = items.find((one) => one.contractNo === contractNo);
        return plane.getContract({ contractId: found?.id ?? '' });
      };

      it('enters the good rows, and tells of each bad one which field is wrong and what it held', async () => {
        const book = makePlane();
        const good = cellsOf({
          unitPrice: '1,234.50',
          startDate: '2026/1/1',
          signDate: '2025年12月31日',
          terms: '[{"kind":"deposit","title":"Ten percent","note":"in advance"}]',
        });
        const report = await book.plane.importContracts(
          aSheet([
            good,
            cellsOf({ quantity: 'two', endDate: '31.12.2026', partyB: '  ', unitPrice: -1 }),
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
        const contract = await contractOf(book, String(good['contractNo']));
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
        expect((await book.plane.listContracts({})).total).to.equal(1);
      });

      it('leaves the same trail as a contract that is entered by hand, and says that it was an import', async () => {
        const book = makePlane();
        const { rows } = await book.plane.importContracts(
          ofRows([aContract({ ...IDS, payments: [aLine({ receivedAmount: 50 })] })]),
        );
        const id = rows[0]?.contractId ?? '';
        expect(
          (await book.plane.listWorkflowEvents({ contractId: id })).map(({ kind, source }) => ({ kind, source })),
        ).to.deep.equal([{ kind: 'created', source: 'import' }]);
        expect((await book.plane.listAudit({ recordId: id })).items.map(({ action }) => action)).to.deep.equal([
          'importContracts',
        ]);
        expect((await book.plane.getPaymentStats({})).byCurrency).to.deep.include.members([
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
        expect((await book.plane.listContracts({ q: '上海远东' })).total, 'a search finds it').to.equal(1);
      });

      it('takes rows of one contract number together, a line each, wherever they stand', async () => {
        const book = makePlane();
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
        const report = await book.plane.importContracts(aSheet([first, other, again]));
        expect(report).to.include({ created: 3, failed: 0, contracts: 2 });
        expect(report.rows[0]?.contractId).to.equal(report.rows[2]?.contractId);
        const contract = await contractOf(book, String(first['contractNo']));
        expect(
          contract.payments.map(({ period, amount, receivedAmount }) => ({ period, amount, receivedAmount })),
        ).to.deep.equal([
          { period: 'deposit', amount: 100, receivedAmount: 40 },
          { period: 'rest', amount: 300, receivedAmount: 0 },
        ]);
      });

      it('enters no part of a contract with a bad row, and says so of its good rows', async () => {
        const book = makePlane();
        const first = cellsOf({ 'line.period': '1', 'line.dueDate': '2026-02-01', 'line.amount': 100 });
        const report = await book.plane.importContracts(
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
        expect((await book.plane.listContracts({})).total).to.equal(0);
      });

      it('names the row and the column of a line that the rules refuse', async () => {
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

      it('refuses a number that another row or another contract has, and changes nothing of what is there', async () => {
        const book = makePlane();
        const there = await book.plane.createContract(
          aContract({ ...IDS, contractNo: 'HT-7', archiveCode: 'AR-X-7', projectName: 'Before' }),
        );
        const twin = cellsOf({ contractNo: 'HT-8' });
        const report = await book.plane.importContracts(
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
        expect((await book.plane.getContract({ contractId: there.id })).projectName).to.equal('Before');
      });

      it('forgets in books and trail what it undid, when one of many fails after it was begun', async () => {
        const book = makePlane();
        await book.plane.createContract(
          aContract({ ...IDS, contractNo: 'TAKEN', payments: [aLine({ invoiceNo: 'F-1', invoiceAmount: 10 })] }),
        );
        const before = (await book.plane.listAudit({})).total;
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
        const report = await book.plane.importContracts(
          ofRows(rows.map((row, i) => (i % 20 === 13 && i !== 13 ? { ...row, contractNo: `OWN-${i}` } : row))),
        );
        expect(report).to.include({ created: 57, failed: 3 });
        expect((await book.plane.listContracts({ pageSize: 1 })).total).to.equal(58);
        expect((await book.plane.listAudit({})).total - before, 'one for each contract and one for the batch').to.equal(
          58,
        );
        expect((await book.plane.getPaymentStats({})).byCurrency[0]).to.include({
          amount: 58_000,
          outstanding: 58_000,
        });
      });

      it('finds subject companies, people and templates by name, address and code, also where the ids are of another house', async () => {
        const book = makePlane();
        const report = await book.plane.importContracts(
          aSheet([
            cellsOf({
              subjectName: ' 远航租赁有限公司 ',
              ownerEmail: 'MING@harbour.test',
              lifecycleTemplateCode: 'standard',
            }),
            cellsOf({
              subjectId: newId(),
              ownerId: newId(),
              lifecycleTemplateId: newId(),
              lifecycleTemplateCode: 'standard',
            }),
            cellsOf({ subjectId: YUANHANG.name, subjectName: 'nobody', ownerId: MING.email, ownerEmail: null }),
            cellsOf({
              subjectName: 'nobody',
              ownerEmail: LEAVER.email,
              ownerSuperiorEmail: 'ghost@harbour.test',
              lifecycleTemplateCode: 'none',
            }),
            cellsOf({ subjectName: null, ownerEmail: null }),
          ]),
        );
        expect(faultsOf(report)).to.have.members([
          '5 subjectName REFERENCE_INVALID',
          '5 ownerEmail REFERENCE_INVALID',
          '5 ownerSuperiorEmail REFERENCE_INVALID',
          '5 lifecycleTemplateCode REFERENCE_INVALID',
          '6 subjectId INVALID_INPUT',
          '6 ownerId INVALID_INPUT',
        ]);
        expect(report.rows[3]?.errors?.find(({ field }) => field === 'ownerEmail')).to.include({
          message: 'ownerEmail is not an active member',
          value: LEAVER.email,
        });
        expect((await book.plane.listContracts({ subjectId: YUANHANG.id })).total).to.equal(2);
        const rows = await book.plane.importContracts(
          ofRows([
            aContract({
              subjectId: YUANHANG.name,
              ownerId: MING.email,
              ownerSuperiorId: MING.email,
              lifecycleTemplateId: 'standard',
            }),
            aContract({ subjectId: 'nobody', ownerId: newId() }),
          ]),
        );
        expect(faultsOf(rows)).to.deep.equal(['2 subjectId REFERENCE_INVALID', '2 ownerId REFERENCE_INVALID']);
      });

      it("knows the organisation's roles, where it is told them", async () => {
        const { plane } = makePlane({ controls: { draft: 'approve' } });
        const allowed = (...workflowAllowedRoles: unknown[]) =>
          aContract({ ...IDS, workflowAllowedRoles: workflowAllowedRoles as string[] }); // what a client may send
        const input = {
          ...ofRows([allowed('sales', ' legal '), allowed('sales', 'pirate', 'Sales'), allowed(7, ' '), allowed()]),
          roleCodes: ['sales', 'legal'],
        };
        const report = await plane.importContracts(input);
        expect(faultsOf(report)).to.deep.equal([
          '2 workflowAllowedRoles[1] REFERENCE_INVALID',
          '2 workflowAllowedRoles[2] REFERENCE_INVALID',
          '3 workflowAllowedRoles[0] INVALID_INPUT',
          '3 workflowAllowedRoles[1] INVALID_INPUT',
        ]);
        expect(report.rows[1]?.errors?.[0]).to.include({
          message: 'workflowAllowedRoles[1] is not the code of a role',
          value: 'pirate',
        });
        const sheet = await plane.previewImport({
          ...aSheet([cellsOf({ workflowAllowedRoles: '["sales"]' }), cellsOf({ workflowAllowedRoles: '["pirate"]' })]),
          roleCodes: ['sales'],
        });
        expect(faultsOf(sheet)).to.deep.equal(['3 workflowAllowedRoles[0] REFERENCE_INVALID']);
        expect((await plane.previewImport(ofRows([allowed('pirate')]))).created).to.equal(1);
      });

      it('looks at each entry of a list by itself, and quotes what was wrong', async () => {
        const { plane } = makePlane();
        const report = await plane.importContracts(
          ofRows([
            aContract(IDS),
            {},
            {
              ...aContract(IDS),
              quantity: '2',
              remark: 'x'.repeat(10_001),
              payments: [{ period: '1', dueDate: '2026-02-30', amount: 1 }, {}],
            },
            { ...aContract(IDS), terms: 'none', dynamicFields: { x: 1 } },
          ]),
        );
        expect(report).to.include({ created: 1, failed: 3 });
        expect(report.rows[1]?.errors).to.have.length(14);
        expect(faultsOf(report).filter((fault) => fault.startsWith('3'))).to.have.members([
          '3 quantity INVALID_INPUT',
          '3 remark INVALID_INPUT',
          '3 payments[0].dueDate INVALID_INPUT',
          '3 payments[1].period INVALID_INPUT',
          '3 payments[1].dueDate INVALID_INPUT',
          '3 payments[1].amount INVALID_INPUT',
        ]);
        const remark = report.rows[2]?.errors?.find(({ field }) => field === 'remark');
        expect(remark?.value).to.equal('x'.repeat(100));
        expect(report.rows[2]?.errors?.find(({ field }) => field === 'payments[0].dueDate')).to.include({
          value: '2026-02-30',
        });
        expect(faultsOf(report).filter((fault) => fault.startsWith('4'))).to.include('4 terms INVALID_INPUT');
      });

      it('enters no money for who may not, nor a later stage without control, nor a masked account for a number', async () => {
        const book = makePlane();
        const clerk = book.as({ rights: { ...ALL_RIGHTS, paymentEntry: false, invoice: false, sensitive: false } });
        const line = { 'line.period': '1', 'line.dueDate': '2026-02-01', 'line.amount': 10 };
        const report = await clerk.importContracts(
          aSheet([
            cellsOf({ ...line, 'line.receivedAmount': 0, 'line.reconciliationStatus': 'pending' }),
            cellsOf({ ...line, 'line.receivedAmount': 5, 'line.invoiceNo': 'F-9' }),
            cellsOf({ workflowStage: 'active' }),
            cellsOf({ payeeAccount: '****1234' }),
            cellsOf({ payeeAccount: `6222 0212 3456 7890 ${'9'.repeat(600)}` }),
          ]),
        );
        expect(faultsOf(report)).to.deep.equal([
          '3 line.receivedAmount FORBIDDEN',
          '3 line.invoiceNo FORBIDDEN',
          '4 workflowStage WORKFLOW_CONTROL_REQUIRED',
          '5 payeeAccount INVALID_INPUT',
          '6 payeeAccount INVALID_INPUT',
        ]);
        expect(report.rows[1]?.errors?.[0]).to.include({
          message: 'line.receivedAmount needs payment_entry (edit)',
          value: '5',
        });
        expect(report.rows[4]?.errors?.[0]?.value, 'an account number').to.equal('****9999');
        const administrator = book.as({
          controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin'])),
        });
        const running = await administrator.importContracts(
          aSheet([
            cellsOf({
              workflowStage: 'active',
              'line.period': '1',
              'line.dueDate': '2026-02-01',
              'line.amount': 10,
              'line.receivedAmount': 4,
            }),
          ]),
        );
        expect(running).to.include({ created: 1, failed: 0 });
      });

      it('fills custom fields by code or name, as far as the caller sees and may write them', async () => {
        const book = makePlane();
        const note = await aField(book, { name: 'Gate', code: 'gate' });
        const weight = await aField(book, { name: 'Weight', code: 'weight', type: 'number' });
        const fixed = await aField(book, { name: 'Fixed', code: 'fixed', editableRoles: ['admin'] });
        await aField(book, { name: 'Secret', code: 'secret', visibleRoles: ['admin'] });
        const report = await book.plane.importContracts(
          aSheet([
            cellsOf({ 'CF:GATE': '=4', weight: '1,234.5', 'cf:secret': 'x' }),
            cellsOf({ weight: 'heavy' }),
            cellsOf({ 'cf:fixed': 'y' }),
          ]),
        );
        expect(report.unknownColumns).to.deep.equal(['cf:secret']);
        expect(faultsOf(report)).to.deep.equal(['3 cf:weight INVALID_INPUT', '4 cf:fixed FIELD_NOT_EDITABLE']);
        expect(
          (await book.plane.getContract({ contractId: report.rows[0]?.contractId ?? '' })).dynamicFields,
        ).to.deep.equal({ [note.id]: '=4', [weight.id]: 1234.5 });
        const rows = await book.plane.importContracts(
          ofRows([
            aContract({ ...IDS, dynamicFields: { [fixed.id]: 'y' } }),
            aContract({ ...IDS, dynamicFields: { [newId()]: 'y' } }),
          ]),
        );
        expect(rows.rows.map(({ errors }) => errors?.map(({ code }) => code))).to.deep.equal([
          ['FIELD_NOT_EDITABLE'],
          ['INVALID_INPUT'],
        ]);
        const { csv } = await book.plane.getImportTemplate({});
        expect(csv)
          .to.contain(',cf:gate,')
          .and.contain(',cf:weight,')
          .and.not.contain('secret')
          .and.not.contain('cf:fixed');
      });

      it('refuses cells that would be lost or mean something else', async () => {
        const { plane } = makePlane();
        const good = cellsOf();
        const header = Object.keys(good);
        const row = (changes: Record<string, string> = {}, more = '') =>
          header.map((name) => `"${String(changes[name] ?? cellsOf(changes)[name])}"`).join(',') + more;
        const report = await plane.importContracts(
          await ofCsv(
            [
              header.join(','),
              row({}, ',stray'),
              row({ projectName: '#REF!' }),
              row({ projectName: "'=SUM(A1)" }),
              row({ projectName: "''=x" }),
            ].join('\n'),
          ),
        );
        expect(faultsOf(report)).to.deep.equal(['2 - INVALID_INPUT', '3 projectName INVALID_INPUT']);
        expect(report.rows[0]?.errors?.[0]?.message).to.equal('the cell in column 15 has no header');
        expect(
          (await plane.listContracts({ sort: 'contractNo' })).items.map(({ projectName }) => projectName),
        ).to.have.members(['=SUM(A1)', "'=x"]);
      });

      it('is undone as a whole by what is no fault of a row', async () => {
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
              sheet: { header: ['x'], records: [], blank: [], decimalComma: false, date1904: false },
            }),
          ),
        ).to.deep.equal({ code: 'IMPORT_FILE_INVALID', details: { reason: 'no column has a known header' } });
        expect((await plane.listContracts({})).total).to.equal(0);
      });

      it('that runs twice at once enters each contract once', async function () {
        this.timeout(20_000);
        const book = makePlane();
        const sheet = aSheet(Array.from({ length: 40 }, () => cellsOf()));
        const [one, two, three] = await Promise.all([
          book.plane.importContracts(sheet),
          book.plane.importContracts(sheet),
          book.as({ actor: { ...book.call.actor, id: newId() } }).importContracts(sheet),
        ]);
        expect(one.created + two.created + three.created).to.equal(40);
        expect(one.failed + two.failed + three.failed).to.equal(80);
        expect((await book.plane.listContracts({ pageSize: 1 })).total).to.equal(40);
      });

      it('that is sent twice under one key happens once', async () => {
        const book = makePlane();
        const sheet = aSheet([cellsOf(), cellsOf({ quantity: 0 })]);
        const keyed = book.as({ idempotency: { key: 'import-1', requestHash: 'a' } });
        const first = await keyed.importContracts(sheet);
        expect(await keyed.importContracts(sheet)).to.deep.equal(first);
        expect((await book.plane.listContracts({})).total).to.equal(1);
      });
    },
    { only: PLANES },
  );
});
