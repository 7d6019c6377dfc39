import { strToU8, unzipSync, zipSync } from 'fflate';
import { CONTRACT_COLUMNS, LINE_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { MAX_COLUMNS, MAX_IMPORT_ROWS } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { aWorkbook, SHEET } from '../support/workbook.js';
import type { Sample } from '../guarantees/requests.js';
import type { Worst } from './worst-bodies.js';

export const IMPORT_ROUTES: readonly string[] = ['POST /contracts/import', 'POST /contracts/import/preview'];
const BYTES = 15_900_000;
const ACUTE = '\u0301';
const MARKS = `a${'\u0316\u0301'.repeat(15)}`;

/** The most expensive files and lists for an import. */
export function worstImports({ body }: Sample): Worst[] {
  const [row = {}] = (body as { readonly rows: readonly Readonly<Record<string, unknown>>[] }).rows;
  const csv = (label: string, make: () => string): Worst => ({
    label: `csv: ${label}`,
    text: () => JSON.stringify({ csv: make() }),
  });
  const rows = (label: string, make: () => readonly unknown[]): Worst => ({
    label: `rows: ${label}`,
    text: () => JSON.stringify({ rows: make() }),
  });
  return [
    csv('good rows, as long as they may be', () => goodRows(row, { characters: 3_000 })),
    csv('good rows', () => goodRows(row, { characters: 0 })),
    csv('lines of few contracts', () => goodRows(row, { characters: 500, contracts: 3 })),
    csv('a fault in each cell', () => everyCell('\u0001?')),
    csv('marks in each cell', () => everyCell(ACUTE.repeat(31))),
    csv(
      'as many columns as may be',
      () =>
        `${Array.from({ length: MAX_COLUMNS }, (_, i) => (i === 0 ? 'contractNo' : `c${i}`)).join(',')}\n${`${'x,'.repeat(MAX_COLUMNS - 1)}x\n`.repeat(MAX_IMPORT_ROWS)}`,
    ),
    csv('one cell', () => `contractNo,remark\nx,"${MARKS.repeat(BYTES / 64)}"`),
    csv('one cell of quotes', () => `contractNo,remark\nx,"${'""'.repeat(BYTES / 5)}"`),
    csv('one number', () => `contractNo,quantity\nx,${'9'.repeat(BYTES)}`),
    csv('a header', () => `${'contractNo'}${MARKS.repeat(BYTES / 64)},x\n1,2`),
    csv('blank lines', () => `contractNo\n${'\n'.repeat(BYTES / 2 - 100)}x`),
    csv('blanks', () => `contractNo\n${' '.repeat(BYTES - 100)}`),
    csv(
      'lists',
      () =>
        `contractNo,terms\n${Array.from({ length: 25 }, (_, i) => csvRow([`${i}`, JSON.stringify(Array.from({ length: 4_000 }, () => ({ kind: 'other', title: 'x', note: 'y' })))])).join('')}`,
    ),
    rows('good ones', () => Array.from({ length: MAX_IMPORT_ROWS }, (_, i) => named(row, i, 100))),
    rows('good ones, as long as they may be', () =>
      Array.from({ length: MAX_IMPORT_ROWS }, (_, i) => named(row, i, 2_000)),
    ),
    rows('of one number', () => Array.from({ length: MAX_IMPORT_ROWS }, () => named(row, 0, 2_000))),
    rows('empty', () => Array.from({ length: MAX_IMPORT_ROWS }, () => ({}))),
    rows('a fault in each field', () =>
      Array.from({ length: MAX_IMPORT_ROWS }, () => Object.fromEntries(Object.keys(row).map((key) => [key, []]))),
    ),
    rows('faulty lines', () =>
      Array.from({ length: 500 }, (_, i) => ({
        ...named(row, i, 0),
        payments: Array.from({ length: 400 }, () => ({ period: 1, dueDate: 'x', amount: null })),
      })),
    ),
    rows('one row of all values', () => [{ ...row, payments: Array.from({ length: 900_000 }, () => 1) }]),
    rows('one row of too many lines', () => [
      { ...named(row, 0, 0), payments: Array.from({ length: 450_000 }, () => ({})) },
    ]),
    rows('one contract of many lines', () => [
      {
        ...named(row, 0, 0),
        payments: Array.from({ length: 2_000 }, (_, i) => ({ period: `${i}`, dueDate: '2026-05-01', amount: 1 })),
      },
    ]),
    rows('one long text', () => [{ ...row, remark: MARKS.repeat(BYTES / 64) }]),
    { label: 'xlsx: many cells', text: () => workbook(MAX_IMPORT_ROWS, 40, 'x') },
    { label: 'xlsx: long cells', text: () => workbook(2_000, 20, MARKS.repeat(40)) },
    {
      label: 'xlsx: no archive',
      text: () => JSON.stringify({ xlsxBase64: `UEsDB${'A'.repeat(BYTES - (BYTES % 4) - 1)}` }),
    },
  ];
}

let made = 0;
const named = (row: Readonly<Record<string, unknown>>, i: number, characters: number): Record<string, unknown> => ({
  ...row,
  contractNo: `W-${made++}-${i}`,
  archiveCode: `WA-${made}-${i}`,
  remark: 'x'.repeat(characters),
});

function goodRows(
  row: Readonly<Record<string, unknown>>,
  { characters, contracts = MAX_IMPORT_ROWS }: { characters: number; contracts?: number },
): string {
  const { payments: _, terms: __, extraNotes: ___, ...plain } = row;
  const names = [...Object.keys({ ...plain, remark: '' }), 'line.period', 'line.dueDate', 'line.amount'];
  const batch = made++;
  const lines = Array.from(
    { length: Math.min(MAX_IMPORT_ROWS, Math.floor(BYTES / (characters + 400))) },
    (__unused, i) => {
      const of = i % contracts;
      const cells: Readonly<Record<string, string>> = {
        ...(plain as Readonly<Record<string, string>>),
        contractNo: `I-${batch}-${of}`,
        archiveCode: `IA-${batch}-${of}`,
        remark: 'x'.repeat(characters),
        'line.period': `${i}`,
        'line.dueDate': '2026-05-01',
        'line.amount': '1',
      };
      return csvRow(names.map((name) => String(cells[name] ?? '')));
    },
  );
  return csvRow(names) + lines.join('');
}

function everyCell(cell: string): string {
  const names = [...CONTRACT_COLUMNS, ...LINE_COLUMNS].map(({ name }) => name);
  const line = csvRow(names.map((name) => (name === 'contractNo' ? 'x' : cell)));
  return csvRow(names) + line.repeat(Math.min(MAX_IMPORT_ROWS, Math.floor(BYTES / Buffer.byteLength(line))));
}

let empty: Uint8Array | undefined;
/** Created beforehand, because that takes long. */
export async function prepareWorkbooks(): Promise<void> {
  empty ??= await aWorkbook([['a']]);
}

function workbook(rows: number, columns: number, cell: string): string {
  if (!empty) throw new Error('prepareWorkbooks was not called');
  const parts = unzipSync(empty);
  const letters = Array.from(
    { length: columns },
    (_, i) => `${i >= 26 ? String.fromCharCode(64 + Math.floor(i / 26)) : ''}${String.fromCharCode(65 + (i % 26))}`,
  );
  const header = `<row r="1">${letters.map((letter, i) => `<c r="${letter}1" t="inlineStr"><is><t>${i === 0 ? 'contractNo' : `c${i}`}</t></is></c>`).join('')}</row>`;
  const data = Array.from(
    { length: rows },
    (_, at) =>
      `<row r="${at + 2}">${letters.map((letter) => `<c r="${letter}${at + 2}" t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`,
  ).join('');
  const sheet = new TextDecoder()
    .decode(parts[SHEET])
    .replace(/<sheetData>.*<\/sheetData>/s, () => `<sheetData>${header}${data}</sheetData>`);
  return JSON.stringify({
    xlsxBase64: Buffer.from(zipSync({ ...parts, [SHEET]: strToU8(sheet) }, { level: 1 })).toString('base64'),
  });
}
