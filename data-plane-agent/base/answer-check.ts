import type { Static, TSchema } from 'typebox';
import { unchangedChecker, type Check } from './validation.js';

/** Keywords that apply to requests only: stored names may be older than these rules. */
const REQUEST_ONLY: ReadonlySet<string> = new Set(['x-name', 'x-plain']);

const responseSchemas = new WeakMap<TSchema, TSchema>();

/** Compiles the check of a response, which does not change it: its texts were normalised when they were received. */
export function answerChecker<T extends TSchema>(schema: T): Check<Static<T>> {
  const known = responseSchemas.get(schema) ?? responseSchema(schema);
  responseSchemas.set(schema, known);
  return unchangedChecker(known) as Check<Static<T>>;
}

/**
 * What the elements of each list must be is a definition, and so a function of its own: V8 soon optimises one that is
 * called for each of them, and never the function of a whole response, which may have a hundred kilobytes of bytecode.
 */
function responseSchema(schema: TSchema): TSchema {
  const $defs: Record<string, unknown> = {};
  const of = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.map(of);
    if (typeof json !== 'object' || json === null) return json;
    return Object.fromEntries(
      Object.entries(json)
        .filter(([keyword]) => !REQUEST_ONLY.has(keyword))
        .map(([keyword, value]) => [keyword, part(keyword, value)]),
    );
  };
  const part = (keyword: string, value: unknown): unknown => {
    // Compiled by itself, because it is that of a JSON text.
    if (keyword === 'contentSchema') return responseSchema(value as TSchema);
    return keyword === 'items' ? defined(of(value)) : of(value);
  };
  const defined = (items: unknown): unknown => {
    if (typeof items !== 'object' || items === null || !('properties' in items)) return items;
    const name = `items${Object.keys($defs).length}`;
    $defs[name] = items;
    return { $ref: `#/$defs/${name}` };
  };
  return { ...(of(schema) as TSchema), $defs };
}
