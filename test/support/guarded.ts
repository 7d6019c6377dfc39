import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Guarded {
  /** Where it keeps its data; gone after `stop`. */
  readonly home: string;
  /** Ends the server and removes its directory. */
  stop(): Promise<void>;
}

/**
 * Starts a server program in a new temporary directory. Its parent is a shell that waits on a pipe which only this process holds: however
 * we end, SIGKILL included, the pipe closes, the shell ends the server and removes the directory. `answers` says whether it serves already.
 */
export async function startGuarded({ name, command, env, answers }: {
  readonly name: string; readonly command: (home: string) => readonly string[]; readonly env: (home: string) => NodeJS.ProcessEnv; readonly answers: () => Promise<boolean>;
}): Promise<Guarded> {
  const home = await mkdtemp(join(tmpdir(), `duebook-${name}-`));
  const log = await open(join(home, 'log'), 'a');
  const script = 'home=$1; shift; "$@" & server=$!; read -r _; kill -TERM "$server" 2>/dev/null; wait "$server"; cd /; rm -rf "$home"';
  const guardian = spawn('/bin/sh', ['-c', script, 'guardian', home, ...command(home)], { env: env(home), cwd: home, detached: true, stdio: ['pipe', log.fd, log.fd] });
  await once(guardian, 'spawn');
  await log.close();
  guardian.unref();
  const stop = async (): Promise<void> => {
    await end(guardian);
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

async function end(guardian: ChildProcess): Promise<void> {
  if (guardian.exitCode !== null || guardian.signalCode !== null) return;
  const exited = once(guardian, 'exit');
  guardian.ref();
  guardian.stdin?.end();
  await exited;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address for a loopback port');
  return address.port;
}

/** Whether somebody answers HTTP there, whatever he says. */
export const speaksHttp = async (url: string): Promise<boolean> => {
  const answer = await fetch(url).catch(() => undefined); // nobody listens yet
  await answer?.text();
  return answer !== undefined && answer.status < 500;
};
