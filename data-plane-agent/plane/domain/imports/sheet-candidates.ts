import { s } from '../../../base/schema.js';
import { yielding, type YieldIfDue } from '../../../base/yielding.js';
import { checker } from '../../../base/validation.js';
import type { People } from '../../contract/records/people.js';
import type { Sheet, SheetCell } from '../../contract/records/sheet.js';
import { uniqueKey } from '../unique-key.js';
import type { FieldRow } from '../../tables/fields.js';
import { mostDecimals, valueFromText } from '../fields/values.js';
import { cellContent, dayOfSerial, readCell, withoutPercent, type ReadCell } from '../sheet/cells.js';
import { CUSTOM_FIELD, OF_LINE, type ReferenceField } from '../sheet/columns.js';
import { readDay } from '../sheet/day-style.js';
import type { Target } from '../sheet/headers.js';
import { readNumber } from '../sheet/number-style.js';
import type { SheetStyle } from '../sheet/sheet-style.js';
import { isBlank } from '../sheet/sheet.js';
import { codeOfWord, problemOfWord, withTermKinds } from '../sheet/value-words.js';
import { codeIn, problemAt, type Candidate, type CellOfRow, type RowProblem } from './candidate.js';

export interface SheetReading {
  readonly sheet: Sheet;
  /** The meaning of each column. */
  readonly targets: readonly (Target | undefined)[];
  /** How numbers and days are read. */
  readonly style: SheetStyle;
  readonly people: Pick<People, 'members'>;
  readonly timeZone: string;
  /** Aborts the reading of a long sheet. */
  readonly signal?: AbortSignal;
}

/**
 * The contracts of a sheet. Rows that share a contract number and each have a payment line together form one contract:
 * their values must agree, and empty cells are ignored. A row without a line whose number was used before is a separate
 * contract, and a duplicate.
 */
export async function sheetCandidates(reading: SheetReading): Promise<Candidate[]> {
  const groups: Rows[] = [];
  const byNumber = new Map<string, Rows>();
  const pause = yielding(reading.signal);
  for (const record of reading.sheet.records) {
    await pause();
    const read = readRow(record, reading);
    const number = read.contract.get('contractNo')?.value;
    const code = typeof number === 'string' ? codeIn(number) : undefined;
    const key = code === undefined ? '' : uniqueKey(code);
    const group = byNumber.get(key);
    if (group && read.line.size > 0 && group.every(({ line }) => line.size > 0)) group.push(read);
    else {
      const begun: Rows = [read];
      groups.push(begun);
      if (key !== '' && !group) byNumber.set(key, begun);
    }
  }
  const instead = insteadColumns(reading.targets);
  const candidates: Candidate[] = [];
  for (const rows of groups) {
    candidates.push(await candidateOf(rows, { instead, pause }));
  }
  return candidates;
}

/** For each reference whose id column the file lacks, the column with a name, address or code that it has instead. */
function insteadColumns(targets: SheetReading['targets']): ReadonlyMap<string, string> {
  const given = new Set(targets.map((target) => target?.name));
  return new Map(
    targets.flatMap((target): [string, string][] =>
      target?.kind === 'contract' && target.column.insteadOf && !given.has(target.column.insteadOf)
        ? [[target.column.insteadOf, target.name]]
        : [],
    ),
  );
}

type Rows = [ReadRow, ...ReadRow[]];

interface Cell {
  readonly row: number;
  /** The column name. */
  readonly name: string;
  readonly raw: SheetCell;
  /** `undefined` when the cell could not be read. */
  readonly value: unknown;
}

interface ReadRow {
  readonly row: number;
  /** By column name; only cells that are not empty. */
  readonly contract: ReadonlyMap<string, Cell>;
  /** By line field. */
  readonly line: ReadonlyMap<string, Cell>;
  /** By custom field id. */
  readonly custom: ReadonlyMap<string, Cell>;
  readonly beside: ReadonlyMap<ReferenceField, Cell>;
  readonly problems: readonly RowProblem[];
}

function readRow(
  { row, cells }: Sheet['records'][number],
  { sheet, targets, style, people, timeZone }: SheetReading,
): ReadRow {
  const found = {
    contract: new Map<string, Cell>(),
    line: new Map<string, Cell>(),
    custom: new Map<string, Cell>(),
    beside: new Map<ReferenceField, Cell>(),
  };
  const problems: RowProblem[] = [];
  const keep = <K>(
    into: Map<K, Cell>,
    {
      key,
      name,
      raw,
      read,
    }: { readonly key: K; readonly name: string; readonly raw: SheetCell; readonly read: ReadCell },
  ): void => {
    if (read.ok && (read.value === undefined || read.value === null)) return;
    into.set(key, { row, name, raw, value: read.ok ? read.value : undefined });
    if (!read.ok) problems.push(problemAt({ row, field: name, value: raw }, read.problem));
  };
  for (const [at, raw] of cells.entries()) {
    const target = targets[at];
    if (!target) {
      // When a comma was not quoted, all following cells are shifted one column to the right.
      if (!isBlank(raw) && (at >= sheet.header.length || sheet.header[at] === null))
        problems.push({
          row,
          field: null,
          code: 'INVALID_INPUT',
          message: `the cell in column ${at + 1} has no header`,
          value: raw,
        });
      continue;
    }
    if (target.kind === 'contract' && target.column.insteadOf)
      keep(found.beside, { key: target.column.insteadOf, name: target.name, raw, read: readCell(raw, 'text', style) });
    else if (target.kind === 'contract')
      keep(found.contract, {
        key: target.name,
        name: target.name,
        raw,
        read: inCodes(target.name, readCell(raw, target.column.kind, style)),
      });
    else if (target.kind === 'line')
      keep(found.line, {
        key: target.name.slice(OF_LINE.length),
        name: target.name,
        raw,
        read: inCodes(target.name, readCell(raw, target.column.kind, style)),
      });
    else if (target.kind === 'custom')
      keep(found.custom, {
        key: target.field.id,
        name: target.name,
        raw,
        read: readCustom(raw, target.field, { style, people, timeZone }),
      });
  }
  return { row, ...found, problems };
}

/** A cell with the codes of an enumeration for the words that people use. */
function inCodes(column: string, read: ReadCell): ReadCell {
  if (!read.ok) return read;
  if (typeof read.value === 'string') {
    const problem = problemOfWord(column, read.value);
    return problem === undefined ? { ok: true, value: codeOfWord(column, read.value) } : { ok: false, problem };
  }
  return column === 'terms' && Array.isArray(read.value) ? { ok: true, value: withTermKinds(read.value) } : read;
}

function readCustom(
  raw: SheetCell,
  field: FieldRow,
  { style, people, timeZone }: Pick<SheetReading, 'style' | 'people' | 'timeZone'>,
): ReadCell {
  if (isBlank(raw)) return { ok: true, value: undefined };
  const text = cellContent(raw);
  if (!text.ok) return text;
  const day = typeof raw === 'number' && field.type === 'date' ? dayOfSerial(raw, style) : undefined;
  // The number of a workbook's cell has a decimal point, whatever the texts of the file have.
  const read =
    typeof raw === 'number'
      ? {}
      : {
          number: (part: string) =>
            readNumber(field.type === 'percent' ? withoutPercent(part) : part, style.numbers, mostDecimals(field)),
          day: (part: string) => readDay(part, style.days),
        };
  return valueFromText(field, day ?? text.value, { members: people.members, timeZone, ...read });
}

async function candidateOf(
  rows: Readonly<Rows>,
  { instead, pause }: { readonly instead: ReadonlyMap<string, string>; readonly pause: YieldIfDue },
): Promise<Candidate> {
  const [first, ...more] = rows;
  const problems = rows.flatMap((row) => row.problems);
  const contract = await agreed(
    rows.map((row) => row.contract),
    { problems, pause },
  );
  const custom = await agreed(
    rows.map((row) => row.custom),
    { problems, pause },
  );
  const beside = await agreed(
    rows.map((row) => row.beside),
    { problems, pause },
  );
  const lines = rows.filter(({ line }) => line.size > 0);
  const inputOf = (cells: ReadonlyMap<string, Cell>) =>
    Object.fromEntries(
      [...cells].filter(([, { value }]) => value !== undefined).map(([key, { value }]) => [key, value]),
    );
  return {
    rows: [first.row, ...more.map(({ row }) => row)],
    input: {
      ...inputOf(contract),
      ...(lines.length > 0 ? { payments: lines.map(({ line }) => inputOf(line)) } : {}),
      ...(custom.size > 0 ? { dynamicFields: inputOf(custom) } : {}),
    },
    problems,
    beside: new Map([...beside].map(([field, { name, value }]) => [field, { column: name, text: String(value) }])),
    place: (path) => placeIn({ first, lines, contract, custom, beside, instead }, path),
  };
}

/** The first non-empty cell for each key. Later ones must have the same value. */
async function agreed<K>(
  rows: readonly ReadonlyMap<K, Cell>[],
  { problems, pause }: { readonly problems: RowProblem[]; readonly pause: YieldIfDue },
): Promise<Map<K, Cell>> {
  const cells = new Map<K, Cell>();
  for (const row of rows) {
    await pause();
    for (const [key, cell] of row) {
      const before = cells.get(key);
      if (!before) cells.set(key, cell);
      else if (!isSameValue(before, cell))
        problems.push(
          problemAt(
            { row: cell.row, field: cell.name, value: cell.raw },
            `contradicts row ${before.row} of the same contract`,
          ),
        );
    }
  }
  return cells;
}

const normal = checker(s.object({ value: s.text({ max: 1_000_000 }) }));
const plainText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  const checked = normal({ value });
  return checked.ok ? checked.value.value : value;
};
const isSameValue = (a: Cell, b: Cell): boolean =>
  JSON.stringify(plainText(a.value)) === JSON.stringify(plainText(b.value));

interface Parts {
  readonly first: ReadRow;
  readonly lines: readonly ReadRow[];
  readonly contract: ReadonlyMap<string, Cell>;
  readonly custom: ReadonlyMap<string, Cell>;
  readonly beside: ReadonlyMap<string, Cell>;
  /** By reference field, the column that the file has instead. */
  readonly instead: ReadonlyMap<string, string>;
}

function placeIn({ first, lines, contract, custom, beside, instead }: Parts, path: string): CellOfRow {
  const [, index, field = ''] = /^payments\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
  if (index !== undefined) {
    const line = lines[Number(index)];
    return {
      row: line?.row ?? first.row,
      field: field === '' ? 'line' : `${OF_LINE}${field}`,
      value: line?.line.get(field)?.raw,
    };
  }
  const [, id] = /^dynamicFields\.(.+)$/.exec(path) ?? [];
  const column = instead.get(path) ?? path;
  const own =
    id === undefined
      ? (contract.get(path.split(/[.[]/, 1)[0] ?? '') ?? beside.values().find(({ name }) => name === column))
      : custom.get(id);
  return {
    row: own?.row ?? first.row,
    field: id === undefined ? column : (own?.name ?? `${CUSTOM_FIELD}${id}`),
    value: own?.raw,
  };
}
