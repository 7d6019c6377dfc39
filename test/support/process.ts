import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './guardian.js';

/** A server in a separate process. */
export interface Running {
  readonly origin: string;
  readonly pid: number;
  /** The time from the start of the process to its first answer, in milliseconds. */
  readonly startedInMs: number;
  running(): boolean;
  /** Sends SIGTERM; returns the exit code, or null if it was ended by a signal. */
  stop(): Promise<number | null>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

/**
 * Starts a Node.js program that listens on `PORT`; it is ready when `path` answers 200. Its stderr is passed through.
 */
export async function startProcess(
  args: readonly string[],
  { path, env }: { readonly path: string; readonly env: Readonly<Record<string, string>> },
): Promise<Running> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...withoutOurs(process.env), PUBLIC_URL: origin, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await answering(child, `${origin}${path}`).catch(async (error: unknown) => {
    await end(child, 'SIGKILL');
    throw error;
  });
  if (child.pid === undefined) throw new Error('a process that answers has an id');
  return {
    origin,
    pid: child.pid,
    startedInMs: performance.now() - began,
    running: () => !ended(child),
    stop: () => end(child, 'SIGTERM'),
    kill: async () => void (await end(child, 'SIGKILL')),
  };
}

/** Settings of the developer's own installation must not affect the measurement. */
const withoutOurs = ({ PATH, HOME, TMPDIR, LANG }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH,
  HOME,
  TMPDIR,
  LANG,
});

async function answering(child: ChildProcess, url: string): Promise<void> {
  for (const giveUpAt = performance.now() + 60_000; ; await sleep(5)) {
    if (ended(child))
      throw new Error(`the process ended with ${child.exitCode ?? child.signalCode} before it answered`);
    if (performance.now() > giveUpAt) throw new Error(`no answer from ${url} in 60 s`);
    // Much cheaper than a request, and the program needs the processor to start.
    if (!(await isListening(Number(new URL(url).port)))) continue;
    const answer = await fetch(url).catch(() => undefined);
    await answer?.text();
    if (answer?.status === 200) return;
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(Boolean(socket.destroy())));
    socket.once('error', () => resolve(false));
  });

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (ended(child)) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
  return child.exitCode;
}

const ended = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Processor time of the process so far, in milliseconds, where the system reports it (Linux). */
export function processorMs(pid: number): number | undefined {
  const fields = procFile(pid, 'stat')
    ?.replace(/^.*\) /, '')
    .split(' '); // a name may have spaces
  return fields && (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/** Linux counts processor time in hundredths of a second. */
const CLOCK_TICK_MS = 10;

/** Resident memory in MB, where the system reports it (Linux). */
export function residentMb(pid: number): number | undefined {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(procFile(pid, 'status') ?? '')?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
