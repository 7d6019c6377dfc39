import type { Clock } from '../../../base/clock.js';
import type { KeyRing } from '../../../base/secrets.js';
import { createFileLinks } from './file-system-links.js';
import { createFileSystemStore } from './file-system-store.js';
import { createFileUrls, type FileUrls } from './file-system-urls.js';
import type { ObjectStoreAddress } from './object-store-address.js';
import type { ObjectStore } from './object-store.js';
import { createS3Store } from './s3-store.js';

export interface OpenedStore {
  readonly store: ObjectStore;
  /** The URLs that this process must serve; an S3 server serves its own. */
  readonly urls?: FileUrls;
}

/**
 * Opens the store from `OBJECT_STORE_URL` without any request; `probe` makes the first. `publicUrl`: where clients
 * reach this process; `storePublicUrl`: where they reach the store, if it differs from the store's address.
 */
export function openObjectStore(
  address: ObjectStoreAddress,
  {
    publicUrl,
    storePublicUrl,
    keyRing,
    clock,
  }: {
    readonly publicUrl: string;
    readonly storePublicUrl?: string | undefined;
    readonly keyRing: KeyRing;
    readonly clock: Clock;
  },
): OpenedStore {
  if (address.provider === 's3') return { store: createS3Store({ address, publicOrigin: storePublicUrl, clock }) };
  const links = createFileLinks({ origin: storePublicUrl ?? publicUrl, keyRing, clock });
  const store = createFileSystemStore({ directory: address.directory, links, clock });
  return { store, urls: createFileUrls({ store, links }) };
}
