import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from './source.js';

/**
 * The path of a compiled source file, to be started as a program: `program('server/main.ts')`. Starting it from source
 * would take some seconds longer.
 */
export const program = (path: string): string => join(root, 'dist-test', path.replace(/\.ts$/, '.js'));

/** For the environment of such programs: their compiled code is kept, which a start otherwise spends 0.25 s on. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(root, 'dist-test', '.compile-cache') } as const;

/**
 * Called by mocha once per run, before the first test: compiles changed files. Checks only the syntax; `npm run check`
 * checks types.
 */
export async function mochaGlobalSetup(): Promise<void> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const [code] = (await once(
    spawn(process.execPath, [compiler, '-p', 'tsconfig.programs.json'], { cwd: root, stdio: 'inherit' }),
    'exit',
  )) as [number | null];
  if (code !== 0) throw new Error('what tests start as programs does not compile');
}
