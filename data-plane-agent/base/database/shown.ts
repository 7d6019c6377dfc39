import { resolve } from 'node:path';
import { sqlitePath } from './open.js';
import { postgresTarget } from './postgres-identity.js';

/** Which database a URL opens, for a reader, without its password. */
export function shownDatabase(url: string): string {
  const file = sqlitePath(url);
  if (file !== undefined) return `SQLite, ${resolve(file)}`;
  const { host, port, database } = postgresTarget(url);
  return `PostgreSQL, ${database} on ${host.includes(':') ? `[${host}]` : host}:${port}`;
}
