import { grouped, gridsOf, type Grid, type Ruling } from './grids.js';

/** A word or a longer part of a line, with its position in page units from the upper left corner. */
export interface Piece {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Line {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** The width of its first word, or first character in scripts without blanks. */
  readonly opening: number;
  /** Has wide gaps, as between columns of a form or an unruled table. */
  readonly hasGaps: boolean;
}

/** The maximum number of pieces per page; the rest is left out. */
const MAX_PIECES = 20_000;

/**
 * The text of a page in reading order: lines from top to bottom, the lines of a paragraph joined. Each row of a ruled
 * table is one line with cells separated by tabs; wide gaps become four blanks.
 */
export function layOut(pieces: readonly Piece[], rulings: readonly Ruling[]): string {
  const kept = pieces.filter(({ text }) => text.trim() !== '').slice(0, MAX_PIECES);
  const grids = gridsOf(rulings);
  const inGrid = grids.map((): Piece[] => []);
  const free: Piece[] = [];
  for (const piece of kept) {
    const n = grids.findIndex((grid) => isWithin(piece, grid));
    (inGrid[n] ?? free).push(piece);
  }
  const blocks: { readonly top: number; readonly text: string }[] = [];
  for (const [n, grid] of grids.entries()) {
    const text = tableText(grid, inGrid[n] ?? []);
    if (text !== '') blocks.push({ top: grid.top, text });
  }
  const tops = blocks.map(({ top }) => top).toSorted((a, b) => a - b);
  // A table separates the lines above it from those below.
  const parts = grouped(linesOf(free), (line) => tops.filter((top) => top < middle(line)).length);
  for (const lines of parts.values()) blocks.push({ top: lines[0]?.top ?? 0, text: paragraphs(lines).join('\n') });
  return blocks
    .toSorted((a, b) => a.top - b.top)
    .map(({ text }) => text)
    .join('\n');
}

const middle = ({ top, bottom }: Pick<Piece, 'top' | 'bottom'>): number => (top + bottom) / 2;
const isWithin = (piece: Piece, { left, right, top, bottom }: Grid): boolean =>
  middle(piece) > top &&
  middle(piece) < bottom &&
  (piece.left + piece.right) / 2 > left &&
  (piece.left + piece.right) / 2 < right;

function tableText(grid: Grid, pieces: readonly Piece[]): string {
  const cells = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const cell = grid.cellAt((piece.left + piece.right) / 2, middle(piece));
    const key = `${cell.row},${cell.column}`;
    const own = cells.get(key);
    if (own) own.push(piece);
    else cells.set(key, [piece]);
  }
  // A single column is a frame around text.
  if (grid.columns < 2) return paragraphs(linesOf(pieces)).join('\n');
  const rows: string[] = [];
  for (let row = 0; row < grid.rows; row++) {
    const texts: string[] = [];
    for (let column = 0; column < grid.columns; column++) {
      if (!grid.begins(row, column)) continue;
      texts.push(cellText(cells.get(`${row},${column}`) ?? []));
    }
    if (texts.some((text) => text !== '')) rows.push(texts.join('\t'));
  }
  return rows.join('\n');
}

/** Joins the lines of a cell. */
function cellText(pieces: readonly Piece[]): string {
  return linesOf(pieces)
    .reduce((text, line) => (text === '' ? line.text : joinedLines(text, line.text)), '')
    .replaceAll('\t', ' ');
}

/** Arranges pieces as lines, from top to bottom and left to right. */
export function linesOf(pieces: readonly Piece[]): Line[] {
  const rows: { pieces: Piece[]; top: number; bottom: number }[] = [];
  for (const piece of pieces.toSorted((a, b) => middle(a) - middle(b) || a.left - b.left)) {
    const row = rows.at(-1);
    const height = piece.bottom - piece.top;
    if (row && middle(piece) < row.bottom - Math.min(height, row.bottom - row.top) * 0.3) {
      row.pieces.push(piece);
      // Small characters do not increase the line height.
      if (height > (row.bottom - row.top) * 0.8)
        row.bottom = Math.max(row.bottom, Math.min(piece.bottom, row.top + height * 1.2));
    } else rows.push({ pieces: [piece], top: piece.top, bottom: piece.bottom });
  }
  return rows.map(({ pieces: own, top, bottom }) =>
    lineOf(
      own.toSorted((a, b) => a.left - b.left),
      top,
      bottom,
    ),
  );
}

function lineOf(pieces: readonly Piece[], top: number, bottom: number): Line {
  let text = '';
  let right = -Infinity;
  let hasGaps = false;
  for (const piece of pieces) {
    const em = Math.max(1, piece.bottom - piece.top);
    const gap = piece.left - right;
    if (text !== '') {
      if (gap > em * 1.9) {
        text = `${text.trimEnd()}    `;
        hasGaps = true;
      } else if (gap > em * 0.17 && !text.endsWith(' ') && !(isWide(text.at(-1)) && isWide(piece.text[0]))) text += ' ';
    }
    // Blanks between Chinese characters come from justification.
    text += piece.text.replaceAll(/(?<=[\u2e80-\u9fff\uf900-\uffef]) (?=[\u2e80-\u9fff\uf900-\uffef])/g, '');
    right = Math.max(right, piece.right);
  }
  const clean = text.trim();
  const left = Math.min(...pieces.map((piece) => piece.left));
  return {
    text: clean,
    left,
    right,
    top,
    bottom,
    opening: openingOf(clean, right - left),
    hasGaps: hasGaps || / {4}/.test(clean),
  };
}

function openingOf(text: string, width: number): number {
  const units = [...text].reduce((sum, sign) => sum + (isWide(sign) ? 2 : 1), 0);
  // A closing punctuation mark is never separated from the character before.
  const first = /^[\u2e80-\u9fff\uf900-\uffef][，。、；：）】》]?/.exec(text)?.[0] ?? /^\S+/.exec(text)?.[0] ?? '';
  return (width * [...first].reduce((sum, sign) => sum + (isWide(sign) ? 2 : 1), 0)) / Math.max(1, units);
}

const isWide = (sign: string | undefined): boolean => sign !== undefined && /[\u2e80-\u9fff\uf900-\uffef]/.test(sign);

/** Joins the lines of a paragraph: the first word of the next line would not have fit in the line before. */
export function paragraphs(lines: readonly Line[]): string[] {
  const right = Math.max(...lines.map((line) => line.right));
  const gap = usualGap(lines);
  const texts: string[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    if (before && continuesParagraph(before, line, { right, gap }))
      texts.push(joinedLines(texts.pop() ?? '', line.text));
    else texts.push(line.text);
    before = line;
  }
  return texts;
}

/** The usual gap within a paragraph: the lower quartile, as gaps between paragraphs are larger. */
function usualGap(lines: readonly Line[]): number {
  const gaps = lines
    .slice(1)
    .map((line, i) => line.top - (lines[i]?.bottom ?? 0))
    .toSorted((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 4)] ?? 0;
}

function continuesParagraph(
  before: Line,
  line: Line,
  { right, gap }: { readonly right: number; readonly gap: number },
): boolean {
  const em = before.bottom - before.top;
  if (before.hasGaps || line.hasGaps || BEGINS.test(line.text) || LABELLED.test(line.text)) return false;
  if (line.top - before.bottom > Math.max(gap, 0) + em * 0.32 || Math.abs(line.bottom - line.top - em) > em * 0.35)
    return false;
  if (before.right + line.opening + em * 0.9 < right) return false;
  // The first line of a paragraph is indented, unless it has a hanging number.
  return line.left < before.left + em || (NUMBERED.test(before.text) && line.left < before.left + em * 4);
}

const NUMBERED = /^[(（]?(?:\d{1,2}|[一二三四五六七八九十]{1,3}|[a-z]|[ivx]{1,4})(?:\.\d{1,2}){0,3}[)）.、]|^[•·●\-–]/i;
/** A line that starts a paragraph by its form. */
const BEGINS =
  /^(?:第[一二三四五六七八九十百\d]{1,4}[条章]|[一二三四五六七八九十]{1,3}、|[(（](?:[一二三四五六七八九十]{1,3}|\d{1,2}|[a-h])[)）]|\d{1,2}(?:\.\d{1,2}){0,3}[.、)）]\s?\D|(?:Article|ARTICLE|Section|SECTION|Clause|CLAUSE) \d|[•·●]|甲 ?方[（(:：]|乙 ?方[（(:：])/;

/** A line that starts with a label of a few words. */
const LABELLED = /^\p{Lu}[^\s:：]*(?: [^\s:：]+){0,4} ?[:：](?:\s|$)/u;

/** Rejoins a word hyphenated at the end of a line. */
function joinedLines(text: string, next: string): string {
  if (/[a-z]-$/.test(text) && /^[a-z]/.test(next)) return text.slice(0, -1) + next;
  if (/[A-Za-z\d][-/]$/.test(text) && /^[A-Za-z\d]/.test(next)) return text + next;
  return isWide(text.at(-1)) || isWide(next[0]) ? text + next : `${text} ${next}`;
}
