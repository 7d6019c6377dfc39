import { isBlank, lineAt, trimmed, type Span } from './document.js';
import { isLabel, type Meaning } from './label-hits.js';
import { currencyOf, type AmountHint } from './amounts.js';
import type { LabelKind } from './labels.js';
import type { Labelled } from './values.js';

export interface Column {
  readonly meanings: readonly Meaning[];
  /** The unit and currency in its header: `金额（万元）`. */
  readonly hint: AmountHint;
}

/**
 * A table with its columns and the cells of its rows. A row with a different number of cells is not aligned with the
 * columns.
 */
export interface Table extends Span {
  readonly columns: readonly (Column | undefined)[];
  readonly rows: readonly (readonly Span[])[];
}

const MAX_COLUMNS = 24;
/** The limit for all tables together. */
const MAX_ROWS = 2_000;
const MAX_TABLES = 40;
const MAX_TRIED = 2_000;

/** Finds tables: lines with cells separated by `|`, tabs or gaps, below a line with at least two labels as cells. */
export function tablesOf(document: Labelled): Table[] {
  const tables: Table[] = [];
  let left = MAX_ROWS;
  let tried = 0;
  for (
    let i = 0, labels = labelsByLine(document);
    i < document.lines.length - 1 && tables.length < MAX_TABLES && left > 0 && tried < MAX_TRIED;
    i++
  ) {
    const head = document.lines[i];
    if (!head || (labels.get(head.number) ?? 0) < 2) continue;
    tried += 1;
    const table = tableUnder(document, i, left);
    if (!table) continue;
    tables.push(table);
    left -= table.rows.length;
    i += table.lines;
  }
  return tables;
}

/** The number of labels per line; a header has at least two. */
function labelsByLine(document: Labelled): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { start } of document.hits) {
    const line = lineAt(document, start);
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

function tableUnder(
  document: Labelled,
  at: number,
  mostRows: number,
): (Table & { readonly lines: number }) | undefined {
  const [head, first] = [document.lines[at], document.lines[at + 1]];
  if (!head || !first) return undefined;
  const separator = separatorOf(document, head);
  const heads = cellsOf(document, head, separator);
  if (heads.length < 2 || heads.length > MAX_COLUMNS) return undefined;
  const columns = heads.map((cell) => columnOf(document, cell));
  if (columns.filter(Boolean).length < Math.max(2, heads.length / 2)) return undefined;
  // Two parties side by side are not a table.
  if (columns.every((column) => !column || column.meanings.some(({ kind }) => kind.startsWith('party:'))))
    return undefined;
  // Labels above labels are a form with several columns, and not a table.
  if (
    cellsOf(document, first, separator).every((cell) => columnOf(document, cell) !== undefined) &&
    !isRule(document, first)
  )
    return undefined;
  const rows: (readonly Span[])[] = [];
  let last = at;
  for (let next = at + 1; next < document.lines.length && rows.length < mostRows; next++) {
    const line = document.lines[next];
    // One blank line may separate rows in text extracted from a page.
    if (!line || line.number - (document.lines[next - 1]?.number ?? 0) > 2) break;
    if (!isRule(document, line)) {
      const cells = cellsOf(document, line, separator);
      // Gaps also occur in running text, so such a row must have as many cells as the header, or be a total row.
      if (
        cells.length < 2 ||
        separatorOf(document, line) !== separator ||
        (separator === GAP &&
          cells.length !== heads.length &&
          !ADDS_UP.test(document.plain.slice(line.start, line.end)))
      )
        break;
      rows.push(cells);
    }
    last = next;
  }
  if (!rows.some((row) => row.length === heads.length)) return undefined;
  return { columns, rows, start: head.start, end: document.lines[last]?.end ?? head.end, lines: last - at };
}

/** The index of the column with one of these labels, by weight; -1 when there is none. */
export function columnFor({ columns }: Table, ...kinds: readonly LabelKind[]): number {
  const weights = columns.map((column) =>
    Math.max(
      0,
      ...(column?.meanings ?? []).filter((meaning) => kinds.includes(meaning.kind)).map(({ weight }) => weight),
    ),
  );
  const best = Math.max(0, ...weights);
  return best === 0 ? -1 : weights.indexOf(best);
}

/** The indexes of all columns with a label of this kind, by weight. */
export const columnsFor = ({ columns }: Table, kind: LabelKind): number[] =>
  columns
    .flatMap((column, index) => {
      const weight = column?.meanings.find((meaning) => meaning.kind === kind)?.weight;
      return weight === undefined ? [] : [{ index, weight }];
    })
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ index }) => index);

const GAP = '  ';
const ADDS_UP = /^\s*(?:合\s*计|总\s*计|小\s*计|total|grand total)/;

/** The separator of a line's cells: bars, tabs or gaps. */
export function separatorOf(document: Labelled, { start, end }: Span): string {
  const text = document.plain.slice(start, Math.min(end, start + 4_000));
  return text.includes('|') ? '|' : text.includes('\t') ? '\t' : GAP;
}

/** The cells of a line, without empty ones at its ends. */
export function cellsOf(document: Labelled, { start, end }: Span, separator: string): Span[] {
  const { plain } = document;
  if (end - start > 4_000 || end - start < 3) return [];
  const cells: Span[] = [];
  let from = start;
  for (let at = start; at <= end; at++) {
    const isEnd = at === end;
    const isEdge =
      separator === GAP ? isBlank(plain.charCodeAt(at)) && isBlank(plain.charCodeAt(at + 1)) : plain[at] === separator;
    if (!isEnd && !isEdge) continue;
    const cell = trimmed(document, { start: from, end: at });
    // Between bars or tabs, empty cells count.
    if (cell.end > cell.start || (separator !== GAP && from !== start && !isEnd)) cells.push(cell);
    if (separator === GAP) while (at + 1 < end && isBlank(plain.charCodeAt(at + 1))) at += 1;
    from = at + 1;
    if (cells.length > MAX_COLUMNS) return [];
  }
  return separator === GAP && cells.length === 1 ? [] : cells;
}

/** `|---|:---:|`, `-----`, `+====+`. */
function isRule(document: Labelled, { start, end }: Span): boolean {
  return (
    end > start &&
    /^[\s|+:=-]+$/.test(document.plain.slice(start, Math.min(end, start + 400))) &&
    /[-=]/.test(document.plain.slice(start, Math.min(end, start + 400)))
  );
}

function columnOf(document: Labelled, cell: Span): Column | undefined {
  // `甲方：` is the label of the text after it, and not a column header.
  if (cell.end - cell.start > 60 || document.plain[cell.end - 1] === ':') return undefined;
  const text = document.plain.slice(cell.start, cell.end);
  const meanings = SHARE_HEAD.test(text) ? SHARES : isLabel(document, cell);
  return meanings && { meanings, hint: hintOf(document, text) };
}

/** Headers of share columns, whatever the shares refer to: `% of contract price`, `占合同总价比例（%）`. */
const SHARE_HEAD =
  /^(?:percentage|percent|share|%) of [a-z ]{3,40}$|^(?:占|付款|支付|应付)[\u4e00-\u9fff]{0,8}(?:比例|百分比)(?:\(%\))?$/;
const SHARES: readonly Meaning[] = [{ kind: 'line:share', weight: 1 }];

/** Units in brackets: `（万元）`, `(USD)`, `(RMB thousand)`. */
export function hintOf(document: Labelled, text: string): AmountHint {
  const unit = /亿/.test(text)
    ? 8
    : /万/.test(text)
      ? 4
      : /千元|thousand/.test(text)
        ? 3
        : /million/.test(text)
          ? 6
          : undefined;
  const word = /人民币|美元|欧元|港[币元]|日元|英镑|rmb|cny|usd|us\$|eur|gbp|hkd|jpy|sgd|aud|€|£|\$|元/.exec(text)?.[0];
  const currency = word === undefined ? undefined : currencyOf(word, document)?.code;
  return { ...(unit === undefined ? {} : { unit }), ...(currency === undefined ? {} : { currency }) };
}
