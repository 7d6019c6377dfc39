import { lineAt, lineSpan, trimmed, type Span } from './document.js';
import { isLabel, labelAt, type LabelHit, type Meaning } from './label-hits.js';
import type { Readings } from './candidates.js';
import { isCompany, lastBoundary, nameIn } from './names.js';
import { cellsOf, separatorOf } from './tables.js';
import { cellEnd, firstHitFrom, type Labelled } from './values.js';
import { oneOf, raw } from './words/one-of.js';

/** The side that provides the goods and is paid (seller, lessor), or the side that receives them and pays. */
export type Side = 'giver' | 'taker';
export type Letter = 'A' | 'B';

export interface Roles {
  /** The party on the giving side, if the document states it. */
  readonly giver: Letter | undefined;
  /** For a document that names only its recipient: the side of the sender. */
  readonly letterhead: Side | undefined;
}

interface Mention extends Span, Role {
  readonly name: string;
  readonly confidence: number;
}

/**
 * Reads the parties. `甲方` and `Party A` denote the first party, `乙方` and `Party B` the second; if a document names only
 * sides, the receiving side (buyer, lessee) is the first party: the customer, as in Chinese practice.
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
  const [owners, sided] = [ownersSide(mentions), mentions.filter(({ side, letter }) => side ?? letter)];
  const letterhead =
    sided.length > 0 && sided.every(({ side, letter }) => !letter && side === sided[0]?.side)
      ? letterheadOf(document, readings, sided[0]?.side)
      : undefined;
  for (const { letter, side: own, isOwner, name, confidence, start, end } of letterhead
    ? [...mentions, letterhead]
    : mentions) {
    const side = own ?? (isOwner ? owners : undefined);
    const known =
      letter ??
      (side === undefined
        ? undefined
        : giver === undefined
          ? side === 'giver'
            ? 'B'
            : 'A'
          : side === 'giver'
            ? giver
            : other(giver));
    if (known)
      readings.add(`party${known}`, {
        value: name,
        start,
        end,
        confidence: letter || giver ? confidence : confidence - 0.03,
      });
  }
  return { giver: giver ?? (mentions.some(({ letter }) => letter) ? undefined : 'B'), letterhead: letterhead?.side };
}

const MAX_LOOKED = 1_000;

/** The side of an `owner`: opposite to that of the other named party. */
function ownersSide(mentions: readonly Mention[]): Side | undefined {
  const beside = mentions.find(({ side }) => side)?.side;
  return beside && otherSide(beside);
}

const otherSide = (side: Side): Side => (side === 'giver' ? 'taker' : 'giver');

/** An order or its confirmation names only its recipient; the sender is in the letterhead. */
function letterheadOf(document: Labelled, readings: Readings, named: Side | undefined): Mention | undefined {
  const [head] = document.lines;
  const name = head && head.end - head.start <= 120 && readings.best('type') ? nameIn(document, head) : undefined;
  return name && named && isCompany(document.plain.slice(name.start, name.end))
    ? { ...name, letter: undefined, side: otherSide(named), confidence: 0.78 }
    : undefined;
}

const other = (letter: Letter | undefined): Letter | undefined =>
  letter === undefined ? undefined : letter === 'A' ? 'B' : 'A';

interface Role {
  readonly letter: Letter | undefined;
  readonly side: Side | undefined;
  /** Whether the role is `Owner`, which may be a lessor or the client of a construction contract. */
  readonly isOwner?: boolean;
}

export function roleOf(meanings: readonly Meaning[]): Role | undefined {
  for (const { kind } of meanings) {
    if (kind === 'party:A' || kind === 'party:B') return { letter: kind === 'party:A' ? 'A' : 'B', side: undefined };
    if (kind === 'party:owner') return { letter: undefined, side: undefined, isOwner: true };
    if (kind === 'party:giver' || kind === 'party:taker')
      return { letter: undefined, side: kind === 'party:giver' ? 'giver' : 'taker' };
  }
  return undefined;
}

/** Adds roles in brackets after a role: `出租人（以下简称甲方）`, `Party A (the Lessor)`. */
const tieOf = (hit: LabelHit, role: Role): Role => joined(role, rolesIn(hit.aside));

const joined = (one: Role, two: Role): Role => ({
  letter: one.letter ?? two.letter,
  side: one.side ?? two.side,
  isOwner: Boolean(one.isOwner ?? two.isOwner),
});

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
  if (
    hit.separation !== 'colon' &&
    hit.separation !== 'cell' &&
    hit.separation !== 'line' &&
    !(hit.separation === 'gap' && hit.leads)
  )
    return undefined;
  if (/盖章|签字|签章|公章|signature|seal|sign/.test(hit.aside)) return undefined;
  const beside = namesUnder(document, hit, tied);
  if (beside !== 'not side by side') return beside;
  if (hit.separation !== 'line')
    return nameFrom(document, { from: hit.valueAt, tied, confidence: hit.separation === 'gap' ? 0.8 : 0.95 });
  return nameBelow(document, hit, tied);
}

/** The name below a label when two labels are side by side: `LESSOR LESSEE`. */
function namesUnder(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined | 'not side by side' {
  if (hit.separation !== 'gap' && hit.separation !== 'line' && hit.separation !== 'cell') return 'not side by side';
  const at = lineIndex(document, hit.start);
  const [line, next] = [document.lines[at], document.lines[at + 1]];
  if (!line || !next) return 'not side by side';
  const separator = separatorOf(document, line);
  const heads = cellsOf(document, line, separator);
  const isHead = (cell: Span) =>
    roleOf(isLabel(document, cell) ?? []) !== undefined && document.plain[cell.end - 1] !== ':';
  if (heads.length < 2 || !heads.every(isHead)) return 'not side by side';
  const cells = cellsOf(document, next, separator);
  const cell =
    cells.length === heads.length
      ? cells[heads.findIndex(({ start, end }) => hit.start >= start && hit.start < end)]
      : undefined;
  const name = cell && nameIn(document, cell);
  return name && { ...name, ...tied, confidence: 0.88 };
}

/** The index of a line among the lines that are not blank. */
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

/** The name on the line below its label, alone or after `Name:`. */
function nameBelow(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined {
  if (!hit.leads) return undefined;
  let line = lineAt(document, hit.start) + 1;
  for (let blank = 0; blank < 2 && trimmedLine(document, line).start === trimmedLine(document, line).end; blank++)
    line += 1;
  const { start, end } = trimmedLine(document, line);
  const label = document.hits[firstHitFrom(document.hits, start)];
  if (label && label.start < start + 3 && label.start < end) {
    const isName = label.meanings.some(({ kind }) => kind === 'name');
    return isName && (label.separation === 'colon' || label.separation === 'cell')
      ? nameFrom(document, { from: label.valueAt, tied, confidence: 0.93 })
      : undefined;
  }
  return nameFrom(document, { from: start, tied, confidence: 0.85 });
}

const trimmedLine = (document: Labelled, line: number): Span => trimmed(document, lineSpan(document, line));

function nameFrom(
  document: Labelled,
  { from, tied, confidence }: { readonly from: number; readonly tied: Role; readonly confidence: number },
): Mention | undefined {
  const end = Math.min(cellEnd(document, from), from + 300);
  const name = nameIn(document, { start: from, end });
  if (!name) return undefined;
  // The role may also follow the name: `需方：上海某公司（以下简称甲方）`.
  const after = rolesIn(document.plain.slice(name.end, Math.min(end, name.end + 60)));
  return { ...name, ...joined(tied, after), confidence };
}

/** A name before its defined term: `… between Harbour Ltd, a company …, (the "Lessor") and …`, `由上海某公司（以下简称“甲方”）与…`. */
function definedName(document: Labelled, hit: LabelHit, tied: Role): Mention | undefined {
  const { plain } = document;
  const lead = plain.slice(Math.max(0, hit.start - 60), hit.start);
  const opener = DEFINES.exec(lead);
  if (
    !opener ||
    !/[("称]|after|known as|referred|[,\n] {0,40}as $/.test(opener[0]) ||
    !/^"?[ ]{0,2}(?:or "|[),;/]|and|。|\n)|^ ?方?"/.test(plain.slice(hit.end, hit.end + 6))
  )
    return undefined;
  // `采购人（甲方）：` is a label and not a name.
  if (/^\) {0,2}:/.test(plain.slice(hit.end, hit.end + 4))) return undefined;
  const until = hit.start - opener[0].length;
  const from = Math.max(0, until - 400);
  const before = plain.slice(from, until);
  const cut = lastBoundary(before);
  const name = nameIn(document, { start: from + cut.at, end: until });
  // `the Bank, as lessor,` refers to a party that was named before.
  if (!name || (opener[0].endsWith('as ') && /^(?:the|each|either|any|such) /.test(plain.slice(name.start, name.end))))
    return undefined;
  return { ...name, ...tied, confidence: cut.isSure ? 0.92 : 0.8 };
}

/** An opening bracket, `以下简称`, `hereinafter referred to as`, and the quotation mark. */
const DEFINES = new RegExp(
  oneOf(
    raw`[,\n] {0,40}as (?:the )?$`,
    raw`(?:[,;] {0,2})?(?:\( {0,2})?(?:(?:以下|下)(?:简)?称(?:为)?[: ]{0,2}|(?:each )?(?:here(?:in)?after|herein)(?: collectively| individually)?(?: (?:referred to|called|known|designated))?(?: as)?,? {0,2}|(?:referred to|known) as {0,2})?(?:the )?"?(?:the )?$`,
  ),
);

/**
 * The side to which a bank account belongs: that of the last party named above it, or of the party in the same column.
 */
export function sideAt(document: Labelled, hit: LabelHit, roles: Roles): Side | undefined {
  const lead = document.plain.slice(Math.max(0, hit.start - 12), hit.start);
  const own = rolesIn(lead.slice(lead.lastIndexOf('\n') + 1));
  const named = sideOf(own, roles);
  if (named) return named;
  // A text such as `支付至甲方以下账户` or `the following account` introduces the payee's account.
  if (PAYEES.test(document.plain.slice(Math.max(0, hit.start - 160), hit.start))) return 'giver';
  const line = lineAt(document, hit.start);
  const column = columnOf(document, hit, line);
  for (let i = firstHitFrom(document.hits, hit.start) - 1, back = 0; i >= 0 && back < 80; i--, back++) {
    const before = document.hits[i];
    const role = before && roleOf(before.meanings);
    const isInLine =
      before !== undefined &&
      lineAt(document, before.start) === line &&
      /\S/.test(document.plain.slice(before.end, hit.start)) &&
      columnOf(document, hit, line) === 0;
    if (!before || !role || (!isInLine && (before.separation === 'none' || before.separation === 'verb'))) continue;
    if (roles.letterhead && line - lineAt(document, before.start) > BLOCK) return roles.letterhead;
    if (isInLine) return sideOf(joined(role, rolesIn(before.aside)), roles);
    const partyLine = lineAt(document, before.start);
    const onLine = document.hits.filter(
      (one) =>
        one.start >= (document.lineStarts[partyLine] ?? 0) &&
        one.start < (document.lineStarts[partyLine + 1] ?? 0) &&
        roleOf(one.meanings) &&
        document.plain[one.start - 1] !== '(',
    );
    const chosen = onLine.length > 1 ? onLine[Math.min(column, onLine.length - 1)] : before;
    return chosen && sideOf(joined(roleOf(chosen.meanings) ?? role, rolesIn(chosen.aside)), roles);
  }
  return undefined;
}

/** The largest number of lines of a party's details; an account further below does not belong to that party. */
const BLOCK = 8;

const PAYEES =
  /收款(?!方式)|以下(?:银行)?账户|下列(?:银行)?账户|指定(?:银行)?账户|支付至|汇至|汇入|following (?:bank )?account|beneficiary|payee|remit/;

/** The column of a label that occurs several times in a line, once for each party. */
const columnOf = (document: Labelled, hit: LabelHit, line: number): number =>
  document.hits.filter(
    (one) =>
      one.start >= (document.lineStarts[line] ?? 0) &&
      one.start < hit.start &&
      one.meanings[0]?.kind === hit.meanings[0]?.kind,
  ).length;

function sideOf({ letter, side }: Role, { giver }: Roles): Side | undefined {
  if (side) return side;
  return letter && giver ? (letter === giver ? 'giver' : 'taker') : undefined;
}
