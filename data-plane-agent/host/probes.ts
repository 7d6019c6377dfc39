import type { Database } from '../base/database/database.js';
import type { Log } from '../base/log.js';
import type { FileServices } from '../plane/files/services.js';

/** Whether what a plane stands on can be used. */
export interface Probes {
  /** Whether the database answers in time. */
  database(timeoutMs: number): Promise<boolean>;
  /**
   * Logs what the object store does not allow, and whether the scanner can be relied on. Files wait for them and
   * nothing else does, so no start has to. Never rejects.
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
      log.error({ err: error }, 'the object store could not be looked at');
      return [];
    });
    for (const { step, problem: found, fix } of await probe)
      log.error({ step, fix }, `the object store cannot be used as files need it: ${found}`);
    await scanner.selfTest(); // says itself how it went
  },
});
