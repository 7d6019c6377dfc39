/** JSON Schema as written to the OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Collects titled schemas: each is written once under `components/schemas` and referenced elsewhere. */
export interface SchemaRegistry {
  /** Returns the schema to write in place: a reference if it has a title. */
  write(schema: object): Json;
  /** Adds a schema that exists only in the document, and returns a reference to it. */
  define(title: string, schema: Json): Json;
  readonly schemas: Readonly<Record<string, Json>>;
}

/** Keywords used only by our validation. */
const OWN_KEYWORDS: ReadonlySet<string> = new Set([
  'x-text',
  'x-name',
  'x-plain',
  'x-verbatim',
  'x-document',
  'x-free',
  'x-characters',
  'x-above-zero',
  'x-one-of',
  'x-some-of',
]);
/** Keywords whose value is a map of schemas by name, and those whose value is a schema or a list of schemas. */
const BY_NAME: ReadonlySet<string> = new Set(['properties']);
const NESTED: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
]);

export function schemaRegistry(): SchemaRegistry {
  const schemas: Record<string, Json> = {};

  const define = (title: string, schema: Json): Json => {
    const known = schemas[title];
    if (known === undefined) schemas[title] = schema;
    else if (known !== schema && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two different schemas have the title ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  };

  /** Many endpoints declare the same schema, and all of them the same failures. */
  const written = new WeakMap<object, Json>();
  const write = (schema: object): Json => {
    const known = written.get(schema);
    if (known) return known;
    const json = rewritten(schema);
    written.set(schema, json);
    return json;
  };

  const rewritten = (schema: object): Json => {
    const { title, ...json } = withoutLeastLength(schema as Record<string, unknown>);
    if (typeof title !== 'string') return plain(json);
    // A titled schema that may be null is written as its reference or null, so that it is still defined once.
    const types = [json['type']].flat();
    if (!types.includes('null')) return define(title, plain(json));
    return {
      anyOf: [
        define(
          title,
          plain({
            ...json,
            type: types.length === 2 ? types.find((type) => type !== 'null') : types.filter((type) => type !== 'null'),
            ...(Array.isArray(json['enum']) ? { enum: json['enum'].filter((value) => value !== null) } : {}),
          }),
        ),
        { type: 'null' },
      ],
    };
  };

  const plain = (json: Json): Json =>
    Object.fromEntries(
      Object.entries(choosing(doubled(oneTypeEach(json))))
        .filter(([keyword]) => !OWN_KEYWORDS.has(keyword))
        .map(([keyword, value]) => [keyword, nested(keyword, value)]),
    );

  const nested = (keyword: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (BY_NAME.has(keyword))
      return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, write(schema as object)]));
    if (!NESTED.has(keyword)) return value;
    return Array.isArray(value) ? value.map((schema) => write(schema as object)) : write(value);
  };

  return { write, define, schemas };
}

/** An empty text in an optional field means no value, whatever the minimum length of its texts. */
function withoutLeastLength(json: Json): Json {
  if (![json['type']].flat().includes('null') || json['minLength'] === undefined) return json;
  const { minLength: _, ...rest } = json;
  return rest;
}

/**
 * The fields of which one must be given, as what is refused: generators leave `not` out, while `anyOf` beside
 * `properties` becomes a type without fields.
 */
function choosing(json: Json): Json {
  const fields = alternatives(json);
  if (fields.length === 0) return json;
  const pairs =
    json['x-one-of'] === undefined ? [] : fields.flatMap((one, i) => fields.slice(i + 1).map((other) => [one, other]));
  const none = { properties: Object.fromEntries(fields.map((field) => [field, NO_VALUE])) };
  const both = pairs.map((required) => ({
    required,
    properties: Object.fromEntries(required.map((field) => [field, { not: NO_VALUE }])),
  }));
  return { ...json, not: both.length === 0 ? none : { anyOf: [none, ...both] } };
}

/** Optional fields of which at least one must have a value. */
export const alternatives = (schema: object): readonly string[] => {
  const { 'x-one-of': one, 'x-some-of': some } = schema as Readonly<Record<string, readonly string[] | undefined>>;
  return one ?? some ?? [];
};

const NO_VALUE = { enum: [null, ''] };

/** Some generators read a number without a format as 32 bits, which loses cents from a hundred thousand on. */
const doubled = (json: Json): Json =>
  json['format'] === undefined && [json['type']].flat().includes('number') ? { ...json, format: 'double' } : json;

/** Keywords that apply to values of one type only; the others remain beside `oneOf`. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'multipleOf'],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'additionalProperties', 'propertyNames', 'maxProperties'],
};

/** Rewrites a list of types as `oneOf`: client generators support a single, nullable type and choices between such. */
function oneTypeEach(json: Json): Json {
  const types = [json['type']].flat() as readonly string[];
  if (types.filter((type) => type !== 'null').length < 2) return json;
  const { type: _, ...rest } = json;
  const typed = new Set(types.flatMap((type) => OF_TYPE[type] ?? []));
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !typed.has(keyword))),
    oneOf: types.map((type) => ({
      type,
      ...(type === 'number' ? { format: 'double' } : {}),
      ...(type === 'array' ? { items: {} } : {}),
      ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => OF_TYPE[type]?.includes(keyword))),
    })),
  };
}

/** The schema of a query parameter, where `null` cannot be sent: optional parameters are omitted. */
export function withoutNull(schema: Json): Json {
  const types = [schema['type']].flat().filter((type) => type !== 'null');
  const values = schema['enum'];
  return {
    ...schema,
    ...(schema['type'] === undefined ? {} : { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}),
  };
}
