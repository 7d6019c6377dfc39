import { join } from 'node:path';
import { compileOnce } from './compile.cjs';
import { root } from './source.js';

/**
 * The path of a compiled source file, to be started as a program: `program('server/main.ts')`. Starting it from source
 * would take some seconds longer.
 */
export const program = (path: string): string => join(root, 'dist-test', path.replace(/\.ts$/, '.js'));

/** For the environment of such programs: their compiled code is kept, which a start otherwise spends 0.25 s on. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(root, 'dist-test', '.compile-cache') } as const;

/**
 * Called by mocha once per run, before the first test: compiles changed files, where loading the tests has not done so
 * already. Checks only the syntax; `npm run check` checks types.
 */
export function mochaGlobalSetup(): void {
  compileOnce();
}
