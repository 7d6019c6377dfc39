import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { createFileLinks } from '../../data-plane-agent/plane/files/objects/file-system-links.js';
import { createFileSystemStore } from '../../data-plane-agent/plane/files/objects/file-system-store.js';
import { createFileUrls, type FileUrls } from '../../data-plane-agent/plane/files/objects/file-system-urls.js';
import {
  objectStoreAddress,
  type ObjectStoreAddress,
} from '../../data-plane-agent/plane/files/objects/object-store-address.js';
import type { ObjectStore, StoredObject } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { openObjectStore } from '../../data-plane-agent/plane/files/objects/open-store.js';
import { sharedMinio } from './minio.js';
import { sharedRgw } from './rgw.js';
import { skip } from './skip.js';

export type StoreKind = 'filesystem' | 'minio' | 'rgw';

export interface TestStore {
  readonly store: ObjectStore;
  readonly address: ObjectStoreAddress;
  /** The folder of a file-system store. */
  readonly directory: string | undefined;
  /** The same store as another process sees it, possibly with another clock. */
  another(clock: Clock): ObjectStore;
}

let buckets = 0;

/**
 * Defines the same suite for the file system and the available S3 servers. `store()` returns the open store in hooks
 * and tests; it is empty at first.
 */
export function forEachStore(define: (store: () => TestStore, kind: StoreKind) => void): void {
  for (const kind of ['filesystem', 'minio', 'rgw'] as const) {
    describe(`on ${kind}`, () => {
      const undo: (() => unknown)[] = [];
      let open: TestStore | undefined;
      before(`open a store on ${kind}`, async function () {
        this.timeout(180_000); // servers may start slowly on a busy machine
        if (kind === 'filesystem') open = await onFileSystem(undo);
        else {
          const server = await (kind === 'minio' ? sharedMinio() : sharedRgw()).catch((error: unknown) =>
            skip(this, error instanceof Error ? error.message : String(error)),
          );
          open = await onS3(server.url(`duebook-${process.pid}-${++buckets}`), undo);
        }
      });
      after('close the store', async () => {
        for (const step of undo.toReversed()) await step();
      });
      define(() => {
        if (!open) throw new Error('the store is open in hooks and tests, once its suite has begun');
        return open;
      }, kind);
    });
  }
}

export function addressOf(url: string): ObjectStoreAddress {
  const parsed = objectStoreAddress().parse(url);
  if (!parsed.ok) throw new Error(`OBJECT_STORE_URL ${parsed.problem}`);
  return parsed.value;
}

export const bytesOf = (text: string): Buffer => Buffer.from(text);
export const never = (): AbortSignal => new AbortController().signal;

/** Writes plain bytes. */
export const putObject = (store: ObjectStore, key: string, bytes: Buffer): Promise<StoredObject> =>
  store.write(key, Readable.from(bytes.length === 0 ? [] : [bytes]), {
    sizeBytes: bytes.length,
    contentType: 'application/pdf',
  });

/** The expiry of a signed link in milliseconds, from its signed parameters. */
export function endOf(link: string): number {
  const query = new URL(link).searchParams;
  const [, y, m, d, h, min, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '') ?? [];
  return query.has('expires')
    ? Number(query.get('expires'))
    : Date.parse(`${y}-${m}-${d}T${h}:${min}:${s}Z`) + Number(query.get('X-Amz-Expires')) * 1_000;
}

export async function onFileSystem(
  undo: (() => unknown)[],
  { idleMs }: { readonly idleMs?: number } = {},
): Promise<TestStore & { readonly directory: string }> {
  const home = await mkdtemp(join(tmpdir(), 'duebook-files-'));
  undo.push(() => rm(home, { recursive: true, force: true }));
  const directory = join(home, 'files');
  let urls: FileUrls | undefined;
  const server = createServer((request, answer) => {
    void urls?.serve(request, answer).then(
      (refusal) => refusal && answer.writeHead(refusal.status, refusal.headers).end(refusal.message),
      () => answer.destroy(),
    );
  });
  const publicUrl = await listening(server, undo);
  const address = addressOf(`file:${directory}`);
  const keyRing = parseKeyRing(generateKeyRingText());
  const open = (clock: Clock) => openObjectStore(address, { publicUrl, keyRing, clock });
  const opened = open(systemClock);
  urls = opened.urls;
  if (idleMs !== undefined) {
    const links = createFileLinks({ origin: publicUrl, keyRing, clock: systemClock });
    urls = createFileUrls({ store: createFileSystemStore({ directory, links, clock: systemClock }), links, idleMs });
  }
  await opened.store.probe();
  return { store: opened.store, address, directory, another: (clock) => open(clock).store };
}

/** Starts it on a free loopback port. */
export async function listening(server: Server, undo: (() => unknown)[]): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function onS3(url: string, undo: (() => unknown)[]): Promise<TestStore> {
  const address = addressOf(url);
  const keyRing = parseKeyRing(generateKeyRingText());
  const open = (clock: Clock): ObjectStore => {
    const { store } = openObjectStore(address, { publicUrl: 'http://localhost', keyRing, clock });
    undo.push(() => store.close());
    return store;
  };
  const store = open(systemClock);
  const faults = await store.probe();
  if (faults.length > 0) throw new Error(faults.map(({ step, problem }) => `${step}: ${problem}`).join('; '));
  return { store, address, directory: undefined, another: open };
}
