import { printableLine } from './printable.js';

/** Formats rows as aligned columns under their headings. The last column is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows].map((row) => row.map(printableLine));
  const widths = headings.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ''))));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - width(cell)),
        )
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/**
 * Like `table`, but shortens the texts of the column with the index `column`, so that lines have at most `columns`
 * characters if the other columns leave enough space. `shortened`: whether any text was shortened.
 */
export function tableWithin(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, column }: { readonly columns: number; readonly column: number },
): { readonly text: string; readonly shortened: boolean } {
  const all = [headings, ...rows].map((row) => row.map(printableLine));
  const others = headings.map((_, at) => (at === column ? 0 : Math.max(...all.map((row) => width(row[at] ?? '')))));
  const room = Math.max(MIN_WIDTH, columns - others.reduce((sum, one) => sum + one + GAP.length, 0) + GAP.length);
  const isTooLong = (row: readonly string[]): boolean => width(printableLine(row[column] ?? '')) > room;
  return {
    text: table(
      headings,
      rows.map((row) => row.map((cell, at) => (at === column && isTooLong(row) ? cut(cell, room) : cell))),
    ),
    shortened: rows.some(isTooLong),
  };
}

const GAP = '  ';
const MIN_WIDTH = 10;

const cut = (text: string, room: number): string => `${[...printableLine(text)].slice(0, room - 1).join('')}…`;

const width = (text: string): number => [...text].length;
