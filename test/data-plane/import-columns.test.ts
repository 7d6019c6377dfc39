import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { aField } from '../support/fields.js';
import { aSheet, cellsOf, contractOf } from '../support/import-samples.js';
import { forEachPlane } from '../support/plane.js';

describe('columns of an import', () => {
  forEachPlane((_name, makePlane) => {
    it('that are not read, but contain types, currencies or statuses other than the default, are suggested and warned about', async () => {
      const test = makePlane();
      const rows = [
        cellsOf({ Deal: 'Lease', Money: 'USD', Progress: '进行中', Place: 'Kiel' }),
        cellsOf({ Deal: 'Sale', Money: 'CNY', Progress: '已完成', Place: 'Sale' }),
        cellsOf({ Deal: ' 租赁 ', Money: null, Progress: null, Place: 'Lease' }),
      ];
      const report = await test.plane.importContracts(aSheet(rows));
      expect(report).to.include({ created: 3, failed: 0 });
      expect(report.suggestions).to.deep.equal([
        { column: 'Deal', suggestion: 'type' },
        { column: 'Money', suggestion: 'currencyCode' },
        { column: 'Progress', suggestion: 'status' },
      ]);
      const said = report.rows.map(({ warnings = [] }) => warnings.map(({ code, message }) => [code, message]));
      expect(said).to.deep.equal([
        [
          [
            'COLUMN_NOT_READ',
            'The column "Deal" is not read. It says "Lease", which is lease, but type of the contract is sale. To have it read, name the column type.',
          ],
          [
            'COLUMN_NOT_READ',
            'The column "Money" is not read. It says "USD", which is USD, but currencyCode of the contract is CNY. To have it read, name the column currencyCode.',
          ],
        ],
        [
          [
            'COLUMN_NOT_READ',
            'The column "Progress" is not read. It says "已完成", which is completed, but status of the contract is in_progress. To have it read, name the column status.',
          ],
        ],
        [
          [
            'COLUMN_NOT_READ',
            'The column "Deal" is not read. It says "租赁", which is lease, but type of the contract is sale. To have it read, name the column type.',
          ],
        ],
      ]);
      expect((await test.plane.previewImport(aSheet([cellsOf({ Deal: 'Lease' })]))).rows[0]?.warnings).to.have.length(
        1,
      );
    });

    it('with a header near that of the type are warned about also if some cells are no types, and not if the file has a type', async () => {
      const test = makePlane();
      const near = await test.plane.importContracts(
        aSheet([cellsOf({ 'Type of contrct': 'Lease' }), cellsOf({ 'Type of contrct': 'gift' })]),
      );
      expect(near.suggestions).to.deep.equal([{ column: 'Type of contrct', suggestion: 'type' }]);
      expect(near.rows.map(({ warnings = [] }) => warnings.map(({ code }) => code))).to.deep.equal([
        ['COLUMN_NOT_READ'],
        [],
      ]);
      const given = await test.plane.importContracts(aSheet([cellsOf({ type: 'lease', Department: 'Sales' })]));
      expect([given.suggestions, given.rows[0]?.warnings]).to.deep.equal([[], undefined]);
    });

    it('are named in errors as the file has them: an empty owner or subject company is that of the column with the name', async () => {
      const test = makePlane();
      const empty = cellsOf({ ownerEmail: null, subjectName: null });
      const names = async (rows: Parameters<typeof aSheet>[0]) =>
        (await test.plane.previewImport(aSheet(rows))).rows.map(({ errors = [] }) =>
          errors.map(({ message }) => message),
        );
      expect(await names([cellsOf(), empty])).to.deep.equal([
        [],
        ['subjectName is required', 'ownerEmail is required'],
      ]);
      expect(
        await names([
          { ...cellsOf(), ownerId: null, subjectId: null },
          { ...empty, ownerId: ' ' },
        ]),
      ).to.deep.equal([[], ['subjectId is required', 'ownerId is required']]);
    });

    it('with a tax rate or a custom percentage are read with a percent sign too', async () => {
      const test = makePlane();
      const field = await aField(test, { name: 'Share', code: 'share', type: 'percent' });
      const cells = cellsOf({ 开票税点: '13%', 'cf:share': '12.5 %' });
      expect(await test.plane.importContracts(aSheet([cells]))).to.include({ created: 1 });
      const contract = await contractOf(test, String(cells['contractNo']));
      expect([contract.invoicePoints, contract.dynamicFields]).to.deep.equal([13, { [field.id]: 12.5 }]);
    });

    it('of the template have an example that can be filled in without a warning, in the default language of the tenant', async () => {
      const test = makePlane();
      for (const [caller, query, number, type] of [
        ['zh-CN', {}, '示例（本行不导入）', '销售'],
        ['en', {}, 'EXAMPLE (this row is not imported)', 'sale'],
        ['zh', { language: 'en' }, 'EXAMPLE (this row is not imported)', 'sale'],
        ['en', { language: 'zh' }, '示例（本行不导入）', '销售'],
      ] as const) {
        const { csv } = await test.as({ language: caller }).getImportTemplate(query);
        const [header = [], example = []] = parse(csv, { bom: true }) as string[][];
        expect([example.includes(number), example.includes(type), header.includes('contractNo *')]).to.deep.equal([
          true,
          true,
          !('language' in query),
        ]);
        const own = cellsOf();
        const filled = example.map(
          (cell) =>
            [own['subjectName'], own['ownerEmail'], own['archiveCode'], own['contractNo']][
              ['Name of your company', 'name@example.com', 'A-2026-001', number].indexOf(
                cell.replace('贵公司名称', 'Name of your company'),
              )
            ] ?? cell,
        );
        const report = await test.plane.importContracts(
          aSheet([Object.fromEntries(filled.map((cell, i) => [header[i] ?? '', cell]))]),
        );
        expect(report.rows).to.have.length(1);
        expect(report.rows[0], JSON.stringify(report))
          .to.include({ status: 'created' })
          .and.not.have.property('warnings');
      }
    });

    it('named "Type of contract", "Contract category" or "租售" are the type', async () => {
      const test = makePlane();
      for (const header of ['Type of contract', 'Contract category', '租售']) {
        const cells = cellsOf({ [header]: 'Lease' });
        const report = await test.plane.importContracts(aSheet([cells]));
        expect([report.created, report.unknownColumns], header).to.deep.equal([1, []]);
        expect((await contractOf(test, String(cells['contractNo']))).type).to.equal('lease');
      }
    });
  });
});
