import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackground } from '../../data-plane-agent/base/background.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { CONTENT_TYPES } from '../../data-plane-agent/plane/files/content/content-type.js';
import { openFileServices, type FileSettings } from '../../data-plane-agent/plane/files/open-services.js';
import type { ExternalServices } from '../../data-plane-agent/plane/local/index.js';

export interface TestExternalServices {
  readonly external: ExternalServices;
  /** Resolves when all background work is done. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The services that a data plane needs besides its database: by default, files in a temporary folder without scanner.
 */
export async function openExternalServices({
  clock,
  keyRing,
  settings = {},
}: {
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly settings?: Partial<FileSettings>;
}): Promise<TestExternalServices> {
  const directory = await mkdtemp(join(tmpdir(), 'duebook-files-'));
  const log = createLog({ level: 'silent', name: 'test' });
  const background = createBackground();
  const files = openFileServices(
    {
      objectStoreUrl: { provider: 'filesystem', directory },
      publicUrl: 'http://127.0.0.1',
      fileMaxBytes: 52_428_800,
      fileContentTypes: CONTENT_TYPES,
      fileScanMode: 'off',
      fileDownloadRequiresCleanScan: true,
      keyRing,
      ...settings,
    },
    { clock, log, residentBytes: () => process.memoryUsage.rss() },
  );
  return {
    external: { files, log, afterwards: background.add },
    settled: background.settled,
    async close() {
      await background.settled();
      await files.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
