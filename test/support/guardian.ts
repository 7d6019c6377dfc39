import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { RunAs } from './ordinary-user.js';

export interface Guard {
  /** The server's directory; what it prints is in `log` there. */
  readonly home: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What ends it in an orderly way. */
  readonly signal: 'INT' | 'TERM';
  readonly runAs?: RunAs;
}

/**
 * Starts a server whose parent is a shell that waits on a pipe which only this process holds: however we end, SIGKILL
 * included, the pipe closes, the shell ends the server and removes the directory. It is detached, so that Ctrl-C
 * reaches this process and not the server, and keeps no process alive.
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
    if (guardian.stdin && 'unref' in guardian.stdin) (guardian.stdin as Socket).unref(); // the pipe of a child is a socket
    return guardian;
  } finally {
    await log.close();
  }
}

/** Resolves when the server has ended. Its directory goes with it, unless it is to be started again there. */
export async function ended(
  guardian: ChildProcess,
  { keepsHome = false }: { readonly keepsHome?: boolean } = {},
): Promise<void> {
  if (guardian.exitCode !== null || guardian.signalCode !== null) return;
  const exited = once(guardian, 'exit');
  guardian.ref();
  guardian.stdin?.end(keepsHome ? 'keep\n' : undefined);
  await exited;
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address for a loopback port');
  return address.port;
}

/** A worker of a parallel run imports a file once for many test files: there a shared server ends with the worker. */
export const endsWithItsRun = typeof after === 'function' && process.env['MOCHA_WORKER_ID'] === undefined;
