import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import type { KeyRing } from '../../base/secrets.js';
import { createClamd } from './scanner/clamd.js';
import type { FileUrls } from './objects/file-system-urls.js';
import type { ObjectStoreAddress } from './objects/object-store-address.js';
import type { ObjectStore } from './objects/object-store.js';
import { openObjectStore } from './objects/open-store.js';
import { UNLIMITED, type TrustedScanner } from './scanner/scanner.js';
import type { FileServices, OnScanned } from './services.js';
import { documentReader } from './text/index.js';
import { trusted } from './scanner/trusted-scanner.js';
import { createUploadTokens } from './upload-tokens.js';

/** The settings of file storage from the program's configuration. */
export interface FileSettings {
  readonly objectStoreUrl: ObjectStoreAddress;
  readonly objectStorePublicUrl?: string | undefined;
  readonly publicUrl: string;
  readonly fileMaxBytes: number;
  readonly fileContentTypes: readonly string[];
  readonly fileScanMode: 'off' | 'clamav';
  readonly clamavUrl?: string | undefined;
  readonly fileDownloadRequiresCleanScan: boolean;
  readonly tenantStorageQuotaBytes?: number | undefined;
  readonly keyRing: KeyRing;
}

export interface OpenedFiles extends FileServices {
  /** The URLs that this process must serve; an S3 server serves its own. */
  readonly urls: FileUrls | undefined;
  /** Registers a function that is told of each scan. */
  observeScans(observer: OnScanned): void;
  close(): Promise<void>;
}

/** Fifty scanned pages take several minutes. */
const READING_MS = 5 * 60_000;

export interface FileParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly residentBytes: () => number;
  readonly objects?: ((named: ObjectStore) => ObjectStore) | undefined;
}

/** Opens the services for files, without any request. */
export function openFileServices(
  settings: FileSettings,
  { clock, log, residentBytes, objects = (named) => named }: FileParts,
): OpenedFiles {
  const { objectStoreUrl, objectStorePublicUrl, publicUrl, fileMaxBytes, keyRing } = settings;
  const { store, urls } = openObjectStore(objectStoreUrl, {
    publicUrl,
    storePublicUrl: objectStorePublicUrl,
    keyRing,
    clock,
  });
  const documents = documentReader({ residentBytes, maxBytes: fileMaxBytes, deadlineMs: READING_MS });
  const scanner = scannerOf(settings, { clock, log });
  const observers: OnScanned[] = [];
  return {
    objects: objects(store),
    scanner,
    documents,
    tokens: createUploadTokens({ keyRing, clock }),
    policy: {
      maxBytes: fileMaxBytes,
      contentTypes: new Set(settings.fileContentTypes),
      tenantQuotaBytes: settings.tenantStorageQuotaBytes,
      scans: settings.fileScanMode !== 'off',
      downloadRequiresCleanScan: settings.fileDownloadRequiresCleanScan,
    },
    onScanned: (finding, seconds) => {
      for (const observer of observers) observer(finding, seconds);
    },
    observeScans: (observer) => void observers.push(observer),
    urls,
    async close() {
      scanner.close();
      await documents.close();
      await store.close();
    },
  };
}

function scannerOf(
  { fileScanMode, clamavUrl, fileMaxBytes }: FileSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TrustedScanner {
  if (fileScanMode === 'clamav' && clamavUrl !== undefined)
    return trusted(createClamd({ url: clamavUrl, fileMaxBytes, log }), { clock, log });
  return NO_SCANNER;
}

/** Used when scanning is off. */
const NO_SCANNER: TrustedScanner = {
  provider: 'none',
  scan: (content) => {
    content.destroy();
    return Promise.resolve({ status: 'error', reason: 'scanning is off' });
  },
  version: () => Promise.resolve(undefined),
  trust: () => Promise.resolve({ isAnswered: true, faults: [], limits: UNLIMITED, lines: [] }),
  state: () => 'off',
  limits: () => UNLIMITED,
  close: () => undefined,
};
