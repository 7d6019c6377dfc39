import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, guarded } from './guardian.js';

export interface Guarded {
  /** Its data folder, deleted by `stop`. */
  readonly home: string;
  /** Ends the server and removes its directory. */
  stop(): Promise<void>;
}

/**
 * Starts a server program in a new temporary directory. Both are removed however this process ends. `answers` reports
 * whether it is ready.
 */
export async function startGuarded({
  name,
  command,
  env,
  answers,
}: {
  readonly name: string;
  readonly command: (home: string) => readonly string[];
  readonly env: (home: string) => NodeJS.ProcessEnv;
  readonly answers: () => Promise<boolean>;
}): Promise<Guarded> {
  const home = await mkdtemp(join(tmpdir(), `duebook-${name}-`));
  const guardian = await guarded({ home, command: command(home), env: env(home), signal: 'TERM' });
  const stop = async (): Promise<void> => {
    await ended(guardian);
    await rm(home, { recursive: true, force: true });
  };
  for (const giveUpAt = performance.now() + 30_000; !(await answers()); await sleep(20)) {
    if (performance.now() < giveUpAt && guardian.exitCode === null) continue;
    const said = await readFile(join(home, 'log'), 'utf8');
    await stop();
    throw new Error(`${name} did not start: ${said.slice(-2_000)}`);
  }
  return { home, stop };
}

/** Whether an HTTP server responds at the URL, with any status. */
export const speaksHttp = async (url: string): Promise<boolean> => {
  const answer = await fetch(url).catch(() => undefined); // nobody listens yet
  await answer?.text();
  return answer !== undefined && answer.status < 500;
};
