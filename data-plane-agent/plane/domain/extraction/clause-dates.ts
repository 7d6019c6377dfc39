import { findDay, type ReadDay } from './dates.js';
import { trimmed, type Document, type Span } from './document.js';
import { oneOf, raw } from './words/one-of.js';

/** A line that begins the signatures of a contract: no clause contains it. */
const SIGNATURE = new RegExp(
  `^[\\s*_-]*(?:${oneOf(
    raw`(?:签订|签署|签约|签字|订立)(?:的)?(?:日期|时间|日|地点|于|页)`,
    raw`(?:本)?(?:合同|协议)书?(?:由双方|经双方|双方)?(?:于|在)[^。;\n]{0,30}(?:签订|签署|签字|订立)`,
    raw`\(?(?:以下|此处以下)(?:为签字页|无正文)`,
    raw`[^,。;\n]{0,30}\((?:盖章|公章|签字|签章|签名|签字盖章)\)`,
    // `Signed delivery notes are to be returned.` is a sentence of the clause.
    raw`(?:signed|executed|signatures?|done (?:at|in)|made (?:at|in)|agreed and accepted)(?![a-z])(?=[^\n]*(?:[:_]|(?:19|20)\d\d)|[^\n.]{0,50}$)`,
    raw`(?:in|as) witness(?![a-z])`,
    raw`date of (?:signing|signature|execution|contract|agreement)`,
    raw`(?:signing|signature|execution|contract|agreement) date`,
    raw`this (?:contract|agreement|lease|order) (?:is|was|has been) (?:signed|executed|made|dated|concluded)`,
    raw`for and on behalf of `,
    raw`for (?:the )?(?:seller|buyer|purchaser|supplier|vendor|customer|lessor|lessee|landlord|tenant|party [ab])(?: ?[:_]| {2}|\t|$)`,
  )})`,
);
/** A line `Date: …`, which may be that of the signature. */
const DATE_LINE = /^[\s*_-]*(?:dated?|(?:place and |place, )date|日期|时间)(?: ?[:：] ?|[ \t]{1,20}|(?=\d))/;
/** A line with only a date, or a place and a date: `Hamburg, 20 March 2026`. */
const BARE = /^[\s*_-]*(?:[\p{L} .-]{2,30}, ?)?$/u;
/** The end of a line that continues in the next one. */
const CONTINUES =
  /(?:^|[^a-z])(?:by|on|before|after|than|of|from|until|till|to|in|is|be|and|or)\s*$|[于在自至为到前由,、:]\s*$/;
const LONGEST_LINE = 120;
/** Limits of the lines and dates of one clause that are examined. */
const MAX_LINES = 400;
const MAX_DAYS = 12;

/** `dates`: a line whose date may be that of the signature. */
interface Line extends Span {
  readonly kind: 'signature' | 'date' | 'other';
}

/** The end of a clause's own text: before the signatures that follow the last clause. */
export function clauseEnd(document: Document, body: Span, isLast: boolean): number {
  const lines = linesOf(document, body);
  const signature = lines.find(({ kind }) => kind === 'signature');
  let end = signature?.start ?? body.end;
  // After the last clause, dates are those of the signatures.
  const own = lines.filter(({ start }) => start < end);
  for (const line of isLast ? own.toReversed() : []) {
    if (line.kind !== 'date') break;
    end = line.start;
  }
  return end;
}

/**
 * The only date of a clause. Dates of the contract itself or of another document (`signed on`, `dated`, `生效`) are not
 * those of the clause, nor is that of a line `Date: …`.
 */
export function dayOfClause(document: Document, body: Span): ReadDay | undefined {
  const { plain } = document;
  const end = Math.min(body.end, body.start + 1_000);
  const dated = linesOf(document, { start: body.start, end }).filter(({ kind }) => kind !== 'other');
  const days: ReadDay[] = [];
  for (let at = body.start, n = 0; n < MAX_DAYS; n++) {
    const day = findDay(plain, at, end);
    if (!day) break;
    at = day.end;
    if (dated.some((line) => day.start >= line.start && day.start < line.end) || isOfPaper(plain, day)) continue;
    days.push(day);
  }
  const [only, other] = days;
  return only && !other && !only.other ? only : undefined;
}

const SIGNED_BEFORE = new RegExp(
  `(?:${oneOf(
    raw`(?:^|[^a-z])(?:signed|executed|dated|concluded|entered into|(?:come|comes|enters?) into force|takes? effect)(?: (?!before|until|no |not |within)[a-z]{1,12}){0,6}[ :]*`,
    raw`(?:签订|签署|签约|签字|订立|生效)(?:的)?(?:日期|时间|日|于|:|为|是| ){0,4}`,
  )})$`,
);
const SIGNED_AFTER =
  /^[ ,]{0,2}(?:由|经|在|与|双方|甲乙|各方|共同|正式|所|[\u4e00-\u9fff]{2,6}(?=签)){0,3}(?:签订|签署|签约|订立|起?生效)/;

const isOfPaper = (plain: string, { start, end }: Span): boolean =>
  SIGNED_BEFORE.test(plain.slice(Math.max(0, start - 60), start)) || SIGNED_AFTER.test(plain.slice(end, end + 24));

function linesOf(document: Document, { start, end }: Span): Line[] {
  const { plain } = document;
  const lines: Line[] = [];
  for (let from = start; from < end && lines.length < MAX_LINES;) {
    const edge = plain.indexOf('\n', from);
    const to = edge < 0 || edge > end ? end : edge;
    const { start: at, end: until } = trimmed(document, { start: from, end: to });
    const line = { start: at, end: until };
    // What follows the heading on its line is text of the clause.
    const isOwn = lines.length > 0 || /(?:^|\n)\s*$/.test(plain.slice(Math.max(0, at - 100), at));
    if (at < until) lines.push({ ...line, kind: isOwn ? kindOf(plain, line, lines.at(-1)) : 'other' });
    from = to + 1;
  }
  return lines;
}

function kindOf(plain: string, { start, end }: Span, before: Span | undefined): Line['kind'] {
  if (end - start > LONGEST_LINE) return 'other';
  const isContinued =
    before !== undefined && CONTINUES.test(plain.slice(Math.max(before.start, before.end - 12), before.end));
  if (isContinued) return 'other';
  const text = plain.slice(start, end);
  if (SIGNATURE.test(text)) return 'signature';
  const day = findDay(plain, start, end);
  if (!day) return 'other';
  if (DATE_LINE.test(text)) return 'date';
  // The first line may be the whole clause: `Delivery:\n1 June 2026`.
  const isBare = BARE.test(plain.slice(start, day.start)) && /^[\s.。_-]*$/.test(plain.slice(day.end, end));
  return before && isBare ? 'date' : 'other';
}
