import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { ImportInput, ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type { People } from '../../data-plane-agent/plane/contract/records/people.js';
import type { CsvFormat, SheetCell } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { readCsv } from '../../data-plane-agent/plane/domain/sheet/read-csv.js';
import { sheetOf } from '../../data-plane-agent/plane/domain/sheet/sheet.js';
import { listedContracts, type TestPlane } from './plane.js';

export const HARBOUR = { id: newId(), name: 'Harbour Equipment Ltd' };
export const YUANHANG = { id: newId(), name: '远航租赁有限公司' };
export const MING = { id: newId(), name: 'Ming Li', email: 'ming@harbour.test', active: true };
export const LEAVER = { id: newId(), name: 'Lee Ver', email: 'lee@harbour.test', active: false };
export const PEOPLE: People = { members: [MING, LEAVER], subjects: [HARBOUR, YUANHANG] };

let made = 0;

/** The cells of a valid contract with unique numbers. */
export function cellsOf(changes: Readonly<Record<string, SheetCell>> = {}): Record<string, SheetCell> {
  const n = ++made;
  return {
    archiveCode: `IA-${n}`,
    contractNo: `IC-${n}`,
    projectName: `Import ${n}`,
    subjectName: HARBOUR.name,
    partyA: 'Harbour Logistics Ltd',
    partyB: '上海远东机械有限公司',
    equipmentName: 'Crawler crane',
    equipmentModel: 'QUY-80',
    quantity: 2,
    unitPrice: 5000,
    paymentMethod: 'bank transfer',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    ownerEmail: MING.email,
    ...changes,
  };
}

/** A sheet with these rows; its header has all columns that occur. `null` is a blank row. */
export function aSheet(
  rows: readonly (Readonly<Record<string, SheetCell>> | null)[],
  { csv = null, date1904 = false }: { csv?: CsvFormat | null; date1904?: boolean } = {},
): ImportInput {
  const header = [...new Set(rows.flatMap((row) => Object.keys(row ?? {})))];
  return {
    rows: null,
    sheet: sheetOf([header, ...rows.map((row) => header.map((name) => row?.[name] ?? null))], {
      csv,
      date1904,
    }),
    people: PEOPLE,
  };
}

export const ofRows = (rows: readonly unknown[]): ImportInput => ({
  rows: rows as ImportInput['rows'],
  sheet: null,
  people: PEOPLE,
});

export const ofCsv = async (text: string, people: People = PEOPLE): Promise<ImportInput> => ({
  rows: null,
  sheet: await readCsv(text),
  people,
});

/** The errors of the rows in short form: `3 line.amount INVALID_INPUT`. */
export const faultsOf = ({ rows }: ImportReport): string[] =>
  rows.flatMap(({ row, errors = [] }) => errors.map(({ field, code }) => `${row} ${field ?? '-'} ${code}`));

export const contractOf = async ({ plane }: Pick<TestPlane, 'plane'>, contractNo: string): Promise<ContractDetail> => {
  const { items } = await listedContracts(plane, { q: contractNo });
  const found = items.find((one) => one.contractNo === contractNo);
  return plane.getContract({ contractId: found?.id ?? '' });
};
