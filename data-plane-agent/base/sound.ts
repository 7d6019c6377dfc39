import { isFailure } from './failures.js';
import { MAX_ISSUES, type Issue } from './validation.js';

/** A body of which bad fields were taken out: any field may be missing, and any element of a list. */
export type Sound<T> = T extends readonly (infer I)[]
  ? readonly (Sound<I> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Sound<T[K]> | undefined }
    : T;

/**
 * What is left of a body, in normal form, without the fields that were refused: they are taken out of it. `undefined`
 * when too much is wrong to tell which those are.
 */
export function soundPart(body: unknown, issues: readonly Issue[]): object | undefined {
  if (typeof body !== 'object' || body === null || issues.length >= MAX_ISSUES) return undefined;
  for (const { path } of issues)
    takeOut(
      body,
      path.split(/[.[\]]+/).filter((part) => part !== ''),
    );
  return body;
}

function takeOut(root: object, parts: readonly string[]): void {
  let holder: unknown = root;
  for (const part of parts.slice(0, -1))
    holder =
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, part)
        ? (holder as Record<string, unknown>)[part]
        : undefined;
  const last = parts.at(-1);
  if (typeof holder !== 'object' || holder === null || last === undefined || !Object.hasOwn(holder, last)) return;
  if (Array.isArray(holder)) holder[Number(last)] = undefined;
  else Reflect.deleteProperty(holder, last);
}

/**
 * Of what was found later, that which is about no field that was refused before, nor about one that holds such a field.
 */
export const beside = (refused: readonly Issue[], later: readonly Issue[]): Issue[] =>
  later.filter(({ path }) => !refused.some((one) => isWithin(path, one.path) || isWithin(one.path, path)));

/** Whether one path is the other, or leads to something in it. */
const isWithin = (path: string, of: string): boolean =>
  of === '' || path === of || (path.startsWith(of) && /^[.[]/.test(path.slice(of.length)));

/**
 * What belongs to a record that is not there, or not the caller's, cannot be judged; nor while the data plane is out of
 * reach.
 */
export const unlessRefused = <T>(ask: () => Promise<T>): Promise<T | undefined> =>
  ask().catch((error: unknown) => {
    if (isFailure(error)) return undefined;
    throw error;
  });
