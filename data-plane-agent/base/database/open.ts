import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database } from './database.js';
import { openPostgres } from './postgres.js';
import { openSqlite } from './sqlite.js';

/** Opens `sqlite:<path>` or `postgres://…`. The folder of an SQLite file is made, readable to its owner only. */
export async function openDatabase(url: string, options: { readonly poolMax: number }): Promise<Database> {
  const file = sqlitePath(url);
  if (file === undefined) return openPostgres(url, options);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite gives the files beside it the rights of this one, which it would itself make readable to all.
  await (await open(file, 'a', 0o600)).close();
  return openSqlite(file);
}

/** The file of an `sqlite:` URL, or `undefined` for another database. */
export const sqlitePath = (url: string): string | undefined =>
  url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;
