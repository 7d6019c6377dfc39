import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../../base/command-line/errors.js';
import type { ManagedDatabase } from '../../base/database/managed.js';
import { checksumOf } from '../../base/database/migrator.js';
import { sqlitePath } from '../../base/database/open.js';
import { syncFolder } from './archive-writer.js';
import type { Manifest, SavedDatabase } from './format.js';
import { markPostgres, refuseUsedPostgres, restorePostgres, stateOfPostgres, unmarkPostgres } from './postgres.js';
import type { ToolSettings } from './postgres-tools.js';
import { markSqlite, refuseUsedSqlite, removeCompanions, stateOfSqlite, unmarkSqlite } from './sqlite.js';

/** A database that a backup is restored into. */
export interface RestoreDatabase {
  readonly name: ManagedDatabase['name'];
  readonly dialect: 'sqlite' | 'postgres';
  /** Where the copy of the backup is put before it is restored. */
  readonly staged: string;
  refuseUsed(): Promise<void>;
  /** Has no tables; a restore into it was interrupted. */
  state(): Promise<{ readonly isEmpty: boolean; readonly isMarked: boolean }>;
  /** Marks it, so that programs refuse it until `unmark`. What it contains may be lost from here on. */
  mark(): Promise<void>;
  /** Replaces it with the staged copy, at once, still marked. */
  replace(): Promise<void>;
  unmark(): Promise<void>;
}

/** `folder` is for staged dumps. */
export function restoreDatabase(
  { name, url }: ManagedDatabase,
  { folder, tools }: { readonly folder: string; readonly tools: ToolSettings },
): RestoreDatabase {
  const file = sqlitePath(url);
  if (file === undefined) {
    const staged = join(folder, `${name}.dump`);
    return {
      name,
      dialect: 'postgres',
      staged,
      refuseUsed: () => refuseUsedPostgres(url),
      state: () => stateOfPostgres(url),
      mark: () => markPostgres(url),
      replace: () => restorePostgres(url, staged, tools),
      unmark: () => unmarkPostgres(url),
    };
  }
  // In the same folder, because a rename is atomic only on one disk.
  const staged = `${file}.restoring`;
  return {
    name,
    dialect: 'sqlite',
    staged,
    refuseUsed: () => Promise.resolve(refuseUsedSqlite(file)),
    state: () => Promise.resolve(stateOfSqlite(file)),
    mark: async () => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      markSqlite(file);
      await syncFolder(dirname(file));
    },
    replace: async () => {
      markSqlite(staged);
      removeCompanions(file);
      renameSync(staged, file);
      rmSync(`${staged}-journal`, { force: true });
      await syncFolder(dirname(file));
    },
    unmark: () => Promise.resolve(unmarkSqlite(file)),
  };
}

/** Throws if the backup cannot be restored into these databases by this program. Changes nothing. */
export function refuseUnfit(
  manifest: Manifest,
  { managed, targets }: { readonly managed: readonly ManagedDatabase[]; readonly targets: readonly RestoreDatabase[] },
): void {
  for (const target of targets) {
    const saved = manifest.databases.find(({ name }) => name === target.name);
    if (!saved)
      throw new CommandError(
        'BACKUP_UNFIT',
        `the backup has no ${target.name} database: it was made with another EDITION; restore it with that one`,
      );
    if (saved.dialect !== target.dialect)
      throw new CommandError(
        'BACKUP_UNFIT',
        `the ${saved.name} database of the backup is of ${nameOf(saved.dialect)}, and this installation uses ${nameOf(target.dialect)}: set ${saved.name.toUpperCase()}_DATABASE_URL to a database of ${nameOf(saved.dialect)}`,
      );
  }
  const more = manifest.databases.find(({ name }) => !targets.some((target) => target.name === name));
  if (more)
    throw new CommandError(
      'BACKUP_UNFIT',
      `the backup has a ${more.name} database, which this installation does not have: it was made with another EDITION; restore it with that one`,
    );
  for (const saved of manifest.databases) {
    const migrations = managed.find(({ name }) => name === saved.name)?.migrations ?? [];
    refuseOtherSchema(saved, new Map(migrations.map((one) => [one.id, checksumOf(one)])), manifest.version);
  }
}

const nameOf = (dialect: SavedDatabase['dialect']): string => (dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL');

function refuseOtherSchema(saved: SavedDatabase, ours: ReadonlyMap<string, string>, version: string): void {
  const newer = saved.migrations.filter(({ id }) => !ours.has(id)).map(({ id }) => id);
  if (newer.length > 0)
    throw new CommandError(
      'SCHEMA_NEWER',
      `the ${saved.name} database of the backup is newer than this program (${newer.join(', ')}): restore it with version ${version} or a later one`,
    );
  const changed = saved.migrations.find(({ id, checksum }) => ours.get(id) !== checksum);
  if (changed)
    throw new CommandError(
      'SCHEMA_MISMATCH',
      `migration ${changed.id} of the ${saved.name} database of the backup differs from that of this program: restore it with version ${version}`,
    );
}
