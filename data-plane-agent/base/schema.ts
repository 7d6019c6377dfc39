import type { JsonText } from './json-text.js';
import Type, { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox';

/**
 * Schemas with static types. Additions to plain JSON Schema:
 * - texts are trimmed and normalised to Unicode NFC before validation (`x-text`); secrets and tokens never are;
 * - an optional field may be `null` or an empty string; both mean "no value";
 * - every string, list and free-form object has a maximum size, so that no body causes unbounded work. The rules are
 *   described in docs/api-conventions.md.
 */
export const s = {
  /** Human-readable text of one or more lines; trimmed, NFC, no control characters except tab and newline. */
  text: (options: { max?: number; min?: number; pattern?: string; about?: string } = {}) =>
    Type.Unsafe<string>({
      type: 'string',
      'x-text': true,
      minLength: options.min ?? 1,
      maxLength: options.max ?? 500,
      ...(options.pattern === undefined ? {} : { pattern: options.pattern }),
      ...described(options.about),
    }),
  /** The name of a thing or a person: one line of text without control or invisible characters. */
  name: (options: { max?: number; min?: number; pattern?: string; about?: string } = {}) =>
    Type.Unsafe<string>({ ...s.text(options), 'x-name': true }),
  /** A short text shown in lists: like a name, but line breaks are allowed, as in spreadsheet cells. */
  plain: (options: { max?: number; min?: number; about?: string } = {}) =>
    Type.Unsafe<string>({ ...s.text(options), 'x-plain': true }),
  /** Remarks, notes, descriptions: up to 10 000 characters. */
  longText: (about?: string) => s.text({ max: 10_000, ...(about === undefined ? {} : { about }) }),
  /** A password, token or code: used exactly as sent. */
  verbatim: (options: { min?: number; max: number; pattern?: string; about?: string }) =>
    Type.Unsafe<string>({
      type: 'string',
      'x-verbatim': true,
      minLength: options.min ?? 1,
      maxLength: options.max,
      ...(options.pattern === undefined ? {} : { pattern: options.pattern }),
      ...described(options.about),
    }),
  /**
   * The text of a whole document: used exactly as sent; no control characters except tabs, line ends and form feeds.
   */
  document: (options: { max: number; about?: string }) =>
    Type.Unsafe<string>({
      type: 'string',
      'x-verbatim': true,
      'x-document': true,
      minLength: 1,
      maxLength: options.max,
      ...described(options.about),
    }),
  /** A reference to a record. Accepts any short text: the operation reports an unknown id (422). */
  id: (about?: string) =>
    Type.Unsafe<string>({ type: 'string', 'x-text': true, minLength: 1, maxLength: 100, ...described(about) }),
  email: () =>
    Type.Unsafe<string>({
      type: 'string',
      format: 'email',
      'x-text': true,
      'x-name': true,
      minLength: 3,
      maxLength: 254,
    }),
  /** A civil day. Accepts `YYYY-MM-DD` or an ISO timestamp, whose calendar day is used as written. */
  day: (about?: string) => Type.Unsafe<string>({ type: 'string', format: 'date', ...described(about) }),
  /** ISO 8601 UTC with milliseconds. For responses only. */
  instant: () => Type.Unsafe<string>({ type: 'string', format: 'date-time' }),
  /** ISO 4217 code, upper-cased on input. */
  currency: () => Type.Unsafe<string>({ type: 'string', format: 'currency', minLength: 3, maxLength: 3 }),
  /** A name known to the runtime: an IANA time zone, a BCP 47 tag or a CLDR calendar. */
  named: (format: 'time-zone' | 'language-tag' | 'locale-or-region' | 'calendar', about?: string) =>
    Type.Unsafe<string>({
      type: 'string',
      format,
      'x-text': true,
      minLength: 1,
      maxLength: format === 'time-zone' ? 64 : 35,
      ...described(about),
    }),
  /** Money in major units. The operation, which knows the currency, checks the number of decimals. */
  amount: (about?: string) => Type.Number({ minimum: 0, maximum: MAX_MAJOR, ...described(about) }),
  /** Money above 0; the refusal of other amounts says what to do `instead`. */
  positiveAmount: ({ instead, about }: { readonly instead: string; readonly about: string }) =>
    Type.Number({ exclusiveMinimum: 0, 'x-above-zero': instead, maximum: MAX_MAJOR, ...described(about) }),
  /** Money that may be negative. For responses only. */
  signedAmount: (about?: string) => Type.Number({ minimum: -MAX_MAJOR, maximum: MAX_MAJOR, ...described(about) }),
  number: (options: { min?: number; max?: number; about?: string } = {}) =>
    Type.Number({ minimum: options.min ?? -1e15, maximum: options.max ?? 1e15, ...described(options.about) }),
  integer: (options: { min?: number; max?: number; default?: number; about?: string } = {}) =>
    Type.Integer({
      minimum: options.min ?? 0,
      maximum: options.max ?? 1_000_000_000,
      ...(options.default === undefined ? {} : { default: options.default }),
      ...described(options.about),
    }),
  flag: (about?: string) => Type.Boolean(described(about)),
  enum: <const V extends readonly string[]>(values: V, about?: string) =>
    Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...described(about) }),
  /** An enum with a name in the API document, for when the name that generators would choose is already taken. */
  namedEnum: <const V extends readonly string[]>(title: string, values: V) =>
    Type.Unsafe<V[number]>({ ...s.enum(values), title }),
  /** A text, number, flag or list of short texts: a value whose type is checked elsewhere. */
  scalar: (options: { maxLength: number; maxItems: number; about?: string }) =>
    Type.Unsafe<string | number | boolean | string[]>({
      type: ['string', 'number', 'boolean', 'array'],
      'x-text': true,
      minLength: 1,
      maxLength: options.maxLength,
      minimum: -1e15,
      maximum: 1e15,
      items: { type: 'string', 'x-text': true, minLength: 1, maxLength: 500, pattern: String.raw`\S` },
      maxItems: options.maxItems,
      ...described(options.about),
    }),
  list: <T extends TSchema>(item: T, max: number, about?: string) =>
    Type.Array(item, { maxItems: max, ...described(about) }),
  /** A free-form JSON object of a limited size and at most eight levels. */
  free: (about?: string, { kilobytes = 16 }: { readonly kilobytes?: number } = {}) =>
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      'x-free': kilobytes,
      additionalProperties: true,
      ...described(about),
    }),
  /**
   * JSON text of a value of the schema, for responses of operations whose values are passed on as they are: serialised
   * once, and neither parsed nor serialised again on the way.
   */
  jsonText: <T extends TSchema>(schema: T, about?: string) =>
    Type.Unsafe<JsonText<Static<T>>>({
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: schema,
      'x-json': true,
      ...described(about),
    }),
  /** A map from short keys to one kind of value, at most `max` entries. */
  map: <T extends TSchema>(value: T, max: number, about?: string) =>
    Type.Unsafe<Record<string, Static<T>>>({
      type: 'object',
      additionalProperties: value,
      propertyNames: { type: 'string', maxLength: 100 },
      maxProperties: max,
      ...described(about),
    }),
  /**
   * `characters` limits the total length of all texts in the object's lists. `oneOf` and `someOf` name optional fields
   * of which exactly one, or at least one, must have a value: for the API document only, as the operation checks it.
   */
  object: <P extends TProperties>(
    properties: P,
    options: {
      title?: string;
      about?: string;
      characters?: number;
      oneOf?: readonly (keyof P & string)[];
      someOf?: readonly (keyof P & string)[];
    } = {},
  ) =>
    Type.Object(properties, {
      additionalProperties: false,
      ...(options.title === undefined ? {} : { title: options.title }),
      ...(options.characters === undefined ? {} : { 'x-characters': options.characters }),
      ...(options.oneOf === undefined ? {} : { 'x-one-of': options.oneOf }),
      ...(options.someOf === undefined ? {} : { 'x-some-of': options.someOf }),
      ...described(options.about),
    }),
  /** A response of one kind or another. For responses only: an invalid body would get the errors of every kind. */
  either: <const T extends TSchema[]>(schemas: readonly [...T]) => Type.Union([...schemas]),
  /** May be omitted, `null` or empty: all three mean "no value". */
  optional: <T extends TSchema>(schema: T): TOptional<TUnsafe<Static<T> | null>> => Type.Optional(s.nullable(schema)),
  /** Always present in a response, possibly `null`. */
  nullable: <T extends TSchema>(schema: T): TUnsafe<Static<T> | null> =>
    Type.Unsafe<Static<T> | null>(withNull(schema)),
  /** May be omitted but not `null` (a required field of a record, in a PATCH). */
  omittable: <T extends TSchema>(schema: T) => Type.Optional(schema),
};

/** Nine trillion major units: with three decimals this is still a safe integer in minor units. */
export const MAX_MAJOR = 9_000_000_000_000;

/**
 * The PATCH form of a record's fields: every field may be omitted, and only optional ones may be cleared with `null`.
 */
export function partial<P extends TProperties>(
  schema: TObject<P>,
  options: { title?: string; about?: string; characters?: number } = {},
) {
  const required = new Set<string>((schema as { required?: readonly string[] }).required ?? []);
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([key, value]) => [key, required.has(key) ? Type.Optional(value) : value]),
  );
  return s.object(properties, options) as unknown as TObject<{ [K in keyof P]: TOptional<P[K]> }>; // fromEntries loses the mapped type
}

const described = (about: string | undefined) => (about === undefined ? {} : { description: about });

/** Adds `null` to the list of types, because an `anyOf` would report three errors for one invalid field. */
function withNull(schema: TSchema): Record<string, unknown> {
  const json = plain(schema);
  const type = json['type'];
  if (type === undefined) return { anyOf: [json, { type: 'null' }] };
  return {
    ...json,
    type: [...(Array.isArray(type) ? type : [type]), 'null'],
    ...(Array.isArray(json['enum']) ? { enum: [...json['enum'], null] } : {}),
  };
}

const plain = (schema: TSchema): Record<string, unknown> => ({ ...(schema as Record<string, unknown>) });

export type { Static, TObject, TProperties, TSchema } from 'typebox';
