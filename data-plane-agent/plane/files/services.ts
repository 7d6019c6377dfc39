import type { Finding } from '../domain/files/scans.js';
import type { ObjectStore } from './objects/object-store.js';
import type { TrustedScanner } from './scanner/scanner.js';
import type { DocumentReader } from './text/document-text.js';
import type { UploadTokens } from './upload-tokens.js';

/** The services that files need besides the database. */
export interface FileServices {
  readonly objects: ObjectStore;
  readonly scanner: TrustedScanner;
  readonly documents: DocumentReader;
  readonly tokens: UploadTokens;
  readonly policy: FilePolicy;
  /** Told of each scan that has ended, for the metrics. */
  readonly onScanned: OnScanned;
}

/** `seconds`: from the start of the reading to the verdict. */
export type OnScanned = (finding: Finding, seconds: number) => void;

/** The installation's rules for uploads and downloads. */
export interface FilePolicy {
  /** The maximum size of one file. */
  readonly maxBytes: number;
  /** Media types, lower-case, without parameters. */
  readonly contentTypes: ReadonlySet<string>;
  /** The maximum size of a tenant's files and pending uploads; `undefined` is unlimited. */
  readonly tenantQuotaBytes: number | undefined;
  /** Whether files are scanned; if not, new files are `skipped`, and existing verdicts stay. */
  readonly scans: boolean;
  /** Whether files may be downloaded only once found clean. */
  readonly downloadRequiresCleanScan: boolean;
}
