import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ended, freePort, guarded } from './guardian.js';
import memory from './memory-folder.cjs';
import { type RunAs, giveAway, ordinaryUser } from './ordinary-user.js';
import { type Binaries, type Source, sources } from './postgres-binaries.js';

export type PostgresServer = {
  /** Connection string of the superuser, to the database `postgres`. */
  adminUrl: string;
  /** Its data folder, deleted by `stop`. */
  home: string;
  /** Stops the server and removes its directory. Can be called repeatedly. */
  stop(): Promise<void>;
  /** Stops the server, runs `between`, and starts it again with the same data and address. */
  restart(between: () => Promise<void>): Promise<void>;
};

/**
 * Starts a separate PostgreSQL on a free loopback port, with its data in a new temporary directory: UTF-8, locale C,
 * time zone UTC. Without `durable` fsync is off. However this process ends, SIGKILL included, the server is stopped and
 * its directory removed. Throws with all reasons if no source of PostgreSQL works.
 */
export async function startServer({
  durable,
  from,
}: {
  durable: boolean;
  /** By default all sources, in order. */
  from?: readonly Source[];
}): Promise<PostgresServer> {
  const runAs = ordinaryUser();
  const reasons: string[] = [];
  for (const source of from ?? (await sources())) {
    const home = await mkdtemp(join(runAs ? forEveryone() : tmpdir(), 'duebook-postgres-'));
    try {
      await giveAway(home, runAs);
      return await startIn({ home, runAs, durable, binaries: await source.prepare({ home, runAs }) });
    } catch (error) {
      reasons.push(`${source.name}: ${error instanceof Error ? error.message : String(error)}`);
      await rm(home, { recursive: true, force: true });
    }
  }
  throw new Error(`no PostgreSQL could be started here (${reasons.join('; ') || 'none is installed'})`);
}

/** As root not any TMPDIR, which the server's user may not be able to access. */
const forEveryone = (): string => (tmpdir() === memory.FOLDER ? memory.FOLDER : '/tmp');

type Place = { home: string; runAs: RunAs; binaries: Binaries };

async function startIn({ durable, ...place }: Place & { durable: boolean }): Promise<PostgresServer> {
  const password = randomBytes(18).toString('base64url');
  await initialise({ ...place, password });
  const port = await freePort();
  const server = [
    join(place.binaries.bin, 'postgres'),
    '-D',
    join(place.home, 'data'),
    '-p',
    String(port),
    ...settings(durable),
  ];
  const start = () =>
    guarded({ home: place.home, command: server, env: place.binaries.env, signal: 'INT', runAs: place.runAs });
  let guardian = await start();
  const adminUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => (ending ??= end(guardian, place.home));
  try {
    await untilItAnswers(adminUrl, place.home);
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = async (between: () => Promise<void>): Promise<void> => {
    await ended(guardian, { keepsDirectory: true });
    try {
      await between();
    } finally {
      await truncate(join(place.home, 'log'));
      guardian = await start();
      await untilItAnswers(adminUrl, place.home);
    }
  };
  return { adminUrl, home: place.home, stop, restart };
}

async function initialise({ home, runAs, binaries, password }: Place & { password: string }): Promise<void> {
  const passwordFile = join(home, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await giveAway(passwordFile, runAs);
  const flags = [
    '-D',
    join(home, 'data'),
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ];
  const child = spawn(join(binaries.bin, 'initdb'), flags, {
    ...runAs,
    env: binaries.env,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`initdb ended with ${String(code)}: ${complaint.trim()}`);
  await rm(passwordFile);
}

const settings = (durable: boolean): string[] =>
  [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'max_connections=200',
    'shared_buffers=64MB',
    ...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
  ].flatMap((setting) => ['-c', setting]);

async function end(guardian: ChildProcess, home: string): Promise<void> {
  await ended(guardian);
  await rm(home, { recursive: true, force: true });
}

async function untilItAnswers(url: string, home: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; ;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      const log = await readFile(join(home, 'log'), 'utf8');
      // "the database system is starting up" is FATAL too, but temporary.
      const fatal = /FATAL: {2}(?!the database system is starting up).*/.exec(log)?.[0];
      if (fatal !== undefined || Date.now() > deadline)
        throw new Error(fatal ?? `no answer in 30 s: ${log.slice(-2000)}`, { cause: error });
      await sleep(25);
    }
  }
}
