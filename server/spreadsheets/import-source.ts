import { readCsvRowsBeside } from '../../data-plane-agent/base/csv/read-beside.js';
import { readWorkbook } from '../../data-plane-agent/base/workbook/read-workbook.js';
import { invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { MAX_IMPORT_ROWS } from '../../data-plane-agent/plane/contract/records/sheet.js';
import type { ContractImport, ImportInput } from '../../data-plane-agent/plane/contract/records/imports.js';
import { readCsv } from '../../data-plane-agent/plane/domain/sheet/read-csv.js';
import { sheetYielding, TooManyRows } from '../../data-plane-agent/plane/domain/sheet/sheet.js';

const SOURCES = ['rows', 'xlsxBase64', 'csv'] as const;

/**
 * Reads the source of an import before the data plane is called, so that no transaction waits for a file to be
 * unpacked. Throws INVALID_INPUT unless there is exactly one source with an allowed number of rows, and
 * IMPORT_FILE_INVALID if it cannot be read. `reader` is the tenant: workbooks and long texts of different
 * tenants are read alternately.
 */
export async function importSource(sent: ContractImport, reader: string): Promise<Pick<ImportInput, 'rows' | 'sheet'>> {
  const issues = importIssues(sent);
  if (issues.length > 0) throw invalid(...issues);
  const source = SOURCES.find((one) => isGiven(sent[one])) ?? 'rows';
  try {
    if (sent.csv) return { rows: null, sheet: await sheetOfText(sent.csv, reader) };
    if (sent.xlsxBase64)
      return { rows: null, sheet: await sheetOfWorkbook(bytesOf(sent.xlsxBase64), sent.sheetName ?? null, reader) };
  } catch (error) {
    throw error instanceof TooManyRows
      ? invalid({ path: source, problem: `must have at most ${MAX_IMPORT_ROWS} rows` })
      : error;
  }
  return { rows: sent.rows ?? [], sheet: null };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The issues of an import without exactly one source. */
export function importIssues(sent: { readonly [K in keyof ContractImport]?: unknown }): Issue[] {
  const [source, ...more] = SOURCES.filter((one) => isGiven(sent[one]));
  if (!source) return [{ path: 'rows', problem: 'is required, or xlsxBase64, or csv' }];
  return [
    ...more.map((path) => ({ path, problem: `must not be given together with ${source}` })),
    ...(source !== 'xlsxBase64' && sent.sheetName
      ? [{ path: 'sheetName', problem: 'must be given with xlsxBase64 only' }]
      : []),
  ];
}

const sheetOfText = (csv: string, reader: string): Promise<NonNullable<ImportInput['sheet']>> =>
  readCsv(csv, { readRows: (text, limits) => readCsvRowsBeside(text, limits, reader) });

/** The rows of a workbook's sheet, in the form of an import. */
export async function sheetOfWorkbook(
  bytes: Uint8Array,
  sheetName: string | null,
  reader: string,
): Promise<NonNullable<ImportInput['sheet']>> {
  const { rows, date1904 } = await readWorkbook(bytes, sheetName, reader);
  return sheetYielding(rows, { csv: null, date1904 });
}

/** Node ignores invalid base64 characters, which shortens the result. */
function bytesOf(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64');
  const padding = /={0,2}$/.exec(base64)?.[0].length ?? 0;
  if (base64.length % 4 !== 0 || bytes.length !== (base64.length / 4) * 3 - padding)
    throw invalid({ path: 'xlsxBase64', problem: 'must be base64, padded and in one piece' });
  return bytes;
}
