import { randomUUID } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { incomingOf } from './file-system-paths.js';
import { ObjectStoreError, type ObjectStore, type StoreFault } from './object-store.js';

/** What to grant or correct when a step fails. */
export type Fixes = Readonly<Record<'put' | 'get' | 'list' | 'copy' | 'delete', string>>;

/** Returns the value of a step, or a fault if it fails. */
export async function attempt<T>(
  step: StoreFault['step'],
  fix: string,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | StoreFault> {
  try {
    return { value: await work() };
  } catch (error) {
    return { step, problem: reasonOf(error), fix };
  }
}

export const isFault = (outcome: object): outcome is StoreFault => 'step' in outcome;

/** Performs all operations that files need on a small object. If it cannot be put, the other steps are skipped. */
export async function probeObject(
  store: ObjectStore,
  fixes: Fixes,
  {
    whilePresent = () => Promise.resolve([]),
  }: { readonly whilePresent?: (key: string) => Promise<readonly StoreFault[]> } = {},
): Promise<readonly StoreFault[]> {
  const key = `${PREFIX}${randomUUID()}`;
  const copied = `${key}-copy`;
  const put = await attempt('put', fixes.put, () =>
    store.write(key, Readable.from([BYTES]), { sizeBytes: BYTES.length, contentType: 'text/plain' }),
  );
  if (isFault(put)) return [put];
  const faults: StoreFault[] = [];
  const keep = (outcome: object): void => {
    if (isFault(outcome)) faults.push(outcome);
  };
  keep(
    await attempt('get', fixes.get, async () => {
      const content = await store.read(key, { sizeBytes: BYTES.length, signal: AbortSignal.timeout(READ_MS) });
      if (!content || !(await buffer(content)).equals(BYTES))
        throw new Error('the object read differs from the one written');
    }),
  );
  keep(
    await attempt('list', fixes.list, async () => {
      for await (const object of store.list(PREFIX)) if (object.key === key) return;
      throw new Error('the object written is not in the list');
    }),
  );
  keep(
    await attempt('copy', fixes.copy, async () => {
      if (await store.copy(key, copied, NO_ETAG))
        throw new Error('a copy was made although the entity tag did not match (x-amz-copy-source-if-match)');
      if (!(await store.copy(key, copied, put.value.etag))) throw new Error('no copy was made');
    }),
  );
  faults.push(...(await whilePresent(key)));
  keep(
    await attempt('delete', fixes.delete, async () => {
      await store.remove(key);
      await store.remove(copied);
      if (await store.head(key)) throw new Error('the removed object still exists');
    }),
  );
  return faults;
}

export async function probeFileSystem(
  store: ObjectStore,
  { root, makes }: { readonly root: string; readonly makes: boolean },
): Promise<readonly StoreFault[]> {
  const fix = `let the user that runs this program read and write ${root}, on a disk with free space, or name another directory in OBJECT_STORE_URL`;
  const there = await attempt('reach', fix, async () => {
    if (makes) await mkdir(incomingOf(root), { recursive: true, mode: 0o700 });
    if (!(await stat(root)).isDirectory()) throw new Error(`${root} is not a directory`);
  });
  return isFault(there) ? [there] : probeObject(store, { put: fix, get: fix, list: fix, copy: fix, delete: fix });
}

const PREFIX = 'probe/';
const BYTES = Buffer.from('Duebook wrote this file to check its permissions, and removes it again.\n');
const READ_MS = 10_000;
/** Matches no content. */
const NO_ETAG = '00000000000000000000000000000000';

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return !(error instanceof ObjectStoreError) && 'code' in error && typeof error.code === 'string'
    ? error.code
    : error.message;
}
