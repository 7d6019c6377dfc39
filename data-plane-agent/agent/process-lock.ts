import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { CommandError } from '../base/command-line/errors.js';
import { privateFolder } from './stored-files.js';

export interface ProcessLock {
  release(): void;
}

/**
 * Makes this process the only one that runs an agent, or changes its identity, in a data directory. SQLite holds the
 * lock through the operating system, so it ends with the process, however it ends. Throws AGENT_RUNNING.
 */
export function lockDataDir(dataDir: string): ProcessLock {
  privateFolder(dataDir, 'identity');
  const path = join(dataDir, 'identity', 'lock');
  const file = new Database(path, { timeout: 0 });
  chmodSync(path, 0o600);
  try {
    file.pragma('journal_mode = MEMORY');
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new CommandError(
        'AGENT_RUNNING',
        `another duebook-agent uses ${dataDir}: stop it first, or set DATA_DIR to another directory`,
        { cause: error },
      );
    throw error;
  }
  return { release: () => void file.close() };
}
