import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuarded } from './guarded.js';
import { freePort } from './guardian.js';
import { skip } from './skip.js';
import { read } from './source.js';

export interface TestClamd {
  /** The value for CLAMAV_URL. */
  readonly url: string;
  /** Adds a signature for this text at any position, and waits until it is active. */
  learn(name: string, text: string): Promise<void>;
  /** Kills the process and waits until it has exited. */
  kill(): Promise<void>;
  /** Stops it and removes its files. */
  stop(): Promise<void>;
}

/** The test file of eicar.org, split so that scanners do not report this source file. */
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!', '$H+H*'].join('');

export interface ClamdOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly listen?: 'tcp' | 'unix';
  /** Where it listens; by default on a free port. */
  readonly port?: number;
  /** `debian`: test/support/clamd-debian.conf, as Debian 12 installs it (clamav-daemon 1.4.6). */
  readonly conf?: 'shipped' | 'debian';
}

/**
 * Starts clamd with docker/clamd.conf or Debian's, changed only in its paths, addresses and `settings`. It has one
 * signature, for EICAR at any position. Throws if clamd is not installed: see `needsClamd`.
 */
export async function startClamd({
  settings = {},
  listen = 'tcp',
  port: given,
  conf = 'shipped',
}: ClamdOptions = {}): Promise<TestClamd> {
  const program = clamdProgram();
  if (program === undefined) throw new Error(NONE);
  const port = given ?? (await freePort());
  let target: Target = { host: '127.0.0.1', port };
  let url = `tcp://127.0.0.1:${port}`;
  const { home, stop } = await startGuarded({
    name: 'clamd',
    env: () => ({ PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' }),
    command: (folder) => {
      const socket = join(folder, 'clamd.sock');
      if (listen === 'unix') [target, url] = [{ path: socket }, `unix:${socket}`];
      const place =
        listen === 'unix'
          ? { LocalSocket: socket, LocalSocketMode: '660' }
          : { TCPSocket: String(port), TCPAddr: '127.0.0.1' };
      mkdirSync(join(folder, 'signatures'));
      writeFileSync(join(folder, 'signatures', 'test.ndb'), signature('Eicar-Test', EICAR));
      writeFileSync(
        join(folder, 'clamd.conf'),
        configuration(conf, {
          ...place,
          DatabaseDirectory: join(folder, 'signatures'),
          TemporaryDirectory: folder,
          PidFile: join(folder, 'pid'),
          User: userInfo().username,
          Foreground: 'yes',
          ...settings,
        }),
      );
      return [program, '-c', join(folder, 'clamd.conf')];
    },
    answers: async () => (await asked(target, 'PING').catch(() => '')) === 'PONG', // not started yet
  });
  const log = (): Promise<string> => readFile(join(home, 'log'), 'utf8');
  return {
    url,
    async learn(name, text) {
      await appendFile(join(home, 'signatures', 'test.ndb'), signature(name, text));
      const before = (await log()).length;
      await asked(target, 'RELOAD');
      while (!(await log()).includes('correctly reloaded', before)) await sleep(10);
    },
    async kill() {
      process.kill(Number(await readFile(join(home, 'pid'), 'utf8')), 'SIGKILL');
      // It has stopped when connections are refused; before that they may be accepted and reset.
      while (
        (await asked(target, 'PING').then(
          () => '',
          (error: unknown) => codeOf(error),
        )) !== 'ECONNREFUSED'
      )
        await sleep(5);
    },
    stop,
  };
}

/**
 * Call this first in a `describe` that needs clamd: skips the suite if it is not installed (a failure with
 * REQUIRE_SERVICES=1).
 */
export function needsClamd(): void {
  before('clamd', function () {
    if (clamdProgram() === undefined) skip(this, NONE);
  });
}

const NONE = 'no clamd was found (CLAMD_BIN, PATH, /usr/sbin); Debian has it in clamav-daemon';

function clamdProgram(): string | undefined {
  const named = process.env['CLAMD_BIN'];
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/sbin',
  ];
  return folders.map((folder) => join(folder, 'clamd')).find((path) => existsSync(path));
}

/** The settings of a file's lines. */
export const settingsOf = (lines: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]));

const OF_THE_MACHINE = ['LocalSocket', 'LocalSocketMode', 'LocalSocketGroup', 'FixStaleSocket', 'LogFile', 'LogRotate'];

/** A configuration with some settings replaced. */
function configuration(conf: 'shipped' | 'debian', settings: Readonly<Record<string, string>>): string {
  const replaced = new Set([...Object.keys(settings), ...OF_THE_MACHINE]);
  const kept = read(conf === 'debian' ? 'test/support/clamd-debian.conf' : 'docker/clamd.conf')
    .split('\n')
    .filter((line) => !replaced.has(line.split(' ')[0] ?? ''));
  return [...kept, ...Object.entries(settings).map(([name, value]) => `${name} ${value}`), ''].join('\n');
}

/** A line of an .ndb file: any file type (0), any offset (*). */
const signature = (name: string, text: string): string => `${name}:0:*:${Buffer.from(text).toString('hex')}\n`;

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

type Target = { readonly host: string; readonly port: number } | { readonly path: string };

function asked(target: Target, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(target, () => socket.write(`z${command}\0`));
    socket
      .on('data', (text: Buffer) => (answer += text.toString().replace('\0', '')))
      .on('error', reject)
      .on('close', () => resolve(answer));
  });
}
