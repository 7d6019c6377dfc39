import type { Static, TSchema } from 'typebox';
import { unchangedChecker, type Check } from './validation.js';

/** Keywords that apply to requests only: stored names may be older than these rules. */
const REQUEST_ONLY: ReadonlySet<string> = new Set(['x-name', 'x-plain']);

const responseSchemas = new WeakMap<TSchema, TSchema>();

/** Compiles the check of a response, which does not change it: its texts were normalised when they were received. */
export function answerChecker<T extends TSchema>(schema: T): Check<Static<T>> {
  const known = responseSchemas.get(schema) ?? (withoutRules(schema) as TSchema);
  responseSchemas.set(schema, known);
  return unchangedChecker(known) as Check<Static<T>>;
}

function withoutRules(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutRules);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([keyword]) => !REQUEST_ONLY.has(keyword))
      .map(([keyword, value]) => [keyword, withoutRules(value)]),
  );
}
