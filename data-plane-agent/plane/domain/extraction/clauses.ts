import type { TermInput } from '../../contract/records/contracts.js';
import type { Readings } from './candidates.js';
import { clauseEnd, dayOfClause } from './clause-dates.js';
import type { LabelKind } from './labels.js';
import { firstHitFrom, type Labelled } from './values.js';
import { rawLines, rawText, trimmed, type Document, type Span } from './document.js';

const KINDS: readonly (readonly [kind: TermInput['kind'], words: RegExp])[] = [
  ['deposit', /保证金|押金|deposit/],
  ['debug', /安装|调试|验收|试车|installation|commissioning|acceptance|testing/],
  ['delivery', /交货|交付|提货|运输|发货|delivery|shipment|transport/],
  ['payment', /付款|支付|结算|租金|payment|rent(?:al)?(?![a-z])/],
  [
    'expiry',
    /期满|届满|到期|续租|终止|解除|归还|返还|expiry|expiration|termination|renewal|return of|end of (?:the )?(?:lease|term)/,
  ],
];

/**
 * The numbering styles of headings. If a document uses several, the first one found separates its clauses, and the
 * others are subheadings.
 */
const NUMBERINGS = [
  '第[一二三四五六七八九十百\\d]{1,4}条',
  '(?:article|section|clause) [\\divx]{1,4}[.:]?',
  '[一二三四五六七八九十]{1,3}[、.]',
  '\\d{1,2}[.、](?!\\d)',
];
const HEADINGS = NUMBERINGS.map(
  (numbering) => new RegExp(`^[\\s#*]{0,8}${numbering}[\\s:.*-]{0,6}([^:。.;\\n]{2,60}?)\\*{0,2} {0,3}(?:[:。.]|$)`),
);
const MAX_TERMS = 40;
const MAX_CLAUSE = 4_000;

/** Reads clauses whose heading states their subject: delivery, installation, deposit, payment, expiry. */
export function readClauses(document: Labelled, readings: Readings): void {
  const headings = headingsOf(document);
  let n = 0;
  for (const [i, { title, bodyAt }] of headings.entries()) {
    if (n >= MAX_TERMS) return;
    const words = document.plain.slice(title.start, title.end);
    const kind = KINDS.find(([, pattern]) => pattern.test(words))?.[0];
    const next = headings[i + 1];
    const block = {
      start: bodyAt,
      end: blockIn(document, {
        start: bodyAt,
        end: Math.min(next?.lineAt ?? document.plain.length, bodyAt + MAX_CLAUSE),
      }),
    };
    const body = trimmed(document, { start: bodyAt, end: clauseEnd(document, block, !next) });
    const note = rawLines(document, body, 9_000);
    if (kind === undefined || note.length < 4) continue;
    const place = { ...title, confidence: 0.8 };
    readings.add(`terms[${n}].kind`, { ...place, value: kind });
    readings.add(`terms[${n}].title`, { ...place, value: rawText(document, title, 200) });
    const day = dayOfClause(document, body);
    if (day) readings.add(`terms[${n}].date`, { value: day.day, start: day.start, end: day.end, confidence: 0.75 });
    readings.add(`terms[${n}].note`, { value: note, start: body.start, end: body.end, confidence: 0.8 });
    n += 1;
  }
}

/**
 * Labels that end a clause: signatures and bank details. Account numbers must not be part of a text, where they could
 * not be masked.
 */
const OF_BLOCKS: ReadonlySet<LabelKind> = new Set([
  'party:A',
  'party:B',
  'party:giver',
  'party:taker',
  'payeeBank',
  'payeeAccount',
]);

function blockIn({ hits, plain }: Labelled, { start, end }: Span): number {
  for (let i = firstHitFrom(hits, start); i < hits.length; i++) {
    const hit = hits[i];
    if (!hit || hit.start >= end) break;
    const isBlock =
      hit.meanings.some(({ kind }) => OF_BLOCKS.has(kind)) ||
      /^(?:beneficiary|payee|account name|户名|收款单位|收款人|signed by|signature)$/.test(
        plain.slice(hit.start, hit.end),
      );
    if (isBlock && hit.leads && (hit.separation === 'colon' || hit.separation === 'line')) return hit.start;
  }
  return end;
}

interface Heading {
  readonly title: Span;
  /** The start of its line. */
  readonly lineAt: number;
  readonly bodyAt: number;
}

const MAX_HEADINGS = 500;

function headingsOf(document: Document): Heading[] {
  const ways = HEADINGS.map((pattern) => headingsBy(document, pattern));
  return ways.find((headings) => headings.length > 1) ?? ways.find((headings) => headings.length > 0) ?? [];
}

function headingsBy(document: Document, pattern: RegExp): Heading[] {
  const headings: Heading[] = [];
  for (const { start, end } of document.lines) {
    if (headings.length >= MAX_HEADINGS) break;
    const text = document.plain.slice(start, Math.min(end, start + 90));
    const match = pattern.exec(text);
    const words = match?.[1];
    if (!match || words === undefined) continue;
    const at = start + match[0].lastIndexOf(words);
    headings.push({
      title: trimmed(document, { start: at, end: at + words.length }),
      lineAt: start,
      bodyAt: Math.min(start + match[0].length, end),
    });
  }
  return headings;
}
