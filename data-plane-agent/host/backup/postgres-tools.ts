import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { CommandError } from '../../base/command-line/errors.js';

/** The client programs of PostgreSQL. */
export interface PostgresTools {
  /** The major version, such as 18. */
  readonly major: number;
  /** Writes the state of an exported snapshot to a file, in the custom format. */
  dump(url: string, snapshot: string, target: string): Promise<void>;
  /** Restores a dump in one transaction: all of it or nothing. */
  restore(url: string, dump: string): Promise<void>;
  /** Reads the table of contents of a dump; rejects if it is not one. */
  list(dump: string): Promise<void>;
}

export interface ToolSettings {
  /** PG_DUMP: the program, if not the one on the PATH. */
  readonly pgDump: string | undefined;
  /** The PATH. */
  readonly path: string;
}

/** Throws PG_TOOLS_MISSING, with how to install them. `serverMajor` is the version that they must have at least. */
export async function postgresTools(
  { pgDump, path }: ToolSettings,
  { serverMajor }: { readonly serverMajor?: number | undefined } = {},
): Promise<PostgresTools> {
  const named = pgDump ?? foundOn(path, 'pg_dump');
  const install = `install the client programs of PostgreSQL${serverMajor === undefined ? '' : ` ${serverMajor} or newer`} (on Debian and Ubuntu: apt-get install postgresql-client${serverMajor === undefined ? '' : `-${serverMajor}`}), or set PG_DUMP to the path of pg_dump`;
  if (named === undefined) throw new CommandError('PG_TOOLS_MISSING', `pg_dump was not found on the PATH: ${install}`);
  const restoreProgram = join(dirname(named), named.endsWith('.exe') ? 'pg_restore.exe' : 'pg_restore');
  const major = await majorOf(named, install);
  if (!existsSync(restoreProgram))
    throw new CommandError('PG_TOOLS_MISSING', `there is no pg_restore beside ${named}: ${install}`);
  if (serverMajor !== undefined && major < serverMajor)
    throw new CommandError(
      'PG_TOOLS_TOO_OLD',
      `${named} is of PostgreSQL ${major}, which cannot dump a server of version ${serverMajor}: ${install}`,
    );
  return {
    major,
    dump: (url, snapshot, target) =>
      ran(
        named,
        ['--format=custom', '--no-password', '--lock-wait-timeout=60000', `--snapshot=${snapshot}`, `--file=${target}`],
        { url, major },
      ),
    restore: (url, dump) =>
      ran(
        restoreProgram,
        [
          '--no-password',
          '--single-transaction',
          '--exit-on-error',
          '--no-owner',
          '--no-privileges',
          `--dbname=${new pg.Client({ connectionString: url }).database ?? ''}`,
          dump,
        ],
        { url, major },
      ),
    list: (dump) => ran(restoreProgram, ['--list', dump], {}),
  };
}

function foundOn(path: string, program: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => [join(folder, program), join(folder, `${program}.exe`)])
    .find((candidate) => existsSync(candidate));
}

const run = promisify(execFile);

async function majorOf(program: string, install: string): Promise<number> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 10_000 });
    const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
    if (major !== undefined) return Number(major);
    throw new Error(`it prints "${stdout.trim().slice(0, 100)}" as its version`);
  } catch (error) {
    throw new CommandError(
      'PG_TOOLS_MISSING',
      `${program} cannot be run (${error instanceof Error ? error.message.split('\n')[0] : String(error)}): ${install}`,
      { cause: error },
    );
  }
}

/** The end of what a program printed, for the message of its failure. */
const TAIL = 2_000;

/** Runs a program without a password in its arguments. Rejects with what it printed. */
async function ran(
  program: string,
  args: readonly string[],
  { url, major = 0 }: { readonly url?: string; readonly major?: number },
): Promise<void> {
  const env = url === undefined ? {} : libpqEnvironment(url, { major });
  const child = spawn(program, [...args], {
    env: { ...env, LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-TAIL);
  });
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.on('error', reject).on('close', (exit, signal) => resolve(exit ?? signal));
  });
  if (code !== 0)
    throw new CommandError(
      'PG_TOOL_FAILED',
      `${program} ended with ${String(code)}: ${complaint.trim() || 'it printed nothing'}`,
    );
}

/** Where the usual Linux distributions keep the certificates that the system trusts. */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * What libpq reads in place of a URL, so that the password is in no list of processes. TLS as our driver understands
 * the URL: each mode but `no-verify` verifies the certificate and the host name.
 */
export function libpqEnvironment(url: string, { major }: { readonly major: number }): Record<string, string> {
  const client = new pg.Client({ connectionString: url });
  const options = new URL(url).searchParams;
  const given = (name: string): string | undefined => options.get(name) ?? undefined;
  const mode = given('sslmode');
  const usesTls =
    mode === undefined
      ? ['1', 'true'].includes(given('ssl') ?? '') || given('sslrootcert') !== undefined
      : mode !== 'disable';
  const roots =
    given('sslrootcert') ?? (major >= 16 ? 'system' : SYSTEM_ROOTS.find((candidate) => existsSync(candidate)));
  return {
    PGHOST: client.host,
    PGPORT: String(client.port),
    PGAPPNAME: 'duebook backup',
    PGCONNECT_TIMEOUT: '10',
    PGSSLMODE: !usesTls ? 'disable' : mode === 'no-verify' ? 'require' : 'verify-full',
    ...(client.user === undefined ? {} : { PGUSER: client.user }),
    ...(client.database === undefined ? {} : { PGDATABASE: client.database }),
    ...(typeof client.password === 'string' ? { PGPASSWORD: client.password } : {}),
    ...(usesTls && mode !== 'no-verify' && roots !== undefined ? { PGSSLROOTCERT: roots } : {}),
    ...(given('sslcert') === undefined ? {} : { PGSSLCERT: given('sslcert') ?? '' }),
    ...(given('sslkey') === undefined ? {} : { PGSSLKEY: given('sslkey') ?? '' }),
  };
}
