import {
  CONTRACT_COLUMNS,
  CUSTOM_FIELD,
  LINE_COLUMNS,
  OF_LINE,
} from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { importSource } from '../../server/spreadsheets/import-source.js';
import type { DemoContract } from './book.js';
import { DEMO_MEMBERS } from './cast.js';
import { peopleAt, planeOf, type Desk } from './desk.js';

/** The drafts of one company are imported from a spreadsheet. */
export const isImported = ({ subject, stage }: DemoContract): boolean => subject.key === 'europe' && stage === 'draft';

const IMPORTER = 'vermeulen';

/**
 * Imports them in one batch with two invalid rows, unless the batch exists. A batch is entered completely or not at
 * all.
 */
export async function importDrafts(
  book: readonly DemoContract[],
  present: ReadonlyMap<string, string>,
  desk: Desk,
): Promise<void> {
  const drafts = book.filter(isImported);
  const [first] = drafts;
  if (!first || present.has(first.input.contractNo)) return;
  await planeOf(desk, IMPORTER).importContracts({
    ...(await importSource({ csv: csvOf(drafts) }, 'demo')),
    people: peopleAt(desk),
  });
}

/** The file: one row per payment line, with the contract's cells repeated. The last rows are invalid. */
export function csvOf(drafts: readonly DemoContract[]): string {
  const [example] = drafts;
  const rows = drafts.flatMap(rowsOf);
  return [[...HEADER], ...rows, ...(example ? faulty(example) : [])].map(csvRow).join('');
}

const TOLD = [
  'archiveCode',
  'contractNo',
  'projectName',
  'type',
  'subjectName',
  'partyA',
  'partyB',
  'equipmentName',
  'equipmentModel',
  'quantity',
  'unitPrice',
  'totalAmount',
  'currencyCode',
  'paymentMethod',
  'payeeAccount',
  'payeeBank',
  'deposit',
  'periodicRent',
  'paymentCycle',
  'startDate',
  'endDate',
  'invoicePoints',
  'ownerEmail',
  'ownerSuperiorEmail',
  'remark',
  'terms',
  'extraNotes',
];
const CONTRACT_HEADERS = CONTRACT_COLUMNS.map(({ name }) => name).filter((name) => TOLD.includes(name));
const LINE_HEADERS = LINE_COLUMNS.map(({ name }) => name).filter((name) =>
  ['period', 'dueDate', 'amount'].some((field) => name === `${OF_LINE}${field}`),
);
const CUSTOM_HEADERS = ['industry', 'framework_agreement'].map((code) => `${CUSTOM_FIELD}${code}`);
const HEADER: readonly string[] = [...CONTRACT_HEADERS, ...CUSTOM_HEADERS, ...LINE_HEADERS];

type Cells = Readonly<Record<string, unknown>>;

function rowsOf(contract: DemoContract): string[][] {
  return contract.lines.map(({ input: { period, dueDate, amount } }) =>
    rowOf({
      ...cellsOf(contract),
      [`${OF_LINE}period`]: period,
      [`${OF_LINE}dueDate`]: dueDate,
      [`${OF_LINE}amount`]: amount,
    }),
  );
}

const cellsOf = ({ input, subject, owner, superior, custom }: DemoContract): Cells => ({
  ...input,
  subjectName: subject.name,
  ownerEmail: emailOf(owner),
  ownerSuperiorEmail: superior === null ? null : emailOf(superior),
  [`${CUSTOM_FIELD}industry`]: custom.industry,
  [`${CUSTOM_FIELD}framework_agreement`]: custom.framework ? 'yes' : 'no',
});

/** A mistyped address, a day that does not exist, and an archive code in use: the report names each. */
function faulty(example: DemoContract): string[][] {
  const { input } = example;
  const year = input.startDate.slice(0, 4);
  return [
    rowOf({
      ...cellsOf(example),
      archiveCode: 'EU-A0417',
      contractNo: 'EU-S-0417',
      ownerEmail: 'pieter.devires@huayue.example',
      [`${OF_LINE}period`]: 'Advance payment',
      [`${OF_LINE}dueDate`]: `${year}-06-31`,
      [`${OF_LINE}amount`]: input.totalAmount,
    }),
    rowOf({
      ...cellsOf(example),
      contractNo: 'EU-S-0418',
      [`${OF_LINE}period`]: 'Advance payment',
      [`${OF_LINE}dueDate`]: `${year}-06-30`,
      [`${OF_LINE}amount`]: input.totalAmount,
    }),
  ];
}

const rowOf = (cells: Cells): string[] => HEADER.map((name) => textOf(cells[name]));

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value);
}

const emailOf = (key: string): string | null => DEMO_MEMBERS.find((member) => member.key === key)?.email ?? null;
