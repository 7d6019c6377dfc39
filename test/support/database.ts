import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { createDatabase, needsPostgres } from './postgres.js';

export interface FreshDatabase {
  readonly database: Database;
  readonly url: string;
  /** Another connection pool to the same database, like that of another process. */
  again(): Promise<Database>;
}

/**
 * Runs the same tests on an SQLite file and on a real PostgreSQL. `fresh` opens an empty database that is deleted after
 * the suite.
 */
export function forEachDatabase(
  body: (kind: 'sqlite' | 'postgres', fresh: () => Promise<FreshDatabase>) => void,
): void {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`on ${kind}`, () => {
      if (kind === 'postgres') needsPostgres();
      const undo: (() => Promise<void>)[] = [];
      after(async () => {
        for (const step of undo.toReversed()) await step();
      });
      body(kind, async () => {
        const url =
          kind === 'sqlite' ? `sqlite:${join(await temporaryFolder(undo), 'test.db')}` : (await createDatabase()).url;
        const again = async () => {
          const database = await openDatabase(url, { poolMax: 10 });
          undo.push(() => database.close());
          return database;
        };
        return { database: await again(), url, again };
      });
    });
  }
}

async function temporaryFolder(undo: (() => Promise<void>)[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'duebook-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
