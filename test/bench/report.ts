/** One line of the result. */
export interface Row {
  readonly key: string;
  readonly name: string;
  readonly unit: '/s' | 's' | 'ms' | 'MB' | '×' | '%';
  /** Medians of the rounds. */
  readonly figure: number;
  readonly raw: number | null;
  readonly ratio: number | null;
  /** The target as text. */
  readonly target: string;
  readonly met: boolean;
  /** The results of each round, and other details that explain the figure. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The rows as a text table. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map(({ name, unit, figure, raw, ratio, target, met }) => [
    name,
    `${show(figure)} ${unit}`,
    raw === null ? '–' : `${show(raw)} ${unit}`,
    ratio === null ? '–' : ratio.toFixed(2),
    target,
    met ? 'met' : 'MISSED',
  ]);
  const all = [['case', 'figure', 'raw', 'ratio', 'target', ''], ...cells];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column >= 1 && column <= 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const show = (figure: number): string =>
  figure >= 100 ? figure.toFixed(0) : figure >= 10 ? figure.toFixed(1) : figure.toFixed(2);
