import { isCjk, lineAt, lineSpan, rawText, trimmed, type Document, type Span } from './document.js';
import { isLabel, labelAt, pastBlanks, type LabelHit } from './label-hits.js';
import { readChineseNumber, readEnglishNumber } from './numerals.js';

/** A document with its labels in order. */
export interface Labelled extends Document {
  readonly hits: readonly LabelHit[];
}

export interface ReadText extends Span {
  readonly value: string;
}

/** The largest length of a value on one line. */
const LONGEST = 4_000;

/** The end of a value: the edge of its cell, a gap in the line, or the next label with a value. */
export function cellEnd(document: Labelled, from: number): number {
  const line = lineSpan(document, lineAt(document, from));
  const most = Math.min(line.end, from + LONGEST);
  const edge = document.plain.slice(from, most).search(/[|\t]| {3}|(?<=\S) {2}(?=\S)| ?[□☐☑☒■]/);
  const end = edge < 0 ? most : from + edge;
  const next = nextOpening(document, from, end);
  return next ? next.start : end;
}

/** The start of the ticked option of a list of checkboxes: `□全额付款 ☑分期付款`; `undefined` when none is ticked. */
export function pastBoxes(document: Labelled, from: number): number | undefined {
  const { plain } = document;
  if (!/[□☐☑☒■✓✔√]/.test(plain[from] ?? '')) return from;
  const line = lineSpan(document, lineAt(document, from));
  const end = Math.min(line.end, from + 400);
  const ticked = plain.slice(from, nextOpening(document, from, end)?.start ?? end).search(/[☑☒■✓✔√]/);
  return ticked < 0 ? undefined : pastBlanks(plain, from + ticked + 1);
}

/** The next label in the range that has a value; a mere mention of `设备` does not count. */
function nextOpening({ hits }: Labelled, from: number, end: number): LabelHit | undefined {
  for (let i = firstHitFrom(hits, from + 1); i < hits.length; i++) {
    const hit = hits[i];
    if (!hit || hit.start >= end) return undefined;
    if (
      hit.separation === 'colon' ||
      (hit.separation === 'line' && hit.leads && hit.valueAt >= hit.end && hit.end < end)
    )
      return hit;
  }
  return undefined;
}

export function firstHitFrom(hits: readonly LabelHit[], from: number): number {
  let low = 0;
  let high = hits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits[middle]?.start ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads a number or code that contains a digit and no blanks: `HT-2026-001`, `沪租字〔2026〕第018号`. */
export function readCode(document: Labelled, from: number): ReadText | undefined {
  const end = cellEnd(document, from);
  const text = document.plain.slice(from, Math.min(end, from + 120));
  const length = text.search(/[\s;,。"]|\((?!\d{4}\))/);
  const read = textOf(document, { start: from, end: length < 0 ? Math.min(end, from + 120) : from + length }, 100);
  const value = read?.value.replaceAll(WIDE, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0)) ?? '';
  return read && /[0-9]/.test(value) && !/^[\d.,]{1,2}$/.test(value) ? { ...read, value } : undefined;
}

/** Full-width characters of codes, which are converted to half-width. */
const WIDE = /[０-９Ａ-Ｚａ-ｚ－／．＿＃]/g;

/** Reads a name of a project, an item or a bank. */
export function readName(
  document: Labelled,
  from: number,
  { commas = false }: { commas?: boolean } = {},
): ReadText | undefined {
  const { plain } = document;
  const end = Math.min(cellEnd(document, from), from + 300);
  let stop = from;
  let brackets = 0;
  for (; stop < end; stop++) {
    const sign = plain[stop];
    if (sign === '(') brackets += 1;
    if (sign === ')') brackets -= 1;
    // A closing bracket whose opening one is before the name ends it.
    if (sign === ';' || sign === '。' || brackets < 0) break;
    if (
      sign === '.' &&
      stop + 1 < end &&
      plain[stop + 1] === ' ' &&
      !/(?:^|[ (.])(?:[a-z]|co|ltd|inc|corp|no|st|dr|mr|ms|dept|approx|incl|max|min|dia)$/.test(
        plain.slice(Math.max(from, stop - 8), stop),
      )
    )
      break;
    if (sign !== ',') continue;
    const next = pastBlanks(plain, stop + 1);
    if (labelAt(plain, next) || (!commas && (isCjk(plain.charCodeAt(next)) || isCjk(plain.charCodeAt(stop - 1)))))
      break;
  }
  // The label of a model in brackets ends the name before it: `Mini excavator (Model: ME-17)`.
  while (brackets > 0 && stop > from && /[\s(]/.test(plain[stop - 1] ?? '')) stop -= 1;
  return textOf(document, { start: from, end: stop }, 500);
}

/** Reads up to the end of the sentence. */
export function readSentence(document: Labelled, from: number, max = 500): ReadText | undefined {
  const end = Math.min(cellEnd(document, from), from + max * 2);
  const stop = document.plain.slice(from, end).search(/[。;]|\.(?= +[a-z])/);
  return textOf(document, { start: from, end: stop < 0 ? end : from + stop }, max);
}

/** Reads a quantity: `2台`, `两套`, `two (2) units`. */
export function readCount(
  document: Labelled,
  from: number,
): (Span & { readonly value: number; readonly hasUnit: boolean }) | undefined {
  const { plain } = document;
  LEAD.lastIndex = from;
  const at = from + (LEAD.exec(plain)?.[0].length ?? 0);
  const digits = exec(/(\d{1,3}(?:,\d{3}){1,3}|\d{1,9})(?:\.0{1,4})?(?![\d.,]*\d)/y, plain, at);
  const words = digits ? undefined : (readChineseNumber(plain, at) ?? readEnglishNumber(plain, at));
  if (!digits && !words) return undefined;
  let end = digits ? at + digits[0].length : (words?.end ?? at);
  const inDigits = words && exec(/ {0,2}\((\d{1,9})\)/y, plain, end);
  if (inDigits) end += inDigits[0].length;
  const value = Number(inDigits?.[1] ?? digits?.[1]?.replaceAll(',', '') ?? words?.value);
  const unit = exec(UNIT, plain, end);
  // Rejects numbers that continue as a price, a date, a duration or a share.
  if (!unit && exec(/ {0,3}(?:[%‰年月日天周期元¥$€万亿/:]|-\d|[a-z])/y, plain, end)) return undefined;
  return Number.isSafeInteger(value) && value >= 1
    ? { value, hasUnit: Boolean(unit), start: at, end: end + (unit?.[0].length ?? 0) }
    : undefined;
}

const LEAD = /(?:共计|合计|总计|共|total|of|[:= ])*/y;
const UNIT =
  / {0,3}(?:台|套|辆|件|个|批|组|座|部|架|条|只|艘|柜|块|张|把|根|箱|units?|sets?|pcs|pieces?|nos?\.?|ea(?:ch)?|vehicles?|machines?|trucks?|cranes?|lots?|pairs?)(?![a-z])/y;

/** Reads a whole percentage: 13%. */
export function readPercent({ plain }: Document, from: number): (Span & { readonly value: number }) | undefined {
  const match = exec(/[^\d%\n]{0,12}?(\d{1,3})(?:\.0{1,2})? {0,2}%/y, plain, from);
  if (!match) return undefined;
  const value = Number(match[1]);
  const start = from + match[0].search(/\d/);
  return value <= 100 ? { value, start, end: from + match[0].length } : undefined;
}

/** Reads a bank account number as written: digits in groups, or an IBAN. */
export function readAccount(document: Labelled, from: number): ReadText | undefined {
  const end = Math.min(cellEnd(document, from), from + 60);
  const named = /^iban:? ?/.exec(document.plain.slice(from, end));
  if (named) return readAccount(document, from + named[0].length);
  const match = /^(?:[a-z]{2}\d{2}[ -]?(?:[a-z0-9]{2,4}[ -]?){3,8}(?![a-z0-9])|\d(?:[ -]?[\dx*]){5,33}(?!\d))/.exec(
    document.plain.slice(from, end),
  );
  return match ? textOf(document, { start: from, end: from + match[0].length }, 60) : undefined;
}

/** The text of a span, unless it is blank, an empty form field or another label. */
export function textOf(document: Document, span: Span, max: number): ReadText | undefined {
  let { start, end } = trimmed(document, span);
  const { plain } = document;
  while (
    end > start &&
    /[,;:。、."'\s_-]/.test(plain[end - 1] ?? '') &&
    !ABBREVIATED.test(plain.slice(Math.max(start, end - 8), end))
  )
    end -= 1;
  while (start < end && /[:,;。、"'\s_=-]/.test(plain[start] ?? '')) start += 1;
  if (end <= start || isLabel(document, { start, end }) || BLANK.test(plain.slice(start, Math.min(end, start + 40))))
    return undefined;
  if (end - start > max * 2) return undefined;
  const value = rawText(document, { start, end }, max + 1);
  return value === '' || [...value].length > max ? undefined : { value, start, end };
}

const ABBREVIATED = /(?:^|[^a-z])(?:ltd|inc|co|corp|llc|plc|s\.a|s\.p\.a|b\.v|n\.v|k\.k|jr|sr|no|pty|l\.p)\.$/;
/** Empty form fields: `____`, `/`, `XXX`, `[●]`, `(date)`, `TBD`. */
const BLANK =
  /^[\s_\-/\\*.…·•●○□■xX?()[\]<>:;,]*$|^[[(<{][^\])>}]{0,40}[\])>}]$|^(?:tbd|tba|n\/a|nil|none|无|略|待定|年 *月 *日|(?:blank|to be (?:confirmed|advised|determined)).*)$/;

export const isBlankField = (text: string): boolean => BLANK.test(text.slice(0, 40));

function exec(pattern: RegExp, plain: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(plain);
}
