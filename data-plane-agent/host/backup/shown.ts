import type { MadeBackup } from './create.js';
import type { Manifest } from './format.js';
import type { Restored } from './restore.js';

/** What a backup contains, in JSON, for scripts. */
export const backupJson = ({
  backupId,
  product,
  version,
  startedAt,
  completedAt,
  databases,
  files,
  objects,
  keyIds,
}: Manifest): object => ({
  backupId,
  product,
  version,
  startedAt,
  completedAt,
  databases: databases.map(({ name, dialect, stateAt, migrations }) => ({
    name,
    dialect,
    stateAt,
    schema: migrations.at(-1)?.id ?? null,
  })),
  files,
  objects,
  keyIds,
});

/** The same in a few lines, for people. */
export function backupText({ version, databases, files, objects, keyIds, startedAt }: Manifest): string {
  return [
    `made ${startedAt} by version ${version}`,
    ...databases.map(
      ({ name, dialect, stateAt, migrations }) =>
        `${name} database: ${dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, as of ${stateAt}, schema ${migrations.at(-1)?.id ?? 'empty'}`,
    ),
    files.copied
      ? `files: ${files.count}, ${sizeText(files.bytes)}`
      : `files: not in the backup, because an S3 server stores them: a list of ${objects} with their hashes`,
    `keys: ${keyIds.join(', ')}, encrypted`,
  ].join('\n');
}

/** A note about files that are missing; undefined if none are. */
export function missingText({ count, keys }: (MadeBackup | Restored)['missing'], where: string): string | undefined {
  if (count === 0) return undefined;
  return `${count} ${count === 1 ? 'file' : 'files'} that the contract data refers to ${count === 1 ? 'is' : 'are'} not in ${where}: ${keys.join(', ')}${count > keys.length ? ', …' : ''}`;
}

export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, bytes === 0 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 2 ** (10 * power)).toFixed(1)} ${units[power] ?? ''}`;
}
