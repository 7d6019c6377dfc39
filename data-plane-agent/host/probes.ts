import type { Database } from '../base/database/database.js';
import type { Log } from '../base/log.js';
import type { FileServices } from '../plane/files/services.js';

/** Checks the dependencies of a plane. */
export interface Probes {
  /** Whether the database responds in time. */
  database(timeoutMs: number): Promise<boolean>;
  /**
   * Logs problems of the object store and the scanner. Only files need them, so startup does not wait for this. Never
   * rejects.
   */
  files(): Promise<void>;
}

export const createProbes = ({
  database,
  files: { objects, scanner },
  log,
}: {
  readonly database: Database;
  readonly files: Pick<FileServices, 'objects' | 'scanner'>;
  readonly log: Log;
}): Probes => ({
  database: (timeoutMs) => database.ping(timeoutMs),
  async files() {
    const probe = objects.probe().catch((error: unknown) => {
      log.error({ err: error }, 'object store check failed');
      return [];
    });
    for (const { step, problem: found, fix } of await probe)
      log.error({ step, fix }, `the object store cannot be used for files: ${found}`);
    await scanner.trust(); // logs its result
  },
});
