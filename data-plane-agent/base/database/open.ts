import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database } from './database.js';
import type { SqliteOptions } from './sqlite.js';

export interface OpenOptions extends SqliteOptions {
  readonly poolMax: number;
}

/**
 * Opens `sqlite:<path>` or `postgres://…`. Creates the directory of an SQLite file, readable by its owner only. The
 * driver is loaded here, because many commands open no database.
 */
export async function openDatabase(url: string, options: OpenOptions): Promise<Database> {
  const file = sqlitePath(url);
  if (file === undefined) {
    const { openPostgres } = await import('./postgres.js');
    return openPostgres(url, options);
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite would create the file readable by all users, and gives its companion files the same permissions.
  await (await open(file, 'a', 0o600)).close();
  const { openSqlite } = await import('./sqlite.js');
  return openSqlite(file, options);
}

/** The file of an `sqlite:` URL, or `undefined` for another database. */
export const sqlitePath = (url: string): string | undefined =>
  url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
