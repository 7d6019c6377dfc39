import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { client, type Client } from '../support/http.js';
import { root } from '../support/source.js';

/** A server in a process of its own. */
export interface Running {
  readonly origin: string;
  readonly pid: number;
  /** From the start of the process to its first answer, in milliseconds. */
  readonly startedInMs: number;
  stop(): Promise<void>;
}

/** Starts the built server on a data folder, as `npm start` does, and waits for its first answer from `/health`. */
export function startService(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  return startProcess([join(root, 'dist/server/main.js')], { path: '/api/v1/health', env: { DATA_DIR: dataDir, JWT_ACCESS_TTL: '12h', ...env } });
}

/** Starts a Node program that listens on `PORT`; `path` answers 200 once it serves. What it prints on stderr is shown. */
export async function startProcess(args: readonly string[], { path, env }: { readonly path: string; readonly env: Readonly<Record<string, string>> }): Promise<Running> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(process.execPath, args, { env: { ...withoutOurs(process.env), ...env, PORT: String(port), PUBLIC_URL: origin }, stdio: ['ignore', 'ignore', 'inherit'] });
  await answering(child, `${origin}${path}`);
  if (child.pid === undefined) throw new Error('a process that answers has an id');
  return { origin, pid: child.pid, startedInMs: performance.now() - began, stop: () => stop(child) };
}

/** An installation of the developer's own must not leak into what is measured. */
const withoutOurs = ({ PATH, HOME, TMPDIR, LANG }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ PATH, HOME, TMPDIR, LANG });

async function answering(child: ChildProcess, url: string): Promise<void> {
  for (const giveUpAt = performance.now() + 30_000; ; await sleep(5)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the process ended with ${child.exitCode ?? child.signalCode} before it answered`);
    if (performance.now() > giveUpAt) throw new Error(`no answer from ${url} in 30 s`);
    const answer = await fetch(url).catch(() => undefined); // nobody listens yet
    await answer?.text();
    if (answer?.status === 200) return;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
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

/** Resident memory in MB, where the system tells (Linux). */
export function residentMb(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kb === undefined ? undefined : Number(kb) / 1024;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

export const PASSWORD = 'a bench needs no secrets 42';

/** The members that the bench signs in as: `bench` has the book, `bench-small` a fortieth of it. */
export type Slug = 'bench' | 'bench-small';
export const credentials = (slug: Slug) => ({ tenantSlug: slug, email: `${slug}@example.com`, password: PASSWORD });

/** Registers a tenant on a running service. */
export async function register(origin: string, slug: Slug): Promise<void> {
  const answer = await client(origin).post('/auth/register', { ...credentials(slug), tenantName: slug, adminName: 'Bench Owner', subjectName: 'Bench GmbH' });
  if (answer.status !== 201) throw new Error(`cannot register ${slug}: ${answer.status} ${answer.text}`);
}

export async function signIn(origin: string, slug: Slug): Promise<{ readonly api: Client; readonly token: string }> {
  const answer = await client(origin).post<{ accessToken: string }>('/auth/login', credentials(slug));
  if (answer.status !== 200) throw new Error(`cannot sign in to ${slug}: ${answer.status} ${answer.text}`);
  return { api: client(origin, answer.body.accessToken), token: answer.body.accessToken };
}
