import { readCsvRows, TooManyCsvRows, UnreadableCsv, type CsvLimits } from '../../../base/csv/read-rows.js';
import { fail } from '../../../base/failures.js';
import { MAX_COLUMNS, MAX_IMPORT_ROWS, type CsvFormat, type Sheet } from '../../contract/records/sheet.js';
import { sheetYielding, TooManyRows } from './sheet.js';

/** Blank rows at the end do not count, but a file of blank rows only must be limited too. */
const LIMITS: CsvLimits = { columns: MAX_COLUMNS, rows: 4 * MAX_IMPORT_ROWS };

export interface CsvReading {
  /** The encoding of the file, if it is known. */
  readonly encoding?: CsvFormat['encoding'];
  /** What reads the rows, if they are to be read in another thread. */
  readonly readRows?: typeof readCsvRows;
}

/** Reads a CSV file: see `readCsvRows`. Fails with IMPORT_FILE_INVALID, or throws `TooManyRows`. */
export async function readCsv(
  text: string,
  { encoding = null, readRows = readCsvRows }: CsvReading = {},
): Promise<Sheet> {
  try {
    const { rows, format } = await readRows(text, LIMITS);
    return await sheetYielding(rows, { csv: { ...format, encoding }, date1904: false });
  } catch (error) {
    if (error instanceof TooManyCsvRows) throw new TooManyRows();
    throw error instanceof UnreadableCsv
      ? fail('IMPORT_FILE_INVALID', { reason: error.message }, { cause: error })
      : error;
  }
}
