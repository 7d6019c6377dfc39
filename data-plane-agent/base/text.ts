/**
 * The maximum number of consecutive combining marks, as in Unicode's stream-safe format; no script needs half as many.
 */
export const MAX_MARKS = 30;

export type NormalForm = 'NFC' | 'NFKC' | 'NFKD';
/** A text in normal form, or the problem, as the end of a sentence that begins with the field. */
export type Normal = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

export interface Bound {
  /** The maximum length of the input, in UTF-16 code units. */
  readonly max: number;
  readonly form?: NormalForm;
}

export const TOO_MANY_MARKS = `must have at most ${MAX_MARKS} combining marks in a row`;

/**
 * Normalises a text. Normalisation sorts each run of combining marks in quadratic time, and eight million of them would
 * occupy a processor for hours, so the length of the text and of the runs is checked first. A lint rule forbids calling
 * `normalize` elsewhere.
 */
export function normal(text: string, { max, form = 'NFC' }: Bound): Normal {
  if (text.length > max) return { ok: false, problem: 'is too long' };
  if (hasLongRun(text)) return { ok: false, problem: TOO_MANY_MARKS };
  return { ok: true, text: text.normalize(form) };
}

/** As `normal`, for texts that cannot be refused, such as a document's: the excess is cut off. */
export function normalCut(text: string, { max, form = 'NFC' }: Bound): string {
  const bounded = text.length > max ? text.slice(0, max) : text;
  return (hasLongRun(bounded) ? withoutLongRuns(bounded) : bounded).normalize(form);
}

/**
 * Whether more than `MAX_MARKS` combining marks follow each other. It checks every 31st unit, since a longer run
 * contains one of those.
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

/** Counts characters: a mark outside the basic plane has two units. */
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

/** Whether the unit is a combining mark, or half of one. */
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

/** Half-width Japanese sound marks are letters in Unicode, but NFKC turns them into marks. */
const MARK = /^[\p{M}\uff9e\uff9f]$/u;
const FIRST_MARK = 0x300;
/** The only marks outside the table. */
const SELECTORS = { first: 0xe0100, last: 0xe01ef } as const;
/** Indexed by code point; a regular expression would be slower, since each mark is checked about thirty times. */
const MARKS = Uint8Array.from({ length: 0x1f000 }, (_, point) =>
  point >= FIRST_MARK && MARK.test(String.fromCodePoint(point)) ? 1 : 0,
);

// oxlint-disable-next-line no-control-regex -- the characters to refuse: C0 controls except tab and newline, and DEL
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

/** No control characters except tab and newline, and no lone surrogates (PostgreSQL refuses both). */
export const isCleanText = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed();
