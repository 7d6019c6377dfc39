import type { Static, TSchema } from 'typebox';
import { checker, type Check } from './validation.js';

/** Rules for what is sent that do not hold for what is told: a name may have been taken before they were there. */
const OF_REQUESTS: ReadonlySet<string> = new Set(['x-name', 'x-plain']);

const told = new WeakMap<TSchema, TSchema>();

/** Compiles the check of an answer. */
export function answerChecker<T extends TSchema>(schema: T): Check<Static<T>> {
  const known = told.get(schema) ?? (withoutRules(schema) as TSchema);
  told.set(schema, known);
  return checker(known) as Check<Static<T>>;
}

function withoutRules(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutRules);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .filter(([keyword]) => !OF_REQUESTS.has(keyword))
      .map(([keyword, value]) => [keyword, withoutRules(value)]),
  );
}
