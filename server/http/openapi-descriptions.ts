import { FAILURES } from '../../data-plane-agent/base/failures.js';
import { ADMINISTRATION } from './described-administration.js';
import { PARTICULAR } from './described-particulars.js';
import { PROPERTIES } from './described-properties.js';
import { SCHEMAS } from './described-schemas.js';
import type { Json } from './openapi-schemas.js';

/**
 * Adds a description to each schema and property without one. Properties with the same name share one description,
 * except where a schema uses the name with another meaning.
 */
export const withDescriptions = (schemas: Readonly<Record<string, Json>>): Json =>
  Object.fromEntries(
    Object.entries(schemas).map(([title, schema]) => [title, described(inside(schema, title), ofSchema(title))]),
  );

/** The schemas of an object's properties, described. */
function inside(schema: Json, title: string): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'properties') return [keyword, properties(value as Readonly<Record<string, Json>>, title)];
      if (keyword === 'items' || keyword === 'additionalProperties')
        return [keyword, isSchema(value) ? inside(value, title) : value];
      if (keyword === 'anyOf' || keyword === 'oneOf')
        return [keyword, (value as readonly Json[]).map((one) => inside(one, title))];
      return [keyword, value];
    }),
  );
}

const properties = (schemas: Readonly<Record<string, Json>>, title: string): Json =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, described(inside(schema, title), ofProperty(title, name))]),
  );

/** References get no description: generators ignore keywords next to `$ref`, and the referenced schema has one. */
const described = (schema: Json, description: string | undefined): Json =>
  description === undefined || '$ref' in schema || 'description' in schema ? schema : { ...schema, description };

/** `ContractInput` and `ContractPatch` have the properties of `Contract`, unless they have their own descriptions. */
function ofProperty(title: string, name: string): string | undefined {
  const family = title.replace(/(Input|Patch|Result|Detail)$/, '');
  return PARTICULAR[title]?.[name] ?? PARTICULAR[family]?.[name] ?? ofName(name, title);
}

const ofName = (name: string, title: string): string | undefined =>
  name === 'code' && title.endsWith('Error') ? 'Identifies the error.' : (PROPERTIES[name] ?? ADMINISTRATION[name]);

const ofSchema = (title: string): string | undefined => SCHEMAS[title] ?? FAILURE_MEANINGS.get(title);

/** Converts `CONTRACT_LOCKED` to `ContractLockedError`. */
export const errorTitle = (code: string): string =>
  `${code.toLowerCase().replaceAll(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())}Error`;

const FAILURE_MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(FAILURES).map(([code, { meaning }]) => [errorTitle(code), meaning]),
);

const isSchema = (value: unknown): value is Json => typeof value === 'object' && value !== null;
