import { instantOf, parseLooseDay, todayIn } from '../../../base/day.js';
import { iso } from '../../../base/instants.js';
import { MAX_LABEL, type FieldType, type FieldValue } from '../../contract/records/fields.js';
import type { Member } from '../../contract/records/people.js';
import { numberIn, plainNumber } from './numbers.js';
import { dayInFormat, flagIn, localInstantIn, memberById, memberNamed, partsOf } from './texts.js';
import { checkedValue, labelOf, optionNamed, type ValueType } from './values.js';

/** What a conversion needs besides the two definitions. */
export interface ConversionContext {
  readonly timeZone: string;
  /** The tenant's date format, e.g. `DD/MM/YYYY`. ISO dates are always read. */
  readonly dateFormat?: string | undefined;
  readonly members: readonly Member[];
  readonly fileName: (id: string) => string | undefined;
}

export interface Conversion {
  readonly from: ValueType;
  readonly to: ValueType;
  readonly context: ConversionContext;
}

/** Returned when a value cannot be converted without loss. */
export const LOST = Symbol('lost');

/**
 * Converts a value, or returns LOST. For a choice, the labels of `labelsFor` must be among the options of the target.
 */
export function convert(value: FieldValue, conversion: Conversion): FieldValue | typeof LOST {
  const converted = converters[conversion.to.type](value, conversion);
  if (converted === LOST) return LOST;
  const read = checkedValue(conversion.to, converted, { removedOptions: true });
  return read.ok && read.value !== null ? read.value : LOST;
}

/**
 * The labels for a value converted to a choice, or LOST. Values of choices keep their option ids and need no labels.
 */
export function labelsFor(value: FieldValue, { from, to, context }: Conversion): readonly string[] | typeof LOST {
  const source = from.type;
  if (source === 'select' || source === 'multi_select')
    return to.type === 'select' && listOf(value).length !== 1 ? LOST : [];
  if (
    source === 'datetime' ||
    source === 'user' ||
    source === 'file' ||
    (source === 'date' && to.type === 'multi_select')
  )
    return LOST;
  const text = textOf(value, { from, context });
  const labels = isText(source) && to.type === 'multi_select' ? partsOf(text) : [text];
  return labels.length === 0 || labels.some((label) => label.length > MAX_LABEL && [...label].length > MAX_LABEL)
    ? LOST
    : labels;
}

type Converter = (value: FieldValue, conversion: Conversion) => FieldValue | typeof LOST;

const asText: Converter = (value, conversion) => textOf(value, conversion);

const asNumber: Converter = (value, conversion) => {
  const { type } = conversion.from;
  if (isNumeric(type)) return value;
  if (type === 'boolean') return value === true ? 1 : 0;
  return isText(type) || type === 'select' ? (numberIn(textOf(value, conversion)) ?? LOST) : LOST;
};

const asDay: Converter = (value, conversion) => {
  const { from, context } = conversion;
  if (from.type === 'date') return value;
  if (from.type === 'datetime') return localMidnight(String(value as string), context.timeZone) ?? LOST;
  if (!isText(from.type) && from.type !== 'select') return LOST;
  const text = textOf(value, conversion);
  // Converting a timestamp to a day would lose the time.
  return /[T:]/i.test(text) ? LOST : (dayInFormat(text, context.dateFormat) ?? parseLooseDay(text) ?? LOST);
};

const asInstant: Converter = (value, conversion) => {
  const { from, context } = conversion;
  if (from.type === 'datetime') return value;
  if (from.type !== 'date' && !isText(from.type) && from.type !== 'select') return LOST;
  const text = textOf(value, conversion);
  const day = from.type === 'date' ? text : dayInFormat(text, context.dateFormat);
  return (
    (day === undefined ? undefined : iso(instantOf(day, 0, context.timeZone))) ??
    localInstantIn(text, context.timeZone) ??
    LOST
  );
};

const asFlag: Converter = (value, conversion) => {
  const { type } = conversion.from;
  if (type === 'boolean') return value;
  if (isNumeric(type)) return value === 1 ? true : value === 0 ? false : LOST;
  return isText(type) || type === 'select' ? (flagIn(textOf(value, conversion)) ?? LOST) : LOST;
};

const asOptions: Converter = (value, conversion) => {
  const { from, to } = conversion;
  const labels = labelsFor(value, conversion);
  if (labels === LOST) return LOST;
  const ids =
    from.type === 'select' || from.type === 'multi_select'
      ? listOf(value)
      : labels.map((label) => optionNamed(to.options, label)?.id ?? '');
  return to.type === 'select' ? (ids[0] ?? LOST) : [...new Set(ids)];
};

const asContact: Converter = (value, conversion) => {
  const { type } = conversion.from;
  return isText(type) || type === 'select' || type === 'url' || type === 'email' || type === 'phone'
    ? textOf(value, conversion)
    : LOST;
};

const asMember: Converter = (value, conversion) => {
  const { from, context } = conversion;
  if (from.type === 'user') return value;
  return isText(from.type) ? (memberNamed(context.members, textOf(value, conversion))?.id ?? LOST) : LOST;
};

const asFile: Converter = (value, { from }) => (from.type === 'file' ? value : LOST);

const converters: Readonly<Record<FieldType, Converter>> = {
  text: asText,
  long_text: asText,
  number: asNumber,
  currency: asNumber,
  percent: asNumber,
  date: asDay,
  datetime: asInstant,
  boolean: asFlag,
  select: asOptions,
  multi_select: asOptions,
  user: asMember,
  url: asContact,
  email: asContact,
  phone: asContact,
  file: asFile,
};

function textOf(value: FieldValue, { from, context }: Pick<Conversion, 'from' | 'context'>): string {
  if (typeof value === 'number') return plainNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return value.map((id) => labelOf(from.options, id)).join(', ');
  if (from.type === 'select') return labelOf(from.options, value);
  if (from.type === 'user') return memberById(context.members, value)?.name ?? value;
  return from.type === 'file' ? (context.fileName(value) ?? value) : value;
}

const isText = (type: FieldType): boolean => type === 'text' || type === 'long_text';
const isNumeric = (type: FieldType): boolean => type === 'number' || type === 'currency' || type === 'percent';
const listOf = (value: FieldValue): readonly string[] =>
  typeof value === 'string' ? [value] : typeof value === 'object' ? value : [];

/** The local day that begins at this instant; `undefined` for any other instant, whose time would be lost. */
function localMidnight(instant: string, timeZone: string): string | undefined {
  const ms = Date.parse(instant);
  const day = todayIn(timeZone, ms);
  return instantOf(day, 0, timeZone) === ms ? day : undefined;
}
