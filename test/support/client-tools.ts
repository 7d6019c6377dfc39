import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { skip } from './skip.js';

/** As `.ci/run` fills it: generators of clients with what their clients need, and a tester of APIs. */
export const CLIENT_TOOLS = join(homedir(), '.cache', 'duebook', 'client-tools-1');

/**
 * To be called in a `describe` that generates clients or has the API tested: skips its tests where `.ci/run` has not
 * fetched the tools, which REQUIRE_SERVICES=1 makes a failure.
 */
export function needsClientTools(): void {
  before('generators of clients', function () {
    if (!existsSync(join(CLIENT_TOOLS, 'complete'))) skip(this, `${CLIENT_TOOLS} is not complete: .ci/run fills it`);
  });
}

const execute = promisify(execFile);

/** Runs a program to its end and answers what it printed; throws with all of it when it fails. */
export async function runTool(
  [program = '', ...args]: readonly string[],
  {
    cwd,
    env = {},
    timeoutMs = 58_000,
  }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number },
): Promise<string> {
  const path = [join(CLIENT_TOOLS, 'python', 'bin'), process.env['PATH'] ?? '', '/usr/local/go/bin'].join(delimiter);
  try {
    const { stdout, stderr } = await execute(program, args, {
      cwd,
      env: { ...process.env, ...env, PATH: path },
      maxBuffer: 64 * 1024 * 1024,
      timeout: timeoutMs,
    });
    return `${stdout}${stderr}`;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    // Node's own message repeats the arguments, among them tokens.
    throw new Error(`${program} failed:\n${stdout}\n${stderr}`);
  }
}
