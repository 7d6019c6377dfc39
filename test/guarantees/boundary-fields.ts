import type { TSchema } from '../../data-plane-agent/base/schema.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * The paths of all values that a schema allows: `payments[].amount` for the entries of a list, `controls{}` for those
 * of a map. A free-form object is one field; JSON text is the value that it is the text of.
 */
export function fieldsOf(schema: TSchema): string[] {
  return [...new Set(walk(schema as unknown as Json, ''))].filter((path) => path !== '');
}

function* walk(schema: Json, path: string): Generator<string> {
  const kinds = schema['anyOf'];
  const { properties, items, additionalProperties, contentSchema } = schema;
  if (isJson(contentSchema)) yield* walk(contentSchema, path);
  else if (Array.isArray(kinds)) {
    for (const kind of kinds as Json[]) yield* walk(kind, path);
  } else if (isJson(properties)) {
    for (const [name, inner] of Object.entries(properties))
      yield* walk(inner as Json, path === '' ? name : `${path}.${name}`);
  } else if (isJson(items) && schema['type'] !== undefined && isList(schema)) yield* walk(items, `${path}[]`);
  else if (isJson(additionalProperties)) yield* walk(additionalProperties, `${path}{}`);
  else yield path;
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list, or a list or `null`; a scalar that may also be a list is one field. */
const isList = ({ type }: Json): boolean =>
  type === 'array' || (Array.isArray(type) && type.every((kind) => kind === 'array' || kind === 'null'));
