import { strFromU8, unzipSync } from 'fflate';
import writeXlsxFile, { type SheetData } from 'write-excel-file/node';
import { largeZip } from './archives.js';

/** A workbook with one sheet, `Sheet1`, like that of a spreadsheet program, with formatted dates. */
export async function aWorkbook(
  rows: readonly (readonly (string | number | boolean | Date | null)[])[],
): Promise<Uint8Array> {
  const data = rows.map((row) =>
    row.map((value) =>
      value === null
        ? null
        : value instanceof Date
          ? { value, type: Date, format: 'yyyy-mm-dd' }
          : { value, type: typeof value === 'string' ? String : typeof value === 'number' ? Number : Boolean },
    ),
  );
  const bytes: Buffer = await writeXlsxFile(data as SheetData).toBuffer();
  return new Uint8Array(bytes);
}

/** The same with changed parts: `null` removes one. */
export function altered(
  workbook: Uint8Array,
  change: (parts: Record<string, string>) => Record<string, string | null>,
): Uint8Array {
  const parts = Object.fromEntries(
    Object.entries(unzipSync(workbook)).map(([name, bytes]) => [name, strFromU8(bytes)]),
  );
  const changed = Object.entries({ ...parts, ...change(parts) }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return new Uint8Array(largeZip(Object.fromEntries(changed)));
}

export const SHEET = 'xl/worksheets/sheet1.xml';

/** A workbook whose sheet has these rows, as XML. */
export async function workbookOfXml(rows: string): Promise<Uint8Array> {
  return altered(await aWorkbook([['a']]), (parts) => ({
    [SHEET]: (parts[SHEET] ?? '').replace(/<sheetData>.*<\/sheetData>/s, `<sheetData>${rows}</sheetData>`),
  }));
}
