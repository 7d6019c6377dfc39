import { isBlank, isCjk, isDigit, isLatin, lineAt, lineSpan, type Document, type Span } from './document.js';
import { LABELS, type LabelKind } from './labels.js';
import { QUALIFIED_BY, TURNED_BY } from './words/around-labels.js';

/**
 * What separates a label from its value, most reliable first: a colon, the edge of a table cell, a verb (`为`, `shall
 * be`), a gap, the end of the line, or nothing.
 */
export type Separation = 'colon' | 'cell' | 'verb' | 'gap' | 'line' | 'none';

/** An occurrence of a label. The span is that of the label; its value begins at `valueAt`. */
export interface LabelHit extends Span {
  readonly meanings: readonly Meaning[];
  readonly separation: Separation;
  readonly valueAt: number;
  /** The text in brackets between label and value: a unit, a role, `含税`. */
  readonly aside: string;
  /** Whether only numbering precedes the label in its line or cell. */
  readonly leads: boolean;
}

export interface Meaning {
  readonly kind: LabelKind;
  readonly weight: number;
}

/** Labels beyond this number are ignored. */
const MAX_HITS = 8_000;

/** UTF-16 units between two yields. */
const STEP = 32_768;

/** Finds all labels of the document in order, in linear time. Yields between steps. */
export function* labelHits(document: Document): Generator<undefined, LabelHit[]> {
  const hits: LabelHit[] = [];
  const { plain } = document;
  for (let at = 0, pauseAt = STEP; at < plain.length && hits.length < MAX_HITS;) {
    if (at >= pauseAt) {
      pauseAt = at + STEP;
      yield;
    }
    const found = labelAt(plain, at);
    const hit = found && hitOf(document, at, found);
    if (hit) hits.push(hit);
    at = found ? found.end : at + 1;
  }
  return hits;
}

/** The longest label that begins at a position, if any. */
export function labelAt(
  plain: string,
  at: number,
): { readonly end: number; readonly meanings: readonly Meaning[] } | undefined {
  const first = plain.charCodeAt(at);
  if (!FIRSTS[first] || (isLatin(first) && isWordUnit(plain.charCodeAt(at - 1)))) return undefined;
  let node: Node | undefined = ROOT;
  let best: { end: number; meanings: readonly Meaning[] } | undefined;
  for (let place = at; ;) {
    const next: Node | undefined = node.next.get(plain.charCodeAt(place));
    if (next) {
      node = next;
      place += 1;
      if (node.meanings && !(isLatin(plain.charCodeAt(place - 1)) && isWordUnit(plain.charCodeAt(place))))
        best = { end: place, meanings: node.meanings };
      continue;
    }
    const after = pastBlanks(plain, place);
    if (after === place || after - place > 8) return best;
    // Chinese labels in forms are often spaced out.
    if (isCjk(plain.charCodeAt(place - 1)) && isCjk(plain.charCodeAt(after))) place = after;
    else if (node.next.has(32) && !isBlank(plain.charCodeAt(place))) return best;
    else {
      node = node.next.get(32);
      if (!node) return best;
      place = after;
    }
  }
}

/**
 * The meanings of a span that, apart from brackets, consists of one label: a column header or a label, and not a value.
 */
export function isLabel(document: Pick<Document, 'plain'>, { start, end }: Span): readonly Meaning[] | undefined {
  const found = labelAt(document.plain, start);
  if (!found) return undefined;
  const rest = document.plain
    .slice(found.end, Math.min(end, found.end + 60))
    .replace(/[([][^)\]]{0,40}[)\]]/g, '')
    .replace(CURRENCY_BEHIND, '')
    .replace(/[\s.:*#]+/g, ' ')
    .trim();
  return rest === '' ||
    labelAt(rest, 0)?.end === rest.length ||
    labelAt(rest.replaceAll(' ', ''), 0)?.end === rest.replaceAll(' ', '').length
    ? found.meanings
    : undefined;
}

/** `Unit price EUR`, `金额/元`. */
const CURRENCY_BEHIND = /[ ,/]{1,2}(?:in )?(?:usd|us\$|eur|gbp|cny|rmb|hkd|jpy|sgd|aud|cad|chf|[€$£¥]|万?元)$/;

function hitOf(
  document: Document,
  start: number,
  { end, meanings }: { end: number; meanings: readonly Meaning[] },
): LabelHit | undefined {
  const { plain } = document;
  const before = plain.charCodeAt(start - 1);
  const glued = start > 0 && isCjk(before) && isCjk(plain.charCodeAt(start));
  const line = lineSpan(document, lineAt(document, start));
  const lead = plain.slice(Math.max(line.start, start - 24), start);
  if (TURNED_BY.test(lead)) return undefined;
  const { at, aside } = pastAsides(plain, isBracketed(plain, start, end) ? end + 1 : end, line.end);
  const separated = separationAt(plain, at, line.end);
  // An amount that follows confirms the label: `四台起重机月租金共计人民币95,200元`.
  const hasAmountNext =
    separated.valueAt < line.end && MONEY_NEXT.test(plain.slice(separated.valueAt, separated.valueAt + 8));
  if (glued && !QUALIFIED_BY.test(lead) && separated.separation !== 'colon' && !hasAmountNext) return undefined;
  const leads =
    LEADS.test(lead.slice(Math.max(lead.lastIndexOf('|'), lead.lastIndexOf('\t'), lead.lastIndexOf('  ')) + 1)) &&
    (start - line.start <= 24 || /[|\t]|  /.test(lead));
  return {
    start,
    end,
    meanings:
      glued && !QUALIFIED_BY.test(lead)
        ? meanings.map(({ kind, weight }) => ({ kind, weight: weight * 0.7 }))
        : meanings,
    separation: separated.separation,
    valueAt: separated.valueAt,
    aside,
    leads,
  };
}

/** Whether the label is in brackets after a synonym and before the value: `采购人（甲方）：`. */
const isBracketed = (plain: string, start: number, end: number): boolean =>
  plain[start - 1] === '(' && /^\) {0,2}:/.test(plain.slice(end, end + 4));

const MONEY_NEXT = /^(?:人民币 ?[¥\d]|¥ ?\d|\d{1,3}(?:,\d{3})+(?:\.\d+)? ?元|人民币[壹贰叁肆伍陆柒捌玖])/;

/** Numbering, bullets and quotation before a label: `第三条`, `1.2`, `(一)`, `-`, `article 5`. */
const LEADS =
  /^[\s>*#•·"'-]*(?:第[一二三四五六七八九十百\d]{1,4}[条章款项]|(?:article|section|clause) \d{1,3}|\(?[\d一二三四五六七八九十]{1,3}(?:\.\d{1,2}){0,3}[).、,:]?)?[\s.、:*"'-]*$/;

/**
 * Skips a full stop, brackets and a second label with the same meaning: `Contract No. (合同编号)`, `单价（元）`, `卖方/Seller`.
 */
function pastAsides(plain: string, from: number, lineEnd: number): { at: number; aside: string } {
  let at = from;
  let aside = '';
  for (let step = 0; step < 4; step++) {
    if (plain[at] === '.' || plain[at] === '*' || plain[at] === '"') at += 1;
    const next = pastBlanks(plain, at);
    const opener = plain[next];
    if ((opener === '(' || opener === '[') && next < lineEnd) {
      const close = plain.slice(next, Math.min(lineEnd, next + 60)).search(/[)\]]/);
      if (close < 0) break;
      aside += ` ${plain.slice(next + 1, next + close)}`;
      at = next + close + 1;
      continue;
    }
    const second =
      opener === '/' || isSwitch(plain, next) ? pastBlanks(plain, opener === '/' ? next + 1 : next) : undefined;
    const other = second === undefined ? undefined : labelAt(plain, second);
    if (!other || other.end > lineEnd) break;
    aside += ` ${plain.slice(second, other.end)}`;
    at = other.end;
  }
  return { at, aside };
}

/** Whether the script changes between Chinese and Latin, as in bilingual forms. */
const isSwitch = (plain: string, at: number): boolean => {
  const before = plain.charCodeAt(at - 1) === 32 ? plain.charCodeAt(at - 2) : plain.charCodeAt(at - 1);
  return (isCjk(before) && isLatin(plain.charCodeAt(at))) || (isLatin(before) && isCjk(plain.charCodeAt(at)));
};

function separationAt(plain: string, from: number, lineEnd: number): { separation: Separation; valueAt: number } {
  const next = Math.min(pastBlanks(plain, from), lineEnd);
  const sign = plain[next];
  if (next < lineEnd && (sign === ':' || sign === '='))
    return valueAfter(plain, { from: next + 1, lineEnd, separation: 'colon' });
  if (next < lineEnd && sign === '|') return valueAfter(plain, { from: next + 1, lineEnd, separation: 'cell' });
  if (plain.slice(from, next).includes('\t') && next < lineEnd) return { separation: 'cell', valueAt: next };
  if (next >= lineEnd) return { separation: 'line', valueAt: lineEnd };
  VERB.lastIndex = next;
  const verb = VERB.exec(plain);
  if (verb) return { separation: 'verb', valueAt: pastBlanks(plain, next + verb[0].length) };
  return next - from >= 2 ? { separation: 'gap', valueAt: next } : { separation: 'none', valueAt: next };
}

const VERB =
  /(?:共计|合计|总计|为|是|计|即|shall be|shall amount to|will be|amounts to|is|are|of|totals|means|equals)(?![a-z])[:]?|"?,? ?means /y;

function valueAfter(
  plain: string,
  { from, lineEnd, separation }: { readonly from: number; readonly lineEnd: number; readonly separation: Separation },
): { separation: Separation; valueAt: number } {
  const at = pastBlanks(plain, from);
  return at >= lineEnd ? { separation: 'line', valueAt: lineEnd } : { separation, valueAt: at };
}

export function pastBlanks(plain: string, from: number, most = 40): number {
  let at = from;
  while (isBlank(plain.charCodeAt(at)) && at - from < most) at += 1;
  return at;
}

const isWordUnit = (unit: number): boolean => isLatin(unit) || isDigit(unit);

interface Node {
  readonly next: Map<number, Node>;
  meanings?: Meaning[];
}

const ROOT = trieOf(LABELS);
const FIRSTS = firstsOf(ROOT);

function trieOf(labels: typeof LABELS): Node {
  const root: Node = { next: new Map() };
  for (const [kind, weight, words] of labels) {
    for (const word of words) {
      let node = root;
      for (let i = 0; i < word.length; i++) {
        const unit = word.charCodeAt(i);
        const next = node.next.get(unit) ?? { next: new Map() };
        node.next.set(unit, next);
        node = next;
      }
      (node.meanings ??= []).push({ kind, weight });
    }
  }
  return root;
}

function firstsOf({ next }: Node): Uint8Array {
  const firsts = new Uint8Array(65_536);
  for (const unit of next.keys()) firsts[unit] = 1;
  return firsts;
}
