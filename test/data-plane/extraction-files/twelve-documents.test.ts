import { Readable } from 'node:stream';
import { expect } from 'chai';
import { extract } from '../../../data-plane-agent/plane/domain/extraction/extract.js';
import { documentReader, joinedText, type DocumentReader } from '../../../data-plane-agent/plane/files/text/index.js';
import { needsBrowser } from '../../support/browser.js';
import { docxOf } from '../../support/documents/docx.js';
import { printer } from '../../support/documents/printed.js';
import { xlsxOf } from '../../support/documents/xlsx.js';
import { BILINGUAL_EXPORT_SALE } from './contracts/bilingual-export-sale.js';
import { EN_EQUIPMENT_LEASE } from './contracts/en-equipment-lease.js';
import { EN_EQUIPMENT_PURCHASE } from './contracts/en-equipment-purchase.js';
import { EN_INTERNATIONAL_SALE } from './contracts/en-international-sale.js';
import { EN_LEASE_SCHEDULE } from './contracts/en-lease-schedule.js';
import { EN_RENTAL_SHEET } from './contracts/en-rental-sheet.js';
import { ZH_EQUIPMENT_LEASE_FORM } from './contracts/zh-equipment-lease-form.js';
import { ZH_FINANCE_LEASE } from './contracts/zh-finance-lease.js';
import { ZH_GOODS_NARRATIVE } from './contracts/zh-goods-narrative.js';
import { ZH_INDUSTRIAL_SALE } from './contracts/zh-industrial-sale.js';
import { ZH_MACHINE_RENTAL } from './contracts/zh-machine-rental.js';
import { ZH_PURCHASE_SHEET } from './contracts/zh-purchase-sheet.js';
import { compared, printed, type Outcome } from './outcome.js';

const PDF = 'application/pdf';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

describe('twelve contracts as files', function () {
  this.timeout(240_000); // printing, scanning and recognition take long

  let reader: DocumentReader;
  const outcomes: Outcome[] = [];
  before(() => (reader = documentReader({ residentBytes: () => process.memoryUsage.rss() })));
  after(() => reader.close());
  const browser = needsBrowser(); // must come last: without a browser it skips later hooks, but the reader is still closed

  const print = () => printer(browser());
  const firstScan = async (page: Parameters<ReturnType<typeof printer>['scans']>[0]) =>
    (await print().scans(page))[0] ?? Buffer.alloc(0);
  const documents: readonly (readonly [
    name: string,
    contentType: string,
    make: () => Promise<Buffer>,
    expected: Readonly<Record<string, string | number>>,
  ])[] = [
    ['Chinese industrial sale, PDF', PDF, () => print().pdf(ZH_INDUSTRIAL_SALE.page), ZH_INDUSTRIAL_SALE.expected],
    ['Chinese finance lease, PDF', PDF, () => print().pdf(ZH_FINANCE_LEASE.page), ZH_FINANCE_LEASE.expected],
    ['English equipment lease, PDF', PDF, () => print().pdf(EN_EQUIPMENT_LEASE.page), EN_EQUIPMENT_LEASE.expected],
    [
      'English equipment purchase, PDF',
      PDF,
      () => print().pdf(EN_EQUIPMENT_PURCHASE.page),
      EN_EQUIPMENT_PURCHASE.expected,
    ],
    [
      'Chinese sale in running text, DOCX',
      DOCX,
      () => Promise.resolve(docxOf(ZH_GOODS_NARRATIVE.page)),
      ZH_GOODS_NARRATIVE.expected,
    ],
    [
      'International sale, DOCX',
      DOCX,
      () => Promise.resolve(docxOf(EN_INTERNATIONAL_SALE.page)),
      EN_INTERNATIONAL_SALE.expected,
    ],
    [
      'Chinese purchase, XLSX',
      XLSX,
      () => xlsxOf([{ name: '合同', rows: ZH_PURCHASE_SHEET.rows }]),
      ZH_PURCHASE_SHEET.expected,
    ],
    ['English rental, XLSX', XLSX, () => xlsxOf(EN_RENTAL_SHEET.sheets), EN_RENTAL_SHEET.expected],
    ['Chinese machine rental, PNG', 'image/png', () => firstScan(ZH_MACHINE_RENTAL.page), ZH_MACHINE_RENTAL.expected],
    ['English lease schedule, PNG', 'image/png', () => firstScan(EN_LEASE_SCHEDULE.page), EN_LEASE_SCHEDULE.expected],
    [
      'Bilingual export sale, PNG',
      'image/png',
      () => firstScan(BILINGUAL_EXPORT_SALE.page),
      BILINGUAL_EXPORT_SALE.expected,
    ],
    [
      'Chinese equipment lease, scanned PDF',
      PDF,
      () => print().scannedPdf(ZH_EQUIPMENT_LEASE_FORM.page),
      ZH_EQUIPMENT_LEASE_FORM.expected,
    ],
  ];

  for (const [name, contentType, make, expected] of documents) {
    it(`${name}: no value is invented`, async () => {
      const read = await reader.textOf(Readable.from([await make()]), {
        contentType,
        signal: new AbortController().signal,
      });
      const { fields } = extract(joinedText(read), { currencyCode: 'CNY' });
      const outcome = compared(name, expected, fields);
      outcomes.push(outcome);
      expect(outcome.invented).to.deep.equal([]);
    });
  }

  it('at least 95 of 100 fields are extracted correctly', () => {
    process.stdout.write(`${printed(outcomes)}\n`);
    const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
    expect(outcomes).to.have.length(12);
    expect(sum(({ right }) => right) / sum(({ labelled }) => labelled)).to.be.at.least(0.95);
  });
});
