import { sha256Hex } from '../../base/secrets.js';
import { OPERATIONS } from './index.js';

let hash: string | undefined;

/**
 * The hash of the declarations of all operations, with their schemas: equal in two programs that were built with the
 * same ones. In hex.
 */
export const operationsHash = (): string =>
  (hash ??= sha256Hex(
    JSON.stringify(
      Object.entries(OPERATIONS)
        .map(([name, { effect, input, output }]) => ({ name, effect, input, output }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    ),
  ));
