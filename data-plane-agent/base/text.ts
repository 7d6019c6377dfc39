/**
 * How many combining marks may follow each other. Unicode's own stream-safe form has as many; no script that is written
 * needs half of them.
 */
export const MAX_MARKS = 30;

export type NormalForm = 'NFC' | 'NFKC' | 'NFKD';
/** A text in normal form, or why it is not brought into it, as the end of a sentence that begins with the field. */
export type Normal = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

export interface Bound {
  /** UTF-16 units that the text may have as it comes: it is not looked at beyond. */
  readonly max: number;
  readonly form?: NormalForm;
}

export const TOO_MANY_MARKS = `must have at most ${MAX_MARKS} combining marks in a row`;

/**
 * A text in Unicode normal form. Normalisation sorts each run of combining marks, in the square of the run's length:
 * eight million of them keep a processor for hours. So a text is bounded first: in its length, then in its runs, each
 * in one pass. Nothing else in the product calls `normalize`; a lint rule says so.
 */
export function normal(text: string, { max, form = 'NFC' }: Bound): Normal {
  if (text.length > max) return { ok: false, problem: 'is too long' };
  if (hasLongRun(text)) return { ok: false, problem: TOO_MANY_MARKS };
  return { ok: true, text: text.normalize(form) };
}

/** The same of a text that is not for us to refuse, such as a document's: what is beyond either bound is left out. */
export function normalCut(text: string, { max, form = 'NFC' }: Bound): string {
  const bounded = text.length > max ? text.slice(0, max) : text;
  return (hasLongRun(bounded) ? withoutLongRuns(bounded) : bounded).normalize(form);
}

/**
 * Whether more than `MAX_MARKS` combining marks follow each other, in one pass at most: of a text without marks it
 * looks at one unit in thirty-one, since a longer run would have one of those.
 */
export function hasLongRun(text: string): boolean {
  for (let at = MAX_MARKS; at < text.length; at += MAX_MARKS + 1) {
    if (!isMarkAt(text, at)) continue;
    let start = at;
    while (start > 0 && isMarkAt(text, start - 1)) start--;
    while (at - start <= 2 * MAX_MARKS && at < text.length && isMarkAt(text, at)) at++;
    if (at - start > MAX_MARKS && characters(text, start, at) > MAX_MARKS) return true;
  }
  return false;
}

/** A mark beyond the first plane is two units. */
function characters(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (!isSecondHalf(text.charCodeAt(at))) count++;
  return count;
}

function withoutLongRuns(text: string): string {
  let kept = '';
  let marks = 0;
  for (const character of text) {
    marks = isMarkAt(character, 0) ? marks + 1 : 0;
    if (marks <= MAX_MARKS) kept += character;
  }
  return kept;
}

/** Whether the unit is a mark, or either half of one. */
function isMarkAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < FIRST_MARK) return false;
  if (unit < 0xd800 || unit > 0xdfff) return MARKS[unit] === 1;
  const point = text.codePointAt(isSecondHalf(unit) && at > 0 ? at - 1 : at) ?? 0;
  return (
    point > 0xffff && (point < MARKS.length ? MARKS[point] === 1 : point >= SELECTORS.first && point <= SELECTORS.last)
  );
}

const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The half-width sound marks of Japanese are letters to Unicode, and marks once NFKC has widened them. */
const MARK = /^[\p{M}\uff9e\uff9f]$/u;
const FIRST_MARK = 0x300;
/** The only marks beyond the table. */
const SELECTORS = { first: 0xe0100, last: 0xe01ef } as const;
/** By code point. A regular expression would look at each mark of a text thirty times. */
const MARKS = Uint8Array.from({ length: 0x1f000 }, (_, point) =>
  point >= FIRST_MARK && MARK.test(String.fromCodePoint(point)) ? 1 : 0,
);
