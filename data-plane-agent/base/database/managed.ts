import type { Log } from '../log.js';
import type { Database } from './database.js';
import { migrate, type Migration } from './migrator.js';
import { openDatabase } from './open.js';

/** A database that this installation owns and migrates. */
export interface ManagedDatabase {
  readonly name: 'platform' | 'tenant';
  readonly url: string;
  readonly migrations: readonly Migration[];
}

/** Opens the database and applies pending migrations. Throws SchemaMismatch if a newer program has migrated it. */
export async function openMigrated(
  { name, url, migrations }: ManagedDatabase,
  { poolMax, log }: { readonly poolMax: number; readonly log: Log },
): Promise<Database> {
  const database = await openDatabase(url, { poolMax });
  try {
    const applied = await migrate(database, migrations, (wait) =>
      log.info({ database: name, ...wait }, 'waiting for the migration lock: another program migrates this database'),
    );
    if (applied.length > 0) log.info({ database: name, applied }, 'migrated');
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
