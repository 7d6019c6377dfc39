import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { once } from './once.js';

/** The databases that the product migrates. Tests migrate each once and then use copies. */
export type Schema = 'platform' | 'tenant';

const MIGRATIONS: Readonly<Record<Schema, readonly Migration[]>> = {
  platform: PLATFORM_MIGRATIONS,
  tenant: TENANT_MIGRATIONS,
};

export async function migrateTo(schema: Schema, url: string): Promise<void> {
  const database = await openDatabase(url, { poolMax: 2 });
  try {
    await migrate(database, MIGRATIONS[schema]);
  } finally {
    await database.close();
  }
}

/** The content of a fresh, migrated SQLite file. */
export const migratedFile = (schema: Schema): Promise<Buffer> =>
  once(files, schema, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-migrated-'));
    try {
      const path = join(folder, 'migrated.db');
      await migrateTo(schema, `sqlite:${path}`);
      return await readFile(path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

const files = new Map<string, Promise<Buffer>>();
