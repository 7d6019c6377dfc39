import { mapYielding, yielding } from '../../../base/yielding.js';
import type { Rights } from '../../contract/call.js';
import type { ImportReport } from '../../contract/records/imports.js';
import type { CsvFormat, Sheet, SheetCell } from '../../contract/records/sheet.js';
import type { Rejected } from '../../tables/imports.js';
import type { FieldRow } from '../../tables/fields.js';
import { plainNumber } from '../fields/numbers.js';
import { isAccountField, shown } from '../sensitive.js';
import { CONTRACT_COLUMNS, CUSTOM_FIELD, LINE_COLUMNS, type CellKind } from '../sheet/columns.js';
import { BYTE_ORDER_MARK } from '../../../base/csv/marks.js';
import { csvCells, END_OF_ROW } from '../sheet/csv-write.js';
import { guarded, listText, unguarded } from '../sheet/guard.js';
import { ERROR_COLUMN, STYLE_COLUMN, type Target } from '../sheet/headers.js';
import { numberAlone } from '../sheet/number-style.js';
import { settledText } from '../sheet/settled-text.js';
import { evidenceKind, sampleOf, type SheetStyle } from '../sheet/sheet-style.js';
import type { Candidate } from './candidate.js';

interface FileRead {
  readonly sheet: Sheet;
  readonly targets: readonly (Target | undefined)[];
  readonly style: SheetStyle;
}

/**
 * The rejected rows of a file. Cells are kept as they were sent, unless other rows of the file decided their value:
 * these are converted to unambiguous texts. The columns that an earlier import added are replaced.
 */
export async function rejectedOfSheet(
  { sheet, targets, style }: FileRead,
  failed: ReadonlySet<number>,
): Promise<Rejected> {
  const { header, records, csv } = sheet;
  const rejected = records.filter(({ row }) => failed.has(row));
  const width = Math.max(header.length, ...rejected.map(({ cells }) => cells.length));
  const kept = Array.from({ length: width }, (_, at) => at).filter((at) => !isAdded(targets[at]));
  const cellOf = (cell: SheetCell, target: Target | undefined): string =>
    settledText(cell, evidenceKind(target), style) ?? cellText(cell);
  const sample = sampleOf(style);
  return {
    ...(csv ? { csv: writtenLike(csv) } : {}),
    header: [...kept.map((at) => guarded(header[at] ?? '')), ...(sample === '' ? [] : [STYLE_COLUMN])],
    accounts: kept.flatMap((at, i) => (isAccountField(targets[at]?.name ?? '') ? [i] : [])),
    custom: kept.flatMap((at, i) => {
      const target = targets[at];
      return target?.kind === 'custom' ? [{ at: i, code: target.field.code }] : [];
    }),
    rows: await keepable(
      await mapYielding(rejected, ({ row, cells }) => ({
        row,
        cells: [...kept.map((at) => cellOf(cells[at] ?? null, targets[at])), ...(sample === '' ? [] : [sample])],
      })),
    ),
  };
}

/** Files in other encodings are returned in UTF-8, with the byte order mark by which spreadsheets recognise it. */
const writtenLike = ({ delimiter, byteOrderMark, encoding }: CsvFormat): NonNullable<Rejected['csv']> => ({
  delimiter,
  byteOrderMark: byteOrderMark || (encoding !== null && encoding !== 'utf-8'),
});

const isAdded = (target: Target | undefined): boolean =>
  target?.kind === 'ignored' && (target.name === ERROR_COLUMN || target.name === STYLE_COLUMN);

/** The rejected rows of a request as rows of a file: one for each payment line, up to `MAX_REJECTED`. */
export async function rejectedOfRows(
  candidates: readonly Pick<Candidate, 'rows' | 'input'>[],
  fields: readonly FieldRow[],
): Promise<Rejected> {
  const own = CONTRACT_COLUMNS.flatMap(({ name, field, kind }) => (field === null ? [] : [{ name, kind }]));
  const header = [
    ...own.map(({ name }) => name),
    ...fields.map(({ code }) => `${CUSTOM_FIELD}${code}`),
    ...LINE_COLUMNS.map(({ name }) => name),
  ];
  const pause = yielding();
  const rows: Rejected['rows'][number][] = [];
  for (const {
    rows: [row],
    input,
  } of candidates) {
    await pause();
    const custom = recordOf(input['dynamicFields']);
    const contract = [
      ...own.map(({ name, kind }) => valueText(input[name], kind)),
      ...fields.map(({ id }) => valueText(custom[id], 'text')),
    ];
    const payments: unknown = input['payments'];
    const lines: readonly unknown[] = Array.isArray(payments) && payments.length > 0 ? payments : [{}];
    if (rows.length + lines.length > MAX_REJECTED) continue;
    for (const line of lines.map(recordOf)) {
      await pause();
      rows.push({
        row,
        cells: [
          ...contract,
          ...LINE_COLUMNS.map(({ field, kind }) => valueText(field === null ? undefined : line[field], kind)),
        ],
      });
    }
  }
  const custom = fields.map(({ code }, i) => ({ at: own.length + i, code }));
  return {
    header,
    accounts: header.flatMap((name, i) => (isAccountField(name) ? [i] : [])),
    custom,
    rows: await keepable(rows),
  };
}

/** The limit for rows made from a request. An imported file has at most five thousand. */
const MAX_REJECTED = 20_000;

/** The limit of stored characters; rows beyond it are only in the report. */
const MAX_KEPT = 4_000_000;

async function keepable(rows: Rejected['rows']): Promise<Rejected['rows']> {
  let left = MAX_KEPT;
  const pause = yielding();
  const kept: Rejected['rows'][number][] = [];
  for (const row of rows) {
    await pause();
    const characters = row.cells.reduce((sum, cell) => sum + cell.length, 0);
    if (characters > left) continue;
    left -= characters;
    kept.push(row);
  }
  return kept;
}

interface Reader {
  /** Whether the reader sent the rows, and may see all their values. */
  readonly isOwn: boolean;
  readonly rights: Pick<Rights, 'sensitive'>;
  /** The custom fields that the reader may see. */
  readonly fields: readonly Pick<FieldRow, 'code'>[];
}

/**
 * The rejected rows as CSV, each with its errors, to be corrected and imported again. Custom values that the reader may
 * not see are left empty.
 */
export function rejectedCsv(
  { csv = FORMAT, header, accounts, custom, rows }: Rejected,
  report: ImportReport,
  { isOwn, rights, fields }: Reader,
): string {
  const lacking = report.missingColumns.length === 0 ? '' : `columns are missing: ${report.missingColumns.join(', ')}`;
  const reasons = new Map(
    report.rows.map(({ row, errors = [] }) => [row, errors.map(({ message }) => message).join('; ') || lacking]),
  );
  const hidden = new Set(isOwn || rights.sensitive ? [] : accounts);
  const seen = new Set(fields.map(({ code }) => code));
  const unseen = new Set(isOwn ? [] : custom.filter(({ code }) => !seen.has(code)).map(({ at }) => at));
  const delimiter = rows.some(({ cells }) => cells.some((cell) => AFTER_COMMA.test(cell))) ? ',' : csv.delimiter;
  const rowOf = (cells: readonly string[]): string => csvCells(cells, delimiter) + END_OF_ROW;
  const lines = rows.map(({ row, cells }) =>
    rowOf([
      ...cells.map((cell, i) =>
        unseen.has(i) ? '' : hidden.has(i) && cell !== '' ? (shown(cell, rights) ?? '') : cell,
      ),
      guarded(reasons.get(row) ?? ''),
    ]),
  );
  return (csv.byteOrderMark ? BYTE_ORDER_MARK : '') + rowOf([...header, ERROR_COLUMN]) + lines.join('');
}

/**
 * A formula after a comma. The guard does not cover commas, since between commas such a cell is quoted: with another
 * delimiter, a spreadsheet that separates cells at commas would run it.
 */
const AFTER_COMMA = /,['"]*[=+\-@\t\r\n\0＝＋－＠]/;

/** The format for rows of a list or a workbook. */
const FORMAT = { delimiter: ',', byteOrderMark: true } as const;

/** Guards a cell again: `'=1` in the file stands for `=1`, and an unguarded formula must be guarded. */
const cellText = (cell: SheetCell): string =>
  cell === null
    ? ''
    : typeof cell === 'string'
      ? guarded(unguarded(cell))
      : typeof cell === 'number'
        ? plainNumber(cell)
        : String(cell);

function valueText(value: unknown, kind: CellKind): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return kind === 'list' ? listText(value) : guarded(value);
  if (typeof value === 'number') return numberAlone(value, 'point');
  return typeof value === 'boolean' ? String(value) : listText(value);
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
