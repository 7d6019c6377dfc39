import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { COMPILE_CACHE, program } from './programs.js';

export interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly level: number;
  readonly requestId?: string;
  readonly port?: number;
  readonly span?: string;
  readonly worker?: number;
  readonly workers?: number;
}

/** An answer, and the process that gave it. */
export interface Answered<T> {
  readonly status: number;
  readonly body: T;
  readonly pid: number;
}

export interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service of several processes, started as an operator starts it. */
export interface WorkersService {
  readonly child: ChildProcess;
  readonly port: number;
  readonly origin: string;
  /** What all its processes have logged. */
  readonly lines: readonly LogLine[];
  readonly stderr: () => string;
  /** Each request has a connection of its own, which the next process in turn gets. */
  ask<T>(path: string, asked?: Asked): Promise<Answered<T>>;
  /** Asks until each of so many processes has answered, and returns the last answer of each. */
  askEach<T>(path: string, asked?: Asked, processes?: number): Promise<readonly Answered<T>[]>;
  line(is: (line: LogLine) => boolean): Promise<LogLine>;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts the server. It must be ended by `stop`. */
export async function startWorkers(env: Readonly<Record<string, string>>): Promise<WorkersService> {
  const child = spawn(process.execPath, [program('server/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      TMPDIR: process.env['TMPDIR'],
      ...COMPILE_CACHE,
      WORKERS: '2',
      PORT: '0',
      PUBLIC_URL: 'http://localhost:8080',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const lines: LogLine[] = [];
  const watchers = new Set<() => void>();
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as LogLine);
    look();
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  child.once('close', look);
  const line = (is: (line: LogLine) => boolean): Promise<LogLine> =>
    new Promise((resolve, reject) => {
      const watcher = (): void => {
        const found = lines.find(is);
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (!found && !hasEnded) return;
        watchers.delete(watcher);
        if (found) resolve(found);
        else reject(new Error(`the service has ended: ${said} ${lines.map(({ msg }) => msg).join('; ')}`));
      };
      watchers.add(watcher);
      watcher();
    });
  const { port = 0 } = await line(({ msg }) => msg.startsWith('listening on '));
  const origin = `http://127.0.0.1:${port}`;

  const ask = async <T>(
    path: string,
    { method = 'GET', token, body, headers = {} }: Asked = {},
  ): Promise<Answered<T>> => {
    const sent = request(`${origin}${path}`, {
      agent: false,
      method,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const content = await text(answer);
    const requestId = String(answer.headers['x-request-id']);
    const { pid } = await line((logged) => logged.requestId === requestId);
    const isJson = answer.headers['content-type']?.includes('json');
    return { status: answer.statusCode ?? 0, body: (isJson ? JSON.parse(content) : content) as T, pid };
  };

  return {
    child,
    port,
    origin,
    lines,
    stderr: () => said,
    ask,
    askEach: async <T>(path: string, asked?: Asked, processes = 2) => {
      const byPid = new Map<number, Answered<T>>();
      // In turn: the next process answers as soon as it has started.
      while (byPid.size < processes) {
        const answer = await ask<T>(path, asked);
        byPid.set(answer.pid, answer);
      }
      return [...byPid.values()];
    },
    line,
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
