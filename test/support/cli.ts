import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import type { Io } from '../../data-plane-agent/base/command-line/io.js';
import { run } from '../../cli/run.js';
import * as serverParts from '../../cli/server-parts.js';
import { COMPILE_CACHE, program } from './programs.js';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Installation {
  /** A new empty folder; `DATA_DIR` is a subfolder that does not exist yet. */
  readonly folder: string;
  readonly dataDir: string;
  /** Runs the CLI as a process, without a terminal. `input` is its complete standard input. */
  cli(args: readonly string[], options?: { readonly env?: Env; readonly input?: string }): Promise<Outcome>;
  /** Starts it and leaves it running. */
  start(args: readonly string[], options?: { readonly env?: Env }): Running;
  /** Runs the CLI in this process, with or without a terminal: faster, and prompts can be answered. */
  inProcess(args: readonly string[], options?: InProcess): Promise<Outcome>;
}
type Env = Readonly<Record<string, string>>;

export interface InProcess {
  readonly env?: Env;
  readonly input?: string;
  /** A terminal that gives these answers. */
  readonly answers?: readonly string[];
  readonly clock?: Clock;
  readonly nodeVersion?: string;
  /** The width in columns if standard output is a terminal; undefined if it is not. */
  readonly terminalWidth?: number;
}

export interface Running {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when standard output contains the text; rejects if the process ends before. */
  printed(text: string): Promise<string>;
  readonly ended: Promise<Outcome>;
}

/**
 * Installations that are deleted, and whose processes are stopped, after each test of the suite, or `after` all of
 * them.
 */
export function installations(hook: Mocha.HookFunction = afterEach): () => Promise<Installation> {
  const folders: string[] = [];
  const running: Running[] = [];
  hook(async () => {
    for (const one of running.splice(0)) {
      one.kill('SIGKILL');
      await one.ended;
    }
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-cli-'));
    folders.push(folder);
    const dataDir = join(folder, 'data');
    const start: Installation['start'] = (args, { env = {} } = {}) => {
      const started = child(args, { folder, env: { DATA_DIR: dataDir, ...env } });
      running.push(started);
      return started;
    };
    return {
      folder,
      dataDir,
      start,
      cli: (args, { env = {}, input = '' } = {}) =>
        child(args, { folder, env: { DATA_DIR: dataDir, ...env }, input }).ended,
      inProcess: (args, options = {}) => inProcess(args, { ...options, env: { DATA_DIR: dataDir, ...options.env } }),
    };
  };
}

/**
 * Only the variables that a process needs to run, and those of the test, so that settings of the machine have no
 * effect.
 */
function child(
  args: readonly string[],
  { folder, env, input = '' }: { folder: string; env: Env; input?: string },
): Running {
  const { PATH = '', HOME = '' } = process.env;
  const started = spawn(process.execPath, [program('cli/main.ts'), ...args], {
    cwd: folder,
    env: { PATH, HOME, ...COMPILE_CACHE, ...env },
  });
  let stdout = '';
  let stderr = '';
  let look: () => void = () => undefined;
  started.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    look();
  });
  started.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A process may end without reading its input.
  started.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Outcome>((resolve, reject) => {
    started.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    pid: started.pid ?? 0,
    kill: (signal) => void started.kill(signal),
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (stdout.includes(text)) resolve(stdout);
        };
        look();
        void ended.then((outcome) =>
          reject(new Error(`ended before it printed "${text}": ${JSON.stringify(outcome)}`)),
        );
      }),
  };
}

async function inProcess(
  args: readonly string[],
  { env = {}, input = '', answers, clock = systemClock, nodeVersion = process.versions.node, terminalWidth }: InProcess,
): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const waiting = [...(answers ?? [])];
  const io: Io = {
    data: (text) => (stdout += `${text}\n`),
    write: (text) => Promise.resolve(((stdout += text), true)),
    message: (text) => (stderr += `${text}\n`),
    progress: () => undefined,
    interactive: answers !== undefined,
    width: terminalWidth ?? 100,
    toTerminal: terminalWidth !== undefined,
    input: () => Promise.resolve(input),
    ask: (question) => {
      stderr += question;
      const answer = waiting.shift();
      return answer === undefined ? Promise.reject(new Error(`nobody answers "${question}"`)) : Promise.resolve(answer);
    },
  };
  const code = await run(args, {
    io,
    clock,
    env: () => ({ ...env }),
    nodeVersion,
    process: { on: () => undefined, exit: () => undefined },
    server: () => Promise.resolve(serverParts),
  });
  return { code, stdout, stderr };
}
