import { pdfOfLines } from '../../../cli/demo/pdf.js';
import { p, table, title } from './blocks.js';
import { docxOf } from './docx.js';
import { xlsxOf } from './xlsx.js';

export const TYPES = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
  text: 'text/plain',
  png: 'image/png',
  zip: 'application/zip',
} as const;

const ROWS = [
  ['Contract No.', 'KR-2026-07'],
  ['Buyer', 'Northwind Packaging Ltd'],
  ['Seller', 'Kestrel Robotics Ltd'],
  ['Equipment', 'Six-axis industrial robot'],
  ['Model', 'R6-20'],
  ['Quantity', '2 units'],
  ['Unit price', 'USD 98,000.00'],
  ['Total contract price', 'USD 196,000.00'],
  ['Payment method', 'bank transfer'],
  ['Commencement date', '2026-04-01'],
  ['Expiry date', '2027-03-31'],
] as const;
const HEADING = 'EQUIPMENT SALES CONTRACT';
const LINES = [HEADING, ...ROWS.map(([label, value]) => `${label}: ${value}`)];

/** The values extracted from it, whatever its format. */
export const ONE_CONTRACT_SAYS = {
  contractNo: 'KR-2026-07',
  type: 'sale',
  partyA: 'Northwind Packaging Ltd',
  partyB: 'Kestrel Robotics Ltd',
  equipmentName: 'Six-axis industrial robot',
  equipmentModel: 'R6-20',
  quantity: 2,
  unitPrice: 98_000,
  totalAmount: 196_000,
  currencyCode: 'USD',
  startDate: '2026-04-01',
  endDate: '2027-03-31',
} as const;
export const ONE_CONTRACT_PAGE = {
  language: 'en',
  blocks: LINES.map((line, i) => (i === 0 ? title(line) : p(line))),
} as const;
export const ONE_CONTRACT_TEXT = LINES.join('\n');

/** The same contract in each format. */
export const ONE_CONTRACT_AS: Readonly<
  Record<
    'PDF' | 'DOCX' | 'XLSX' | 'CSV' | 'text',
    { readonly fileName: string; readonly contentType: string; bytes(): Promise<Uint8Array> | Uint8Array }
  >
> = {
  PDF: { fileName: 'KR-2026-07.pdf', contentType: TYPES.pdf, bytes: () => pdfOfLines(LINES) },
  DOCX: {
    fileName: 'KR-2026-07.docx',
    contentType: TYPES.docx,
    bytes: () => docxOf({ language: 'en', blocks: [title(HEADING), table(ROWS)] }),
  },
  XLSX: {
    fileName: 'KR-2026-07.xlsx',
    contentType: TYPES.xlsx,
    bytes: () => xlsxOf([{ name: 'Contract', rows: [[HEADING], ...ROWS] }]),
  },
  CSV: {
    fileName: 'KR-2026-07.csv',
    contentType: TYPES.csv,
    bytes: () => Buffer.from([HEADING, ...ROWS.map((row) => row.map((cell) => `"${cell}"`).join(','))].join('\r\n')),
  },
  text: { fileName: 'KR-2026-07.txt', contentType: TYPES.text, bytes: () => Buffer.from(ONE_CONTRACT_TEXT) },
};
