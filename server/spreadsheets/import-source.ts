import { readWorkbook } from '../../data-plane-agent/base/workbook/read-workbook.js';
import { invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/validation.js';
import { MAX_IMPORT_ROWS } from '../../data-plane-agent/plane/contract/records/sheet.js';
import type { ContractImport, ImportInput } from '../../data-plane-agent/plane/contract/records/imports.js';
import { readCsv } from '../../data-plane-agent/plane/domain/sheet/read-csv.js';
import { sheetOf, TooManyRows } from '../../data-plane-agent/plane/domain/sheet/sheet.js';

const SOURCES = ['rows', 'xlsxBase64', 'csv'] as const;

/**
 * What an import was sent, read before the data plane is called: nobody's transaction waits for a file to be unpacked.
 * Fails with INVALID_INPUT when it is not exactly one thing, or of too many rows, and with IMPORT_FILE_INVALID when it
 * cannot be read. `reader` is the tenant: those who have workbooks read take turns.
 */
export async function importSource(sent: ContractImport, reader: string): Promise<Pick<ImportInput, 'rows' | 'sheet'>> {
  const issues = importIssues(sent);
  if (issues.length > 0) throw invalid(...issues);
  const source = SOURCES.find((one) => isGiven(sent[one])) ?? 'rows';
  try {
    if (sent.csv) return { rows: null, sheet: await readCsv(sent.csv) };
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

/** What is wrong with an import that is not exactly one thing. */
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

/** The rows of a workbook's sheet, as an import takes them. */
export async function sheetOfWorkbook(
  bytes: Uint8Array,
  sheetName: string | null,
  reader: string,
): Promise<NonNullable<ImportInput['sheet']>> {
  const { rows, date1904 } = await readWorkbook(bytes, sheetName, reader);
  return sheetOf(rows, { decimalComma: false, date1904 });
}

/** Node passes over what is not base64; then there are fewer bytes than there should be. */
function bytesOf(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64');
  const padding = /={0,2}$/.exec(base64)?.[0].length ?? 0;
  if (base64.length % 4 !== 0 || bytes.length !== (base64.length / 4) * 3 - padding)
    throw invalid({ path: 'xlsxBase64', problem: 'must be base64, padded and in one piece' });
  return bytes;
}
