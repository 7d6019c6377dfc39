import { isFailure } from './failures.js';
import { MAX_ISSUES } from './validation.js';
import type { Issue } from './issue.js';

/** A body without its invalid fields: any field, and any element of a list, may be missing. */
export type Sound<T> = T extends readonly (infer I)[]
  ? readonly (Sound<I> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Sound<T[K]> | undefined }
    : T;

/**
 * Removes the invalid fields from a normalised body, in place. `undefined` when there are too many issues to know all
 * of those fields.
 */
export function soundPart(body: unknown, issues: readonly Issue[]): object | undefined {
  if (typeof body !== 'object' || body === null || issues.length >= MAX_ISSUES) return undefined;
  for (const { path } of issues)
    removeField(
      body,
      path.split(/[.[\]]+/).filter((part) => part !== ''),
    );
  return body;
}

function removeField(root: object, parts: readonly string[]): void {
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

/** The later issues that concern neither a refused field, nor a field within it or around it. */
export const beside = (refused: readonly Issue[], later: readonly Issue[]): Issue[] =>
  later.filter(({ path }) => !refused.some((one) => isWithin(path, one.path) || isWithin(one.path, path)));

/** Whether one path equals the other or is nested in it. */
const isWithin = (path: string, of: string): boolean =>
  of === '' || path === of || (path.startsWith(of) && /^[.[]/.test(path.slice(of.length)));

/**
 * `undefined` if `ask` fails with a `Failure`: fields that depend on a record which is missing or not visible, or on an
 * unavailable data plane, cannot be checked.
 */
export const unlessRefused = <T>(ask: () => Promise<T>): Promise<T | undefined> =>
  ask().catch((error: unknown) => {
    if (isFailure(error)) return undefined;
    throw error;
  });
