import { parseDay, parseLooseDay } from '../../../base/day.js';
import { isAmountProblem, toMinor, decimalsOf } from '../../../base/money.js';
import { normal } from '../../../base/text.js';
import { isCleanText } from '../../../base/text.js';
import { isBlankText } from '../../../base/validation.js';
import {
  MAX_LABEL,
  MAX_LONG_TEXT,
  MAX_NUMBER,
  MAX_OPTIONS,
  MAX_PRECISION,
  MAX_TEXT,
  type FieldOption,
  type FieldValue,
} from '../../contract/records/fields.js';
import type { Member } from '../../contract/records/people.js';
import { settingsOf } from './answer.js';
import type { FieldRow } from '../../tables/fields.js';
import { decimalsIn, numberIn, plainNumber } from './numbers.js';
import {
  emailIn,
  flagIn,
  instantIn,
  isPhone,
  isUrl,
  localInstantIn,
  memberById,
  memberNamed,
  partsOf,
} from './texts.js';

/** The parts of a definition that its values depend on. */
export type ValueType = Pick<FieldRow, 'type' | 'options' | 'settings'>;

/** The value to store (`null` for none), or the problem as the end of a sentence that begins with the field name. */
export type ReadValue =
  { readonly ok: true; readonly value: FieldValue | null } | { readonly ok: false; readonly problem: string };

export interface CheckOptions {
  /** Whether archived options are accepted, for values from other sources or stored ones. */
  readonly removedOptions?: boolean;
  /** The present value; archived options that it contains are accepted. */
  readonly kept?: unknown;
}

/** Blank texts and empty lists count as no value for every type. */
export const isNothing = (raw: unknown): boolean =>
  raw === null ||
  raw === undefined ||
  (typeof raw === 'string' && isBlankText(raw)) ||
  (Array.isArray(raw) && raw.length === 0);

/**
 * Checks a JSON value by the field's type: texts are trimmed and normalized to NFC, instants converted to UTC. Ids of
 * members and files are not checked for existence here.
 */
export function checkedValue(field: ValueType, raw: unknown, options: CheckOptions = {}): ReadValue {
  if (isNothing(raw)) return NOTHING;
  switch (field.type) {
    case 'text':
    case 'long_text':
      return checkedText(
        raw,
        Math.min(settingsOf(field).maxLength ?? MAX_LONG_TEXT, field.type === 'text' ? MAX_TEXT : MAX_LONG_TEXT),
      );
    case 'number':
    case 'percent':
    case 'currency':
      return checkedNumber(field, raw);
    case 'date':
      return mapped(
        checkedText(raw, 100),
        (text) => parseDay(text) ?? WRONG('must be a calendar date like 2026-03-31'),
      );
    case 'datetime':
      return mapped(
        checkedText(raw, 100),
        (text) => instantIn(text) ?? WRONG('must be an instant with its zone, like 2026-03-31T09:30:00Z'),
      );
    case 'boolean':
      return typeof raw === 'boolean' ? kept(raw) : WRONG('must be true or false');
    case 'select':
      return mapped(checkedText(raw, 100), (id) => (offers(field, id, options) ? id : WRONG(NO_OPTION)));
    case 'multi_select':
      return checkedList(field, raw, options);
    case 'url':
      return mapped(checkedText(raw, MAX_TEXT), (text) =>
        isUrl(text) ? text : WRONG('must be a web address like https://example.com'),
      );
    case 'email':
      return mapped(checkedText(raw, 254), (text) => emailIn(text) ?? WRONG('must be an email address'));
    case 'phone':
      return mapped(checkedText(raw, 40), (text) =>
        isPhone(text) ? text : WRONG('must be a phone number like +86 21 5555 0100'),
      );
    case 'user':
    case 'file':
      return checkedText(raw, 100);
  }
}

export interface TextContext {
  readonly members?: readonly Member[] | undefined;
}

type ReadPart<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

/** The context of a cell, with the parsers for the number and date style of its file. */
export interface CellContext extends TextContext {
  readonly timeZone?: string;
  readonly number?: (text: string) => ReadPart<number>;
  readonly day?: (text: string) => ReadPart<string>;
}

/**
 * A value as text for a sheet: option labels, ISO days and instants, a member's email, plain numbers. `null` is an
 * empty cell.
 */
export function valueText(field: ValueType, value: unknown, { members = [] }: TextContext = {}): string {
  if (value === null || value === undefined) return '';
  switch (field.type) {
    case 'number':
    case 'percent':
    case 'currency':
      return typeof value === 'number' ? plainNumber(value) : plain(value);
    case 'select':
      return labelOf(field.options, plain(value));
    case 'multi_select':
      return listCell(
        field.options,
        (Array.isArray(value) ? value : [value]).map((id) => labelOf(field.options, plain(id))),
      );
    case 'user':
      return memberById(members, plain(value))?.email ?? plain(value);
    default:
      return plain(value);
  }
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Reads a cell of a sheet; the inverse of `valueText`. Also accepts ids of options and members, names of members, days
 * as written by spreadsheets, and instants in the tenant's time zone.
 */
export function valueFromText(
  field: ValueType,
  cell: string,
  { members = [], timeZone = 'UTC', number = numberAlone, day = dayAlone }: CellContext = {},
): ReadValue {
  const plain = plainText(cell);
  if (!plain.ok) return plain;
  const { value: text } = plain;
  if (isBlankText(text)) return NOTHING;
  if (!isCleanText(text)) return WRONG('must not contain control characters or broken Unicode');
  switch (field.type) {
    case 'number':
    case 'percent':
    case 'currency': {
      const read = number(text);
      return read.ok ? checkedValue(field, read.value) : read;
    }
    case 'date':
      return day(text);
    case 'datetime':
      return checkedValue(field, localInstantIn(text, timeZone) ?? text);
    case 'boolean': {
      const flag = flagIn(text);
      return flag === undefined ? WRONG('must be true or false') : kept(flag);
    }
    case 'select': {
      const option = optionNamed(field.options, text);
      return option ? kept(option.id) : WRONG("must be one of the field's options");
    }
    case 'multi_select': {
      const parts = text.length > MAX_LIST ? [] : listIn(field.options, text);
      if (parts.length > MAX_OPTIONS || text.length > MAX_LIST) return WRONG(`must have at most ${MAX_OPTIONS} items`);
      const named = parts.map((label) => optionNamed(field.options, label)?.id);
      const ids = named.filter((id) => id !== undefined);
      return ids.length < named.length
        ? WRONG("must be a list of the field's options")
        : checkedValue(field, [...new Set(ids)], { removedOptions: true });
    }
    case 'user':
      return kept(memberNamed(members, text)?.id ?? text);
    default:
      return checkedValue(field, text);
  }
}

function numberAlone(text: string): ReadPart<number> {
  const value = numberIn(text);
  return value === undefined ? WRONG('must be a number') : { ok: true, value };
}

function dayAlone(text: string): ReadPart<string> {
  const value = parseLooseDay(text);
  return value === undefined ? WRONG('must be a calendar date like 2026-03-31') : kept(value);
}

export const labelOf = (options: readonly FieldOption[], id: string): string =>
  options.find((option) => option.id === id)?.label ?? id;

/** Finds an option by id or label, ignoring the label's case. */
export function optionNamed(options: readonly FieldOption[], text: string): FieldOption | undefined {
  if (text.length > MAX_NAMED) return undefined;
  const { exact, folded } = namesOf(options);
  return exact.get(text) ?? folded.get(text.toLowerCase());
}

/** The longest label in UTF-16 units. */
const MAX_NAMED = 2 * MAX_LABEL;

interface OptionNames {
  readonly exact: Map<string, FieldOption>;
  readonly folded: Map<string, FieldOption>;
}

/**
 * Indexes options, since cells and conversions look up thousands of labels. Of options with equal labels the first
 * wins.
 */
function namesOf(options: readonly FieldOption[]): OptionNames {
  const known = indexes.get(options);
  if (known) return known;
  const names: OptionNames = { exact: new Map(), folded: new Map() };
  const add = (to: Map<string, FieldOption>, name: string, option: FieldOption) => to.has(name) || to.set(name, option);
  for (const option of options) {
    add(names.exact, option.id, option);
    add(names.exact, option.label, option);
    add(names.folded, option.label.toLowerCase(), option);
  }
  indexes.set(options, names);
  return names;
}
const indexes = new WeakMap<readonly FieldOption[], OptionNames>();

/** The labels of several options in one cell; as JSON when a plain list would be read differently. */
function listCell(options: readonly FieldOption[], labels: readonly string[]): string {
  const list = labels.join(', ');
  const isPlain =
    !labels.some((label) => /[,;、，；]/.test(label)) &&
    !list.startsWith('[') &&
    (labels.length === 1 || !optionNamed(options, list));
  return isPlain ? list : JSON.stringify(labels);
}

function listIn(options: readonly FieldOption[], text: string): string[] {
  if (optionNamed(options, text)) return [text];
  if (text.startsWith('[')) {
    const list = jsonTexts(text);
    if (list) return list;
  }
  return partsOf(text);
}

function jsonTexts(text: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The longest list cell: the maximal number of options, each quoted and with all characters escaped. */
const MAX_LIST = MAX_OPTIONS * (4 * MAX_LABEL + 4);

const NOTHING: ReadValue = { ok: true, value: null };
const NO_OPTION = "must be the id of one of the field's options";
const WRONG = (problem: string) => ({ ok: false, problem }) as const;
const kept = <T extends FieldValue>(value: T) => ({ ok: true, value }) as const;

type ReadText = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly problem: string };

/** Trims and normalizes a text; one that is too long for any type is refused unread. */
function plainText(raw: string): ReadText {
  if (raw.length > MAX_UNITS) return WRONG(`must have at most ${MAX_LONG_TEXT} characters`);
  const plain = normal(raw.replaceAll('\r\n', '\n').trim(), { max: MAX_UNITS });
  return plain.ok ? kept(plain.text) : WRONG(plain.problem);
}

/** In UTF-16 units: twice the longest list cell, which is also longer than the longest text in decomposed form. */
const MAX_UNITS = 2 * MAX_LIST;

function checkedText(raw: unknown, max: number): ReadText {
  if (typeof raw !== 'string') return WRONG('must be a string');
  const plain = plainText(raw);
  if (!plain.ok) return plain;
  const { value: text } = plain;
  if (!isCleanText(text)) return WRONG('must not contain control characters or broken Unicode');
  // Counts characters as JSON Schema does: an emoji is one character.
  return text.length > max && [...text].length > max ? WRONG(`must have at most ${max} characters`) : kept(text);
}

function mapped(
  read: ReadText,
  map: (text: string) => string | { readonly ok: false; readonly problem: string },
): ReadValue {
  if (!read.ok) return read;
  const value = map(read.value);
  return typeof value === 'string' ? kept(value) : value;
}

/** The greatest number of decimals that a value of a number field may have. */
export function mostDecimals(field: ValueType): number {
  const { precision, currencyCode } = settingsOf(field);
  return precision ?? (currencyCode === null ? MAX_PRECISION : decimalsOf(currencyCode));
}

function checkedNumber(field: ValueType, raw: unknown): ReadValue {
  if (typeof raw !== 'number' || !Number.isFinite(raw)) return WRONG('must be a number');
  const { currencyCode, min, max } = settingsOf(field);
  if (Math.abs(raw) > MAX_NUMBER) return WRONG(`must be between -${MAX_NUMBER} and ${MAX_NUMBER}`);
  if (min !== null && raw < min) return WRONG(`must be >= ${min}`);
  if (max !== null && raw > max) return WRONG(`must be <= ${max}`);
  if (currencyCode !== null) {
    const minor = toMinor(raw, currencyCode);
    if (isAmountProblem(minor)) return WRONG(minor.message);
  }
  const decimals = mostDecimals(field);
  if (decimalsIn(raw) > decimals) return WRONG(`must have at most ${decimals} decimals`);
  return kept(raw === 0 ? 0 : raw);
}

function checkedList(field: ValueType, raw: unknown, options: CheckOptions): ReadValue {
  if (!Array.isArray(raw)) return WRONG('must be a list');
  if (raw.length > MAX_OPTIONS) return WRONG(`must have at most ${MAX_OPTIONS} items`);
  const ids = raw as readonly unknown[];
  if (!ids.every((id): id is string => typeof id === 'string' && offers(field, id, options)))
    return WRONG("must be a list of ids of the field's options");
  return new Set(ids).size < ids.length ? WRONG('must not name an option twice') : kept([...ids]);
}

const offers = ({ options }: ValueType, id: string, { removedOptions = false, kept: present }: CheckOptions): boolean =>
  options.some(
    (option) =>
      option.id === id &&
      (!option.archived || removedOptions || present === id || (Array.isArray(present) && present.includes(id))),
  );
