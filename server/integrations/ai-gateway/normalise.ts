import { normalCut } from '../../../data-plane-agent/base/text.js';

/**
 * The text in which is searched: one form of every letter, digit, dash and space, without invisible characters. The
 * unit at `i` stands for the units of the input from `from[i]` up to `to[i]`.
 */
export interface NormalText {
  readonly text: string;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
}

/**
 * Unicode NFKC by character, with digits of all scripts as ASCII digits, and all dashes and spaces as `-` and ` `.
 * Invisible characters and combining marks are left out, since they only hide what is between them. Characters are
 * normalised one by one, so that each has its place in the input.
 */
export function normalise(input: string): NormalText {
  const units = new Uint16Array(input.length * MOST_UNITS);
  const from = new Uint32Array(units.length);
  const to = new Uint32Array(units.length);
  let length = 0;
  for (let at = 0; at < input.length;) {
    const point = input.codePointAt(at) ?? 0;
    const next = at + (point > 0xffff ? 2 : 1);
    const form = formOf(point);
    for (let rest = form; rest !== LEFT_OUT; rest >>>= 16) {
      units[length] = rest & 0xffff;
      from[length] = at;
      to[length] = next;
      length++;
    }
    at = next;
  }
  const used = units.subarray(0, length);
  return {
    text: Buffer.from(used.buffer, 0, used.byteLength).toString('utf16le'),
    from: from.subarray(0, length),
    to: to.subarray(0, length),
  };
}

/** A character becomes at most two units: otherwise a short input could become a long text. */
const MOST_UNITS = 2;
const LEFT_OUT = 0;
const UNKNOWN = -1;
/** Not a letter, digit, space or mark: stands for characters that are part of nothing searched for. */
const OTHER = 0xfffc;

/** The forms of the characters that have occurred, as one or two units in a number; filled on first use. */
const FORMS = new Int32Array(0x20000).fill(UNKNOWN);

function formOf(point: number): number {
  if (point < 0x80) return point === 0 ? OTHER : point;
  // Above are only ideographs, and in plane 14 invisible characters.
  if (point >= FORMS.length) return point >= 0xe0000 && point < 0xe1000 ? LEFT_OUT : OTHER;
  const known = FORMS[point] ?? UNKNOWN;
  if (known !== UNKNOWN) return known;
  const form = unitsOf(normalForm(String.fromCodePoint(point)));
  FORMS[point] = form;
  return form;
}

function normalForm(character: string): string {
  if (INVISIBLE.test(character)) return '';
  if (DIGIT.test(character)) return digitOf(character);
  const form = normalCut(character, { max: 2, form: 'NFKC' }).replace(MARKS, '');
  if (DASH.test(form)) return '-';
  if (SPACE.test(form)) return ' ';
  // `⑴` becomes `1`, not `(1)`, and `㏂` becomes `am`.
  return form.length > 1 && ALPHANUMERIC.test(form) ? form.replaceAll(/[^0-9A-Za-z]/g, '') : form;
}

/** The digits of a script follow each other from zero; a few blocks have several sets of ten. */
function digitOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  let before = 0;
  while (before < 60 && DIGIT.test(String.fromCodePoint(point - before - 1))) before++;
  return String(before % 10);
}

function unitsOf(form: string): number {
  if (form.length === 0) return LEFT_OUT;
  if (form.length > MOST_UNITS || (form.codePointAt(0) ?? 0) > 0xffff) return OTHER;
  // Second units are below U+8000 in all forms, so that the number is never negative.
  return form.charCodeAt(0) | (form.length > 1 ? (form.charCodeAt(1) & 0x7fff) << 16 : 0);
}

const INVISIBLE = /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
const ALPHANUMERIC = /[0-9A-Za-z]/;
const MARKS = /\p{M}/gu;
const DIGIT = /^\p{Nd}$/u;
const DASH = /^[\p{Pd}\u2212]$/u;
const SPACE = /^[\p{Zs}\u2800]$/u;
