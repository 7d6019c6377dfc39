/** The content of a document, independent of its format (PDF, DOCX or scan). */
export interface Page {
  readonly language: 'zh' | 'en';
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly kind: 'title'; readonly text: string }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string; readonly indent?: boolean; readonly right?: boolean }
  | {
      readonly kind: 'table';
      readonly rows: readonly (readonly Cell[])[];
      readonly widths?: readonly number[];
      readonly lines?: boolean;
    }
  | { readonly kind: 'break' };

/** `\n` separates the lines of a cell. */
export type Cell = string | { readonly text: string; readonly across: number };

export const title = (text: string): Block => ({ kind: 'title', text });
export const heading = (text: string): Block => ({ kind: 'heading', text });
export const p = (text: string): Block => ({ kind: 'paragraph', text });
/** With an indented first line, like Chinese paragraphs. */
export const para = (text: string): Block => ({ kind: 'paragraph', text, indent: true });
export const right = (text: string): Block => ({ kind: 'paragraph', text, right: true });
/** Widths in hundredths of the page. */
export const table = (rows: readonly (readonly Cell[])[], widths?: readonly number[]): Block => ({
  kind: 'table',
  rows,
  lines: true,
  ...(widths ? { widths } : {}),
});
/** Columns without borders, such as parties and signatures side by side. */
export const columns = (rows: readonly (readonly Cell[])[], widths?: readonly number[]): Block => ({
  kind: 'table',
  rows,
  lines: false,
  ...(widths ? { widths } : {}),
});
export const pageBreak: Block = { kind: 'break' };

export const textOfCell = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);
export const acrossOf = (cell: Cell): number => (typeof cell === 'string' ? 1 : cell.across);
