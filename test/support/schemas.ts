import type { Endpoint } from '../../server/http/endpoint.js';

/** JSON Schema in the form of our declarations. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * One field of a request. `path` is its name in messages: `payments[0].amount`; `parts` are the components of the path.
 */
export interface Field {
  readonly path: string;
  readonly parts: readonly (string | number)[];
  readonly schema: Json;
  /** Whether it is required. */
  readonly required: boolean;
  /** The kind of its parent: a field of an object, an element of a list, or a value of a map. */
  readonly within: 'object' | 'list' | 'map';
}

/** All fields of a body at any depth; of lists only the first element. */
export function fieldsOf(schema: unknown, parts: readonly (string | number)[] = []): Field[] {
  const json = schema as Json;
  const required = new Set((json['required'] ?? []) as readonly string[]);
  const properties = Object.entries((json['properties'] ?? {}) as Readonly<Record<string, Json>>);
  const children: Field[] = properties.map(([name, child]) =>
    field([...parts, name], child, { required: required.has(name), within: 'object' }),
  );
  if (json['items'] !== undefined)
    children.push(field([...parts, 0], json['items'] as Json, { required: true, within: 'list' }));
  if (typeof json['additionalProperties'] === 'object' && json['additionalProperties'] !== null)
    children.push(field([...parts, 'key'], json['additionalProperties'] as Json, { required: true, within: 'map' }));
  return children.flatMap((child) => [child, ...fieldsOf(child.schema, child.parts)]);
}

const field = (parts: readonly (string | number)[], schema: Json, more: Pick<Field, 'required' | 'within'>): Field => ({
  path: pathOf(parts),
  parts,
  schema,
  ...more,
});

/** `['payments', 0, 'amount']` as `payments[0].amount`. */
export const pathOf = (parts: readonly (string | number)[]): string =>
  parts.reduce<string>(
    (path, part) => (typeof part === 'number' ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
    '',
  );

export const bodyFields = ({ body }: Endpoint): Field[] => (body ? fieldsOf(body) : []);
export const queryFields = ({ query }: Endpoint): Field[] =>
  query ? fieldsOf(query).filter(({ parts }) => parts.length === 1) : [];

/** Whether the field refers to a record, judging by its name. */
export const namesRecord = ({ parts }: Pick<Field, 'parts'>): boolean =>
  /^ids?$|Ids?$|^(contractAttachment|invoiceAttachment|attachment|proof|fileRef)$/.test(
    String(parts.findLast((part) => typeof part === 'string')),
  );

export const typesOf = (schema: Json): readonly unknown[] => [schema['type']].flat();

/** A minimal valid value of the schema. */
export function validOf(schema: Json): unknown {
  const types = typesOf(schema);
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (types.includes('object')) {
    const required = new Set((schema['required'] ?? []) as readonly string[]);
    const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>);
    return Object.fromEntries(
      properties.filter(([name]) => required.has(name)).map(([name, child]) => [name, validOf(child)]),
    );
  }
  if (types.includes('array')) return [];
  if (types.includes('boolean')) return true;
  if (types.includes('integer') || types.includes('number')) return Math.max(1, Number(schema['minimum'] ?? 1));
  if (schema['format'] === 'date') return '2026-05-31';
  if (schema['format'] === 'currency') return 'CNY';
  if (schema['format'] === 'time-zone') return 'Asia/Shanghai';
  if (schema['format'] === 'language-tag' || schema['format'] === 'locale-or-region') return 'en-GB';
  if (schema['format'] === 'calendar') return 'gregory';
  if (schema['format'] === 'email') return 'someone@example.test';
  return 'x'.repeat(Math.max(1, Number(schema['minLength'] ?? 1)));
}

/** The body with the value at the path; missing parents are created. */
export function withValue(
  body: unknown,
  { parts, schema }: { parts: readonly (string | number)[]; schema: Json },
  value: unknown,
): unknown {
  const [first, ...rest] = parts;
  if (first === undefined) return value;
  if (typeof first === 'number') {
    const list = Array.isArray(body) ? [...(body as unknown[])] : [];
    list[first] = withValue(
      list[first] ?? validOf(schema['items'] as Json),
      { parts: rest, schema: schema['items'] as Json },
      value,
    );
    return list;
  }
  const object =
    typeof body === 'object' && body !== null
      ? (body as Record<string, unknown>)
      : (validOf(schema) as Record<string, unknown>);
  const child = ((schema['properties'] as Readonly<Record<string, Json>> | undefined)?.[first] ??
    schema['additionalProperties']) as Json;
  // A computed key instead of an assignment, so that `__proto__` is an ordinary key.
  return { ...object, [first]: withValue(object[first], { parts: rest, schema: child }, value) };
}
