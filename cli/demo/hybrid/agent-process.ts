import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Cli } from '../../cli.js';
import { CommandError } from '../../errors.js';
import type { AgentSetup } from './setup.js';

/** The compiled program. */
const PROGRAM = fileURLToPath(new URL('../../../data-plane-agent/agent/main.js', import.meta.url));

/** Ends the agent with the demo, even if the demo was killed: then this channel between them closes. */
const ENDS_WITH_THE_DEMO = `data:text/javascript,${encodeURIComponent(
  'process.once("disconnect", () => process.kill(process.pid, "SIGTERM")); process.channel?.unref();',
)}`;

export interface AgentEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why, if it ended by itself. */
  readonly reason: CommandError | undefined;
}

export interface AgentProcess {
  readonly pid: number;
  readonly ended: Promise<AgentEnd>;
  /** SIGTERM, after some time SIGKILL. Resolves once it has ended. */
  stop(): Promise<void>;
}

/** Longer than the agent takes to complete what runs would exceed the demo's own stop. */
const STOP_MS = 15_000;

/** Starts `duebook-agent` with these arguments. Its log is printed as messages. */
export function startAgent(
  { io }: Pick<Cli, 'io'>,
  args: readonly string[],
  { setup, input = '' }: { readonly setup: AgentSetup; readonly input?: string },
): AgentProcess {
  const child = spawn(process.execPath, [`--import=${ENDS_WITH_THE_DEMO}`, PROGRAM, ...args, '--json'], {
    env: setup.env,
    // Ctrl-C reaches the demo only, which stops the agent once it no longer needs it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  // It may end without reading its input.
  child.stdin?.on('error', () => undefined).end(input);
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => print(line, io));
  const errors = child.stderr ? text(child.stderr) : Promise.resolve('');
  const closed = new Promise<Omit<AgentEnd, 'reason'>>((resolve, reject) =>
    child.once('error', reject).once('close', (code, signal) => resolve({ code, signal })),
  );
  const ended = closed.then(async (end) => ({ ...end, reason: reasonIn(await errors) }));
  return {
    pid: child.pid ?? 0,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** Lines of the log are for people to see; the result of `join` is not. */
function print(line: string, io: Cli['io']): void {
  if (line.startsWith('{"level"')) io.message(line);
}

/** The error that a command printed. */
function reasonIn(stderr: string): CommandError | undefined {
  try {
    const { error } = JSON.parse(stderr) as { readonly error?: { readonly code: string; readonly message: string } };
    return error && new CommandError(error.code, `duebook-agent: ${error.message}`);
  } catch {
    return stderr.trim() === '' ? undefined : new CommandError('AGENT_ENDED', `duebook-agent: ${stderr.trim()}`);
  }
}

/** For an agent that ended although nothing stopped it. */
export const agentEnded = ({ code, signal, reason }: AgentEnd): CommandError =>
  reason ??
  new CommandError(
    'AGENT_ENDED',
    `the agent has ended (${signal ?? `exit code ${code ?? 0}`}), so its contract data is not available; start the demo again, which continues with the same data`,
  );
