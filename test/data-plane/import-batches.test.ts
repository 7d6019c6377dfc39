import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { failureOf } from '../support/failures.js';
import { aSheet, cellsOf, faultsOf, HARBOUR, MING, ofCsv, ofRows } from '../support/import-samples.js';
import { forEachPlane, listedContracts } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };
const NOT_FOUND = { code: 'NOT_FOUND', details: {} };

/** The content of a report, without the ids of created records. */
const contentOf = ({ batchId: _batchId, rows, ...report }: ImportReport) => ({
  ...report,
  rows: rows.map(({ contractId: _contractId, ...row }) => row),
});

describe('the report of an import', () => {
  forEachPlane((_name, makePlane) => {
    it('is kept for thirty days, for its creator and for administrators with unrestricted scope', async () => {
      const test = makePlane({ rights: { ...ALL_RIGHTS, admin: false } });
      const report = await test.plane.importContracts(aSheet([cellsOf(), cellsOf({ quantity: 0 })]));
      const batchId = report.batchId ?? '';
      expect(await test.plane.getImport({ batchId })).to.deep.equal(report);
      const other = { ...test.call.actor, id: newId() };
      expect(await test.as({ actor: other, rights: ALL_RIGHTS }).getImport({ batchId })).to.deep.equal(report);
      for (const changes of [
        { actor: other },
        { actor: other, rights: ALL_RIGHTS, subjectScope: [HARBOUR.id] },
        { actor: other, rights: ALL_RIGHTS, ownerScope: other.id },
        { tenantId: newId(), rights: ALL_RIGHTS },
      ]) {
        expect(await failureOf(test.as(changes).getImport({ batchId }))).to.deep.equal(NOT_FOUND);
        expect(await failureOf(test.as(changes).getImportErrors({ batchId }))).to.deep.equal(NOT_FOUND);
      }
      for (const id of [newId(), 'no-id'])
        expect(await failureOf(test.plane.getImport({ batchId: id }))).to.deep.equal(NOT_FOUND);
      test.clock.advance(30 * DAY_MS - 1);
      expect(await test.plane.getImport({ batchId })).to.deep.equal(report);
      test.clock.advance(1);
      expect(await failureOf(test.plane.getImport({ batchId }))).to.deep.equal(NOT_FOUND);
      await test.plane.importContracts(aSheet([cellsOf()]));
      const kept = await test.database.read({ tenantId: test.call.tenantId }, (tx) =>
        tx.all('SELECT id FROM import_batches WHERE tenant_id = ?', [test.call.tenantId]),
      );
      expect(kept, 'the next import deletes it').to.have.length(1);
    });

    it('is the same in a preview, which creates nothing', async () => {
      const test = makePlane();
      const first = cellsOf({ 'line.period': '1', 'line.dueDate': '2026-04-01', 'line.amount': 5 });
      const input = aSheet([
        first,
        { ...first, 'line.period': '2' },
        cellsOf({ contractNo: first['contractNo'] ?? '' }),
        cellsOf({ subjectName: 'nobody' }),
        null,
        cellsOf({ unknown: 'x' }),
      ]);
      const preview = await test.plane.previewImport(input);
      expect(preview.batchId).to.equal(null);
      expect(preview.rows.filter(({ contractId }) => contractId !== undefined)).to.deep.equal([]);
      const tables = [
        'contracts',
        'payment_lines',
        'contract_texts',
        'audit_log',
        'import_batches',
        'workflow_events',
        'outbox',
        'receivable_days',
      ];
      for (const table of tables) {
        const rows = await test.database.read({ tenantId: test.call.tenantId }, (tx) =>
          tx.all(`SELECT tenant_id FROM ${table} WHERE tenant_id = ?`, [test.call.tenantId]),
        );
        expect(rows, table).to.deep.equal([]);
      }
      const report = await test.plane.importContracts(input);
      expect(contentOf(preview)).to.deep.equal(contentOf(report));
      expect(contentOf(report)).to.deep.include({
        total: 6,
        created: 3,
        failed: 2,
        skipped: 1,
        contracts: 2,
        unknownColumns: ['unknown'],
      });
      expect(
        faultsOf(await test.plane.previewImport(input)).filter((fault) => fault.endsWith('DUPLICATE_CONTRACT_NO')),
      ).to.have.length(3);
    });

    it('leaves all contracts to be found by a search, and the settings of the search index as they were', async () => {
      const test = makePlane();
      const settings = () =>
        test.database.read({ tenantId: test.call.tenantId }, async (tx) =>
          tx.dialect === 'sqlite'
            ? tx.all("SELECT k, v FROM contract_search_config WHERE k IN ('hashsize', 'automerge') ORDER BY k")
            : [],
        );
      const defaults = [
        { k: 'automerge', v: 4 },
        { k: 'hashsize', v: 1024 * 1024 },
      ];
      const rows = Array.from({ length: 50 }, (_, i) => cellsOf({ projectName: `Quay ${i} of fifty` }));
      await test.plane.previewImport(aSheet(rows));
      expect(await settings()).to.deep.equal([]);
      for (const found of [50, 100]) {
        await test.plane.importContracts(
          aSheet(rows.map((row, i) => ({ ...row, contractNo: `Q-${found}-${i}`, archiveCode: `QA-${found}-${i}` }))),
        );
        expect((await listedContracts(test.plane, { q: 'of fifty' })).total).to.equal(found);
        expect(await settings()).to.be.deep.oneOf([[], defaults]);
      }
      expect((await listedContracts(test.plane, { q: 'Quay 49 of' })).total).to.equal(2);
    });

    it('includes the refused rows as a file, which can be imported after a correction', async () => {
      const test = makePlane();
      const first = cellsOf({
        projectName: "'=HYPERLINK(1)",
        'line.period': '1',
        'line.dueDate': '2026/4/1',
        'line.amount': '1,000.50',
        remark: 'two\nlines, and "quotes"',
      });
      const report = await test.plane.importContracts(
        aSheet([
          first,
          { ...first, 'line.period': '2', 'line.amount': 'soon' },
          cellsOf({ remark: '=cmd|calc' }),
          cellsOf({ quantity: 0, remark: '@SUM' }),
        ]),
      );
      const { csv } = await test.plane.getImportErrors({ batchId: report.batchId ?? '' });
      expect(csv.startsWith('\uFEFFarchiveCode,')).to.equal(true);
      const [header = [], ...rows] = parse(csv, { bom: true }) as string[][];
      expect(header.at(-1)).to.equal('error');
      expect(rows.map((row) => row.at(-1))).to.deep.equal([
        'row 3 of the same contract has an error',
        'line.amount must be a number alone, without a currency or unit',
        'quantity must be >= 1',
      ]);
      expect(rows.map((row) => row[header.indexOf('remark')])).to.deep.equal([
        'two\nlines, and "quotes"',
        'two\nlines, and "quotes"',
        "'@SUM",
      ]);
      const corrected = csv.replace(',soon,', ',"2,000.50",').replace(/,0,5000,/, ',1,5000,');
      const again = await test.plane.importContracts(await ofCsv(corrected));
      expect(again, JSON.stringify(again.rows)).to.include({ total: 3, created: 3, contracts: 2 });
      expect(again.unknownColumns).to.deep.equal([]);
      const { items } = await listedContracts(test.plane, { sort: 'createdAt' });
      expect(items.map(({ projectName, remark }) => [projectName, remark])).to.deep.include.members([
        ['=HYPERLINK(1)', 'two\nlines, and "quotes"'],
      ]);
      expect(items.map(({ remark }) => remark))
        .to.include('@SUM')
        .and.include('=cmd|calc');
      const third = await test.plane.importContracts(await ofCsv(csv));
      const twice = (await test.plane.getImportErrors({ batchId: third.batchId ?? '' })).csv;
      expect(parse(twice, { bom: true }) as string[][], 'reasons are not repeated')
        .to.have.nested.property('[0]')
        .that.deep.equals(header);
    });

    it('includes bad entries of a list as rows, too, one for each line', async () => {
      const test = makePlane();
      const bad = {
        ...aContract({ ...IDS, payeeAccount: '6222021234567890', terms: [{ kind: 'deposit', title: 'T', note: 'N' }] }),
        quantity: '3',
        payments: [aLine({ period: 'a' }), aLine({ period: 'b' })],
      };
      const report = await test.plane.importContracts(ofRows([bad, aContract(IDS)]));
      const { csv } = await test.plane.getImportErrors({ batchId: report.batchId ?? '' });
      const rows = parse(csv, { bom: true, columns: true }) as Record<string, string>[];
      expect(
        rows.map((row) => [row['contractNo'], row['line.period'], row['quantity'], row['payeeAccount'], row['error']]),
      ).to.deep.equal(
        ['a', 'b'].map((period) => [
          bad.contractNo,
          period,
          '3',
          '6222021234567890',
          'quantity must be a whole number',
        ]),
      );
      const again = await test.plane.importContracts(await ofCsv(csv));
      expect(again, 'a cell has no type').to.include({ created: 2, failed: 0, contracts: 1 });
    });

    it('shows account numbers of a refused row to its sender, and to others by their rights', async () => {
      const test = makePlane({ rights: { ...ALL_RIGHTS, sensitive: false } });
      const report = await test.plane.importContracts(
        aSheet([cellsOf({ payeeAccount: 'DE89 3704 0044 0532 0130 00', quantity: 0 })]),
      );
      const batchId = report.batchId ?? '';
      const account = async (changes: object) =>
        (
          parse((await test.as(changes).getImportErrors({ batchId })).csv, { bom: true, columns: true }) as Record<
            string,
            string
          >[]
        )[0]?.['payeeAccount'];
      expect(await account({})).to.equal('DE89 3704 0044 0532 0130 00');
      const admin = { ...test.call.actor, id: newId() };
      expect(await account({ actor: admin, rights: { ...ALL_RIGHTS, sensitive: false } })).to.equal('****0 00');
      expect(await account({ actor: admin, rights: ALL_RIGHTS })).to.equal('DE89 3704 0044 0532 0130 00');
    });
  });
});
