import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Installation, Outcome } from './cli.js';
import { COMPILE_CACHE, program } from './programs.js';

/** Runs the server of an installation on a free port until it exits. */
export async function serverUntilEnd(
  { folder, dataDir }: Pick<Installation, 'folder' | 'dataDir'>,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const child = spawn(process.execPath, [program('server/main.ts')], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}
