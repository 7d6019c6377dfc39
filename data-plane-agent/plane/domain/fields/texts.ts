import { addressIn } from '../../../base/addresses.js';
import { instantOf, parseDay } from '../../../base/day.js';
import { s } from '../../../base/schema.js';
import { checker } from '../../../base/validation.js';
import { iso } from '../../../base/instants.js';
import type { Member } from '../../contract/records/people.js';

/**
 * Finds a member by id, email or name. A name shared by several members matches only if exactly one of them is active.
 */
export function memberNamed(members: readonly Member[], text: string): Member | undefined {
  const { byId, byEmail, byName } = indexOf(members);
  const exact = byId.get(text) ?? byEmail.get(addressIn(text) ?? text);
  if (exact) return exact;
  const named = byName.get(text) ?? [];
  const active = named.filter((member) => member.active);
  return named.length === 1 ? named[0] : active.length === 1 ? active[0] : undefined;
}

export const memberById = (members: readonly Member[], id: string): Member | undefined => indexOf(members).byId.get(id);

interface MemberIndex {
  readonly byId: Map<string, Member>;
  readonly byEmail: Map<string, Member>;
  readonly byName: Map<string, Member[]>;
}

/** Indexes members, since sheets and conversions look up thousands of values. */
function indexOf(members: readonly Member[]): MemberIndex {
  const known = indexes.get(members);
  if (known) return known;
  const index: MemberIndex = { byId: new Map(), byEmail: new Map(), byName: new Map() };
  for (const member of members) {
    const email = addressIn(member.email) ?? member.email;
    index.byId.set(member.id, member);
    if (!index.byEmail.has(email)) index.byEmail.set(email, member);
    const named = index.byName.get(member.name);
    if (named) named.push(member);
    else index.byName.set(member.name, [member]);
  }
  indexes.set(members, index);
  return index;
}
const indexes = new WeakMap<readonly Member[], MemberIndex>();

const YES = new Set(['true', 'yes', 'y', '1', '是', '有', '真', '对', '√', '✓', '✔']);
const NO = new Set(['false', 'no', 'n', '0', '否', '无', '没有', '假', '不是', '×', '✗', '✘']);
export const flagIn = (text: string): boolean | undefined =>
  YES.has(text.toLowerCase()) ? true : NO.has(text.toLowerCase()) ? false : undefined;

/** An ISO instant with its zone, in UTC with milliseconds. */
export function instantIn(text: string): string | undefined {
  if (
    !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i.test(text) ||
    parseDay(text) === undefined
  )
    return undefined;
  const ms = Date.parse(text.toUpperCase().replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  if (Number.isNaN(ms)) return undefined;
  const instant = iso(ms);
  return instant.length === 24 ? instant : undefined; // only years with four digits
}

/** An ISO instant, or an ISO day with or without a time in the tenant's time zone. */
export function localInstantIn(text: string, timeZone: string): string | undefined {
  const zoned = instantIn(text);
  if (zoned !== undefined) return zoned;
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/i.exec(text);
  const day = match?.[1] === undefined ? undefined : parseDay(match[1]);
  if (day === undefined || !match) return undefined;
  const [hour, minute, second, milli] = [
    Number(match[2] ?? 0),
    Number(match[3] ?? 0),
    Number(match[4] ?? 0),
    Number((match[5] ?? '').padEnd(3, '0')),
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return instantIn(iso(instantOf(day, hour, timeZone) + minute * 60_000 + second * 1_000 + milli));
}

/** Splits a list as written by people. */
export const partsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;、，；]/)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
];

export function isUrl(text: string): boolean {
  if (/\s/.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  return new URL(text).hostname !== '';
}

const checkEmail = checker(s.email());
export function emailIn(text: string): string | undefined {
  const read = checkEmail(text);
  return read.ok ? read.value : undefined;
}

/** Whether a text is a phone number: five to fifteen digits with common separators, optionally with an extension. */
export function isPhone(text: string): boolean {
  if (text.length > 100) return false;
  const match = /^\+?([\d().\-/ ]+?)(?:\s*(?:ext\.?|x|#|转)\s*\d{1,6})?$/i.exec(text);
  const digits = match?.[1]?.replaceAll(/\D/g, '').length ?? 0;
  return digits >= 5 && digits <= 15;
}

/** Reads a day in the tenant's format: `DD/MM/YYYY`, `D.M.YYYY`. A format with other parts matches nothing. */
export function dayInFormat(text: string, format = ''): string | undefined {
  const parts: string[] = [];
  const pattern = format.replaceAll(/YYYY|MM?|DD?|[^YMD]+/g, (token) => {
    if (!/^[YMD]/.test(token)) return token.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
    parts.push(token.charAt(0));
    return token === 'YYYY' ? String.raw`(\d{4})` : String.raw`(\d{1,2})`;
  });
  if (parts.toSorted().join('') !== 'DMY' || /[YMD]/.test(pattern)) return undefined;
  const match = new RegExp(`^${pattern}$`).exec(text.trim());
  if (!match) return undefined;
  const [year = '', month = '', day = ''] = ['Y', 'M', 'D'].map((part) => match[1 + parts.indexOf(part)] ?? '');
  return parseDay(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
}
