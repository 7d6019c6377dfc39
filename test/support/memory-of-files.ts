import { randomFillSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import type { Client } from './http.js';
import { residentMb, type Running } from './process.js';
import { uploadsOf } from './uploads.js';

/** The memory of a server in a separate process, in MB. */
export interface Held {
  readonly before: number;
  readonly most: number;
  /** After all files were scanned. */
  readonly after: number;
}

export interface ManyFiles {
  readonly count: number;
  readonly sizeBytes: number;
}

/** The number of concurrent clients. */
const AT_ONCE = 4;
const LOOK_MS = 20;

/**
 * Uploads, confirms and scans files with a server, four at a time, and measures its memory. A warm-up excludes what
 * every process allocates for its first files. Returns `undefined` where the system does not report memory (Linux
 * does).
 */
export async function heldWhile(
  { pid }: Pick<Running, 'pid'>,
  client: Client,
  { count, sizeBytes }: ManyFiles,
): Promise<Held | undefined> {
  await uploadAll(client, { count: 2 * AT_ONCE, sizeBytes: 2 ** 20 });
  const before = residentMb(pid);
  if (before === undefined) return undefined;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentMb(pid) ?? 0)), LOOK_MS);
  try {
    await uploadAll(client, { count, sizeBytes });
  } finally {
    clearInterval(watch);
  }
  const after = residentMb(pid) ?? 0;
  return { before, most: Math.max(most, after), after };
}

async function uploadAll(client: Client, { count, sizeBytes }: ManyFiles): Promise<void> {
  const bytes = randomFillSync(Buffer.alloc(sizeBytes));
  bytes.write('%PDF-1.7\n');
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let done = lane; done < count; done += AT_ONCE)
        await untilScanned(client, await uploadsOf(client).upload({ fileName: `evidence-${done}.pdf`, bytes }));
    }),
  );
}

async function untilScanned(client: Client, file: FileRecord): Promise<void> {
  for (
    let { scanStatus } = file;
    scanStatus !== 'clean';
    { scanStatus } = (await client.get<FileRecord>(`/files/${file.id}`)).body
  ) {
    if (scanStatus !== 'pending') throw new Error(`a harmless file is ${scanStatus}`);
    await sleep(50);
  }
}
