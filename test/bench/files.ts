import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startClamd } from '../support/clamd.js';
import { heldWhile, type Held } from '../support/memory-of-files.js';
import { sharedMinio, stopMinio } from '../support/minio.js';
import { CACHE } from './dataset.js';
import type { Row } from './report.js';
import { register, signIn, startService } from './service.js';

const FILES = { count: 50, sizeBytes: 40_000_000 };
const MOST_GROWTH_MB = 64;

/**
 * The memory growth of a server process while files are uploaded, confirmed and scanned by a real clamd, on each kind
 * of store. Kinds that cannot be started here are skipped with a message.
 */
export async function fileRows(): Promise<Row[]> {
  await mkdir(CACHE, { recursive: true });
  const rows: Row[] = [];
  for (const store of ['folder', 'MinIO'] as const) {
    const undo: (() => Promise<unknown>)[] = [];
    try {
      const env = await surroundings(store, undo).catch((error: unknown) =>
        console.error(`files in a ${store} are left out: ${error instanceof Error ? error.message : String(error)}`),
      );
      const held = env && (await heldWith(env, undo));
      if (held) rows.push(rowOf(store, held));
    } finally {
      for (const step of undo.toReversed()) await step();
    }
  }
  return rows;
}

async function surroundings(
  store: 'folder' | 'MinIO',
  undo: (() => Promise<unknown>)[],
): Promise<Record<string, string>> {
  undo.push(stopMinio);
  const objectStore = store === 'MinIO' ? { OBJECT_STORE_URL: (await sharedMinio()).url('duebook-bench') } : undefined;
  const clamd = await startClamd();
  undo.push(clamd.stop);
  return { RATE_LIMIT_PER_MINUTE: '0', FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url, ...objectStore };
}

async function heldWith(
  env: Readonly<Record<string, string>>,
  undo: (() => Promise<unknown>)[],
): Promise<Held | undefined> {
  const dataDir = await mkdtemp(join(CACHE, 'files-'));
  undo.push(() => rm(dataDir, { recursive: true, force: true }));
  const service = await startService(dataDir, env);
  undo.push(service.stop);
  await register(service.origin, 'bench');
  return heldWhile(service, (await signIn(service.origin, 'bench')).api, FILES);
}

function rowOf(store: string, { before, most, after }: Held): Row {
  const figure = most - before;
  return {
    key: 'files',
    name: `memory for ${FILES.count} files of ${FILES.sizeBytes / 1e6} MB, scanned, in a ${store}`,
    unit: 'MB',
    figure,
    raw: null,
    ratio: null,
    target: `≤ ${MOST_GROWTH_MB} MB more than before`,
    met: figure <= MOST_GROWTH_MB,
    details: { before, most, after },
  };
}
