import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { RunAs } from './ordinary-user.js';

export interface Guard {
  /** The server's directory; its output is in the file `log`. */
  readonly home: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The signal for a regular shutdown. */
  readonly signal: 'INT' | 'TERM';
  readonly runAs?: RunAs;
}

/**
 * Starts a server whose parent is a shell that reads from a pipe of this process. However this process ends, SIGKILL
 * included, the pipe closes, and the shell stops the server and removes the directory. The shell is detached, so that
 * Ctrl-C does not reach the server, and does not keep this process alive.
 */
export async function guarded({ home, command, env, signal, runAs }: Guard): Promise<ChildProcess> {
  const script = `home=$1; shift; "$@" & server=$!; read -r keep; kill -${signal} "$server" 2>/dev/null; wait "$server"; cd /; [ -n "$keep" ] || rm -rf "$home"`;
  const log = await open(join(home, 'log'), 'a');
  try {
    const guardian = spawn('/bin/sh', ['-c', script, 'guardian', home, ...command], {
      ...runAs,
      env,
      cwd: home,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    });
    await once(guardian, 'spawn');
    guardian.unref();
    if (guardian.stdin && 'unref' in guardian.stdin) (guardian.stdin as Socket).unref(); // the pipe of a child process is a socket
    return guardian;
  } finally {
    await log.close();
  }
}

/**
 * Stops the server and resolves when it has ended. Its directory is removed unless the server will be restarted in it.
 */
export async function ended(
  guardian: ChildProcess,
  { keepsDirectory = false }: { readonly keepsDirectory?: boolean } = {},
): Promise<void> {
  if (guardian.exitCode !== null || guardian.signalCode !== null) return;
  const exited = once(guardian, 'exit');
  guardian.ref();
  guardian.stdin?.end(keepsDirectory ? 'keep\n' : undefined);
  await exited;
}

/** A loopback port that is currently free. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address for a loopback port');
  return address.port;
}

/** A worker of a parallel run imports a module once for many test files, so a shared server ends with the worker. */
export const endsWithItsRun = typeof after === 'function' && process.env['MOCHA_WORKER_ID'] === undefined;
