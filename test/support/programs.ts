import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from './source.js';

/**
 * Where a file of the source is once it is compiled, to be started as a program: `program('server/main.ts')`. From
 * source it would take some seconds of processor more each time.
 */
export const program = (path: string): string => join(root, 'dist-test', path.replace(/\.ts$/, '.js'));

/**
 * Mocha calls this once for a run, before its first test: what has changed since the last run is compiled. Only syntax
 * is looked at; types are for
 * `npm run check`.
 */
export async function mochaGlobalSetup(): Promise<void> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const [code] = (await once(
    spawn(process.execPath, [compiler, '-p', 'tsconfig.programs.json'], { cwd: root, stdio: 'inherit' }),
    'exit',
  )) as [number | null];
  if (code !== 0) throw new Error('what tests start as programs does not compile');
}
