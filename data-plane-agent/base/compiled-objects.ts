/**
 * Functions for rows of one layout, made as program text, as ajv makes its validators. An object literal with all its
 * keys takes 0.1 µs for 29 columns; adding the keys one after another takes 1.6 µs, because each is looked up by name
 * and changes the layout of the object. The texts contain the keys as string literals, positions, and nothing else.
 */

/** Layouts that are kept. Statements have a few hundred; more would be an error, and is bounded here. */
const MOST_LAYOUTS = 1_000;
const literals = new Map<string, ObjectOf<unknown>>();

type ObjectOf<T> = (values: readonly T[]) => Record<string, T | null>;

/** Makes an object of the values at the positions of `keys`; a missing value is `null`. */
export function objectOf<T>(keys: readonly string[]): ObjectOf<T> {
  const layout = JSON.stringify(keys);
  const known = literals.get(layout);
  if (known) return known as ObjectOf<T>;
  const parts = keys.map((key, i) => `${literal(key)}: values[${i}] ?? null`);
  const made = compiled<ObjectOf<T>>('values', `({ ${parts.join(', ')} })`);
  if (literals.size >= MOST_LAYOUTS) literals.clear();
  literals.set(layout, made as ObjectOf<unknown>);
  return made;
}

/** Gives an object's values in the order of `keys`; a missing one is `undefined`. */
export const valuesOf = (keys: readonly string[]): ((object: object) => unknown[]) =>
  compiled('object', `[${keys.map((key) => `object[${literal(key)}]`).join(', ')}]`);

/** Where a key of the made object comes from, and what makes its value. A missing value is given as `null`. */
export interface Source {
  readonly key: string;
  readonly from: string;
  readonly by: (value: never) => unknown;
}

/** Makes an object of another one's values, each by its own function. */
export function convertedBy(sources: readonly Source[]): (object: object) => object {
  const parts = sources.map(({ key, from }, i) => `${literal(key)}: by${i}(object[${literal(from)}] ?? null)`);
  return compiled('object', `({ ${parts.join(', ')} })`, sources);
}

/** Gives an object's values, each by its own function. */
export function listedBy(sources: readonly Omit<Source, 'key'>[]): (object: object) => unknown[] {
  const parts = sources.map(({ from }, i) => `by${i}(object[${literal(from)}])`);
  return compiled('object', `[${parts.join(', ')}]`, sources);
}

function compiled<F>(parameter: string, expression: string, sources: readonly Pick<Source, 'by'>[] = []): F {
  const names = sources.map((_, i) => `by${i}`);
  // oxlint-disable-next-line no-implied-eval -- the text is made here, of literals and positions only
  return new Function(...names, `return (${parameter}) => ${expression};`)(...sources.map(({ by }) => by)) as F;
}

function literal(key: string): string {
  if (key === '__proto__')
    throw new Error('a column cannot be named __proto__: the key has another meaning in a literal');
  return JSON.stringify(key);
}
