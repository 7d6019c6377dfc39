import writeXlsxFile, { type SheetData } from 'write-excel-file/node';

type Value = string | number | Date | null;

export interface SheetOf {
  readonly name: string;
  readonly rows: readonly (readonly Value[])[];
}

/** A workbook like that of a spreadsheet program: dates, percentages and amounts as formatted numbers. */
export async function xlsxOf(sheets: readonly SheetOf[]): Promise<Buffer> {
  return writeXlsxFile(
    sheets.map(({ name, rows }) => ({ sheet: name, data: rows.map((row) => row.map(cellOf)) as SheetData })),
  ).toBuffer();
}

function cellOf(value: Value) {
  if (value === null) return null;
  if (value instanceof Date) return { value, type: Date, format: 'yyyy/m/d' };
  if (typeof value === 'string') return { value, type: String };
  return { value, type: Number, format: value > 0 && value < 1 ? '0%' : value >= 1_000 ? '#,##0.00' : '0' };
}
