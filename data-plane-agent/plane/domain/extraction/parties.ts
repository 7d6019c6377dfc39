import { lineAt, lineSpan, rawText, trimmed, type Span } from './document.js';
import { isLabel, labelAt, type LabelHit, type Meaning } from './label-hits.js';
import type { Readings } from './candidates.js';
import { cellsOf, separatorOf } from './tables.js';
import { cellEnd, firstHitFrom, type Labelled } from './values.js';

/** The side that gives the thing and is paid (seller, lessor), or that takes it and pays. */
export type Side = 'giver' | 'taker';
export type Letter = 'A' | 'B';

export interface Roles {
  /** Which party is on the giving side, where the document ties the two. */
  readonly giver: Letter | undefined;
}

interface Mention extends Span {
  readonly letter: Letter | undefined;
  readonly side: Side | undefined;
  readonly name: string;
  readonly confidence: number;
}

/**
 * Who the parties are. `甲方` and `Party A` name the first party, `乙方` and `Party B` the second; where a document has only sides, the one that gives
 * the thing and is paid (seller, lessor) is the first.
 */
export function readParties(document: Labelled, readings: Readings): Roles {
  const ties = new Map<Side, Letter>();
  const mentions: Mention[] = [];
  let looked = 0;
  for (const hit of document.hits) {
    const role = roleOf(hit.meanings);
    if (!role || looked++ > MAX_LOOKED) continue;
    const tied = tieOf(hit, role);
    if (tied.letter && tied.side && !ties.has(tied.side)) ties.set(tied.side, tied.letter);
    const mention = labelledName(document, hit, tied) ?? definedName(document, hit, tied);
    if (mention) mentions.push(mention);
    if (mention?.letter && mention.side && !ties.has(mention.side)) ties.set(mention.side, mention.letter);
  }
  const giver = ties.get('giver') ?? other(ties.get('taker'));
  for (const { letter, side, name, confidence, start, end } of mentions) {
    const known = letter ?? (side === undefined ? undefined : giver === undefined ? (side === 'giver' ? 'A' : 'B') : side === 'giver' ? giver : other(giver));
    if (known) readings.add(`party${known}`, { value: name, start, end, confidence: letter || giver ? confidence : confidence - 0.03 });
  }
  return { giver: giver ?? (mentions.some(({ letter }) => letter) ? undefined : 'A') };
}

const MAX_LOOKED = 1_000;
const other = (letter: Letter | undefined): Letter | undefined => (letter === undefined ? undefined : letter === 'A' ? 'B' : 'A');

interface Role {
  readonly letter: Letter | undefined;
  readonly side: Side | undefined;
}

export function roleOf(meanings: readonly Meaning[]): Role | undefined {
  for (const { announced } of meanings) {
    if (announced === 'party:A' || announced === 'party:B') return { letter: announced === 'party:A' ? 'A' : 'B', side: undefined };
    if (announced === 'party:giver' || announced === 'party:taker') return { letter: undefined, side: announced === 'party:giver' ? 'giver' : 'taker' };
  }
  return undefined;
}

/** What brackets beside a role say of it: `出租人（以下简称甲方）`, `Party A (the Lessor)`. */
const tieOf = (hit: LabelHit, role: Role): Role => joined(role, rolesIn(hit.aside));

const joined = (one: Role, two: Role): Role => ({ letter: one.letter ?? two.letter, side: one.side ?? two.side });

function rolesIn(text: string): Role {
  let found: Role = { letter: undefined, side: undefined };
  for (let at = 0; at < text.length && at < 200; at++) {
    const label = labelAt(text, at);
    if (!label) continue;
    found = joined(found, roleOf(label.meanings) ?? { letter: undefined, side: undefined });
    at = label.end - 1;
  }
  return found;
}

/** `甲方：上海远东机械有限公司`. */
function labelledName(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined {
  if (hit.parting !== 'colon' && hit.parting !== 'cell' && hit.parting !== 'line' && !(hit.parting === 'gap' && hit.leads)) return undefined;
  if (/盖章|签字|签章|公章|signature|seal|sign/.test(hit.aside)) return undefined;
  const beside = namesUnder(document, hit, tied);
  if (beside !== 'not side by side') return beside;
  if (hit.parting !== 'line') return nameFrom(document, hit.valueAt, tied, hit.parting === 'gap' ? 0.8 : 0.95);
  return nameBelow(document, hit, tied);
}

/** Two parties side by side, and their names under them: `LESSOR     LESSEE`. */
function namesUnder(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined | 'not side by side' {
  if (hit.parting !== 'gap' && hit.parting !== 'line' && hit.parting !== 'cell') return 'not side by side';
  const at = lineIndex(document, hit.start);
  const [line, next] = [document.lines[at], document.lines[at + 1]];
  if (!line || !next) return 'not side by side';
  const separator = separatorOf(document, line);
  const heads = cellsOf(document, line, separator);
  const isHead = (cell: Span) => roleOf(isLabel(document, cell) ?? []) !== undefined && document.plain[cell.end - 1] !== ':';
  if (heads.length < 2 || !heads.every(isHead)) return 'not side by side';
  const cells = cellsOf(document, next, separator);
  const cell = cells.length === heads.length ? cells[heads.findIndex(({ start, end }) => hit.start >= start && hit.start < end)] : undefined;
  const name = cell && nameIn(document, cell);
  return name && { ...name, ...tied, confidence: 0.88 };
}

/** The line's place among those in which something stands. */
function lineIndex({ lines }: Labelled, at: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle]?.start ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The name in the line under its label, by itself or after `Name:`. */
function nameBelow(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined {
  if (!hit.leads) return undefined;
  let line = lineAt(document, hit.start) + 1;
  for (let blank = 0; blank < 2 && trimmedLine(document, line).start === trimmedLine(document, line).end; blank++) line += 1;
  const { start, end } = trimmedLine(document, line);
  const label = document.hits[firstHitFrom(document.hits, start)];
  if (label && label.start < start + 3 && label.start < end) {
    const isName = label.meanings.some(({ announced }) => announced === 'name');
    return isName && (label.parting === 'colon' || label.parting === 'cell') ? nameFrom(document, label.valueAt, tied, 0.93) : undefined;
  }
  return nameFrom(document, start, tied, 0.85);
}

const trimmedLine = (document: Labelled, line: number): Span => trimmed(document, lineSpan(document, line));

function nameFrom(document: Labelled, from: number, tied: Role, confidence: number): Mention | undefined {
  const end = Math.min(cellEnd(document, from), from + 300);
  const name = nameIn(document, { start: from, end });
  if (!name) return undefined;
  // `需方：上海某公司（以下简称甲方）` says after the name which party it is.
  const after = rolesIn(document.plain.slice(name.end, Math.min(end, name.end + 60)));
  return { ...name, ...joined(tied, after), confidence };
}

/** `… between Harbour Ltd, a company …, (the "Lessor") and …`, `由上海某公司（以下简称“甲方”）与…`: the name stands before the word that it is given. */
function definedName(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined {
  const { plain } = document;
  const lead = plain.slice(Math.max(0, hit.start - 60), hit.start);
  const opener = DEFINES.exec(lead);
  if (!opener || !/[("称]|after|known as|referred/.test(opener[0]) || !/^"?[ ]{0,2}(?:or "|[),;/]|and|。|\n)|^ ?方?"/.test(plain.slice(hit.end, hit.end + 6))) return undefined;
  const until = hit.start - opener[0].length;
  const from = Math.max(0, until - 400);
  const before = plain.slice(from, until);
  const cut = lastBoundary(before);
  const name = nameIn(document, { start: from + cut.at, end: until });
  return name && { ...name, ...tied, confidence: cut.isSure ? 0.92 : 0.8 };
}

/** An opening bracket, `以下简称`, `hereinafter referred to as`, and the quotation mark. */
const DEFINES = /(?:[,;] {0,2})?(?:\( {0,2})?(?:(?:以下|下)(?:简)?称(?:为)?[: ]{0,2}|(?:each )?(?:here(?:in)?after|herein)(?: collectively| individually)?(?: (?:referred to|called|known|designated))?(?: as)?,? {0,2}|(?:referred to|known) as {0,2})?(?:the )?"?(?:the )?$/;

/** Where a name in running text begins, at the latest. */
function lastBoundary(before: string): { at: number; isSure: boolean } {
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
  // `and` is also part of names: it parts parties after a bracket, a comma or the end of a company's name.
  new RegExp(`(?:[),";\\n]|ltd\\.?|inc\\.?|llc|co\\.|corp\\.?|limited|gmbh|company|plc)[ \\n]+and:?[ \\n]+${NUMBERED}`, 'g'),
  /[:;。]["\s]*/g, /\n\s*\n\s*/g, /["'方人]\)[,"]* *(?:和|与|及|and)? */g, /\)[,"]* *(?:和|与|及) */g, /(?:^|[,。\n]) *(?:兹|现)?由 */g, /\n *(?=[^\n]{2,60}$)/g,
];

/** The name in the stretch: what describes the party after it (`, a company incorporated …`, `，住所：…`) is cut off. */
function nameIn(document: Labelled, span: Span): (Span & { name: string }) | undefined {
  const { plain } = document;
  const { start, end: to } = trimmed(document, span);
  const text = plain.slice(start, to);
  const cut = DESCRIBES.exec(text);
  let end = start + (cut ? cut.index : text.length);
  while (end > start && /[\s,;:。、"'_([*-]/.test(plain[end - 1] ?? '')) end -= 1;
  let begin = start;
  while (begin < end && /[\s,;:。、"'_)*]/.test(plain[begin] ?? '')) begin += 1;
  const leading = /^(?:本合同由|由|messrs\.? |m\/s\.? |the company |\(?\d{1,2}[).、] *|name: *)/.exec(plain.slice(begin, end));
  if (leading) begin += leading[0].length;
  const lower = plain.slice(begin, end);
  if (lower.length < 2 || lower.length > 160 || !/[a-z\u3400-\u9fff]{2}/.test(lower) || NO_NAME.test(lower) || isLabel(document, { start: begin, end })) return undefined;
  return { name: rawText(document, { start: begin, end }), start: begin, end };
}

const DESCRIBES = /[。;\n]|,(?! ?(?:ltd|inc|llc|l\.l\.c|co\b|corp|limited|plc|s\.a|gmbh|lp\b|llp|pte|pty|n\.v|b\.v|p\.c|p\.a|pllc|l\.p|s\.p\.a|ag\b|kg\b|b\.?v\b|co-op|cooperative))|\((?=\s*(?:以下|下称|简称|盖章|公章|签字|签章|甲方|乙方|出|承|买|卖|供|需|法定|统一|注册|地址|the |here|"|a |an |registered|company|reg|seal|signature|party|seller|buyer|lessor|lessee|sealed|stamp|abn|acn|uen|crn|vat|tax|no\.))| (?:having|with its|whose|located|incorporated|organi[sz]ed|established|registered|of no\.?|at no\.?|a company|a corporation|an? [a-z]+ (?:company|corporation))(?![a-z])|(?<=.)(?:地址|电话|住所|法定代表人|统一社会信用代码|税号)[: ]/;

/** Not a name: a form that was not filled in, a signature block, a sentence. */
const NO_NAME = /^(?:盖章|签字|签章|公章|代表|签名|法定|授权|地址|电话|日期|年|应|须|将|有权|同意|负责|不得|的|在|向|按|是|和|与|经|双方|\(|signature|authori[sz]ed|name|title|date|by|shall|will|agrees?|is|are|has|may|must|hereby|or|and|to|in|of|on)(?![a-z])|^(?:x{2,}|[*·•…]+|\[.*\])|应当|双方|签订|本合同(?!工)|本协议|agreement|hereto|whereas|shall |的规定|____/;

/** Where a bank account stands, whose it is: the last party named above it, or in the same place of a line with both. */
export function sideAt(document: Labelled, hit: LabelHit, roles: Roles): Side | undefined {
  const lead = document.plain.slice(Math.max(0, hit.start - 12), hit.start);
  const own = rolesIn(lead.slice(lead.lastIndexOf('\n') + 1));
  const named = sideOf(own, roles);
  if (named) return named;
  // `支付至甲方以下账户`, `the following account`: whoever is to be paid is told where.
  if (PAYEES.test(document.plain.slice(Math.max(0, hit.start - 160), hit.start))) return 'giver';
  const line = lineAt(document, hit.start);
  const column = columnOf(document, hit, line);
  for (let i = firstHitFrom(document.hits, hit.start) - 1, back = 0; i >= 0 && back < 80; i--, back++) {
    const before = document.hits[i];
    const role = before && roleOf(before.meanings);
    const isInLine = before !== undefined && lineAt(document, before.start) === line && /\S/.test(document.plain.slice(before.end, hit.start)) && columnOf(document, hit, line) === 0;
    if (!before || !role || (!isInLine && (before.parting === 'none' || before.parting === 'verb'))) continue;
    if (isInLine) return sideOf(joined(role, rolesIn(before.aside)), roles);
    const partyLine = lineAt(document, before.start);
    const onLine = document.hits.filter((one) => one.start >= (document.lineStarts[partyLine] ?? 0) && one.start < (document.lineStarts[partyLine + 1] ?? 0) && roleOf(one.meanings) && document.plain[one.start - 1] !== '(');
    const chosen = onLine.length > 1 ? onLine[Math.min(column, onLine.length - 1)] : before;
    return chosen && sideOf(joined(roleOf(chosen.meanings) ?? role, rolesIn(chosen.aside)), roles);
  }
  return undefined;
}

const PAYEES = /收款(?!方式)|以下(?:银行)?账户|下列(?:银行)?账户|指定(?:银行)?账户|支付至|汇至|汇入|following (?:bank )?account|beneficiary|payee|remit/;

/** In a line that says its label twice, once for each party, which of the two it is. */
const columnOf = (document: Labelled, hit: LabelHit, line: number): number =>
  document.hits.filter((one) => one.start >= (document.lineStarts[line] ?? 0) && one.start < hit.start && one.meanings[0]?.announced === hit.meanings[0]?.announced).length;

function sideOf({ letter, side }: Role, { giver }: Roles): Side | undefined {
  if (side) return side;
  return letter && giver ? (letter === giver ? 'giver' : 'taker') : undefined;
}

