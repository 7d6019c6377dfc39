import type { ObjectStore } from './objects/object-store.js';
import type { Scanner } from './scanner/scanner.js';
import type { DocumentReader } from './text/document-text.js';
import type { UploadTokens } from './upload-tokens.js';

/** What files need beside the database. */
export interface FileServices {
  readonly objects: ObjectStore;
  readonly scanner: Scanner;
  readonly documents: DocumentReader;
  readonly tokens: UploadTokens;
  readonly policy: FilePolicy;
}

/** What the installation lets in and out. */
export interface FilePolicy {
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Media types, lower-case, without parameters. */
  readonly contentTypes: ReadonlySet<string>;
  /** Bytes of all of a tenant's files, and of what is being uploaded; `undefined` is no limit. */
  readonly tenantQuotaBytes: number | undefined;
  /** Whether files are scanned; where they are not, new ones are `skipped`, and old verdicts stay. */
  readonly scans: boolean;
  /** Whether a file that waits for the scanner, or could not be scanned, stays here. */
  readonly downloadRequiresCleanScan: boolean;
}
