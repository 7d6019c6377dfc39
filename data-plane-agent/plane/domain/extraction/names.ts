import { rawText, trimmed, type Span } from './document.js';
import { isLabel } from './label-hits.js';
import type { Labelled } from './values.js';
import { DESCRIBES, NO_NAME } from './words/names.js';

/** The position at which a name at the end of running text begins at the latest. */
export function lastBoundary(before: string): { at: number; isSure: boolean } {
  let at = 0;
  let isSure = false;
  for (const mark of BOUNDARIES) {
    mark.lastIndex = 0;
    for (let match = mark.exec(before); match; match = mark.exec(before)) {
      const place = match.index + match[0].length;
      if (place > at && place < before.length - 1) [at, isSure] = [place, true];
    }
  }
  return { at, isSure };
}

const NUMBERED = '(?:\\(?[\\divxab]{1,3}[).]\\)? +)?';
const BOUNDARIES = [
  new RegExp(`(?:^|[ \\n])(?:by and between|between|by and among|among):?[ \\n]+${NUMBERED}`, 'g'),
  // `and` may be part of a name; it separates parties after a bracket, a comma or the end of a company name.
  new RegExp(
    `(?:[),";\\n]|ltd\\.?|inc\\.?|llc|co\\.|corp\\.?|limited|gmbh|company|plc)[ \\n]+and:?[ \\n]+${NUMBERED}`,
    'g',
  ),
  /[:;。]["\s]*/g,
  /\n\s*\n\s*/g,
  /["'方人]\)[,"]* *(?:和|与|及|and)? */g,
  /\)[,"]* *(?:和|与|及) */g,
  /(?:^|[,。\n]) *(?:兹|现)?由 */g,
  /\n *(?=[^\n]{2,60}$)/g,
];

/** The name in a span without a following description of the party (`, a company incorporated …`, `，住所：…`). */
export function nameIn(document: Labelled, span: Span): (Span & { name: string }) | undefined {
  const { plain } = document;
  const { start, end: to } = trimmed(document, span);
  const text = plain.slice(start, to);
  const cut = DESCRIBES.exec(text);
  let end = start + (cut ? cut.index : text.length);
  while (end > start && /[\s,;:。、"'_([*-]/.test(plain[end - 1] ?? '')) end -= 1;
  let begin = start;
  while (begin < end && /[\s,;:。、"'_)*]/.test(plain[begin] ?? '')) begin += 1;
  const leading = /^(?:本合同由|由|messrs\.? |m\/s\.? |the company |\(?\d{1,2}[).、] *|name: *)/.exec(
    plain.slice(begin, end),
  );
  if (leading) begin += leading[0].length;
  const lower = plain.slice(begin, end);
  if (
    lower.length < 2 ||
    lower.length > 160 ||
    !/[a-z\u3400-\u9fff]{2}/.test(lower) ||
    NO_NAME.test(lower) ||
    isLabel(document, { start: begin, end })
  )
    return undefined;
  return { name: rawText(document, { start: begin, end }), start: begin, end };
}

/** Whether a name ends with the legal form of a company. */
export const isCompany = (name: string): boolean => COMPANY.test(name);
const COMPANY =
  /(?:^|[ ,])(?:ltd|limited|inc|llc|corp|corporation|plc|gmbh|ag|s\.?a|s\.?p\.?a|s\.?r\.?l|b\.?v|n\.?v|oy|ab|as|a\/s|k\.?k|pty ltd|co)\.?$|(?:公司|厂|集团)$/;
