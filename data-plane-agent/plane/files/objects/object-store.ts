import type { Readable } from 'node:stream';

/** A stored object. `etag` changes with the content only. */
export interface StoredObject extends ListedObject {
  readonly etag: string;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface UploadUrl {
  readonly url: string;
  /** The headers that the client must send exactly. `Content-Length` is added by HTTP clients. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Stores file contents, in the file system or on an S3 server. Clients access it by signed URLs only; keys are
 * generated here and contain no client data. Every call has a timeout and rejects with an `ObjectStoreError`.
 */
export interface ObjectStore {
  readonly provider: 'filesystem' | 's3';
  /** Returned to clients, who send it back on confirmation. */
  readonly bucket: string;
  /**
   * A URL for one PUT of exactly `sizeBytes` bytes of `contentType` to `key`, until `expiresAt` (milliseconds). It
   * stays valid after an upload: content that must not change is copied to a key without such a URL.
   */
  uploadUrl(upload: {
    readonly key: string;
    readonly contentType: string;
    readonly sizeBytes: number;
    readonly expiresAt: number;
  }): Promise<UploadUrl>;
  /** A URL that downloads one object as an attachment named `fileName`, until `expiresAt` (milliseconds). */
  downloadUrl(download: {
    readonly key: string;
    readonly fileName: string;
    readonly contentType: string;
    readonly expiresAt: number;
  }): Promise<string>;
  head(key: string): Promise<StoredObject | undefined>;
  /**
   * Streams one version of an object, or returns `undefined` if it is missing; rejects unless it has `sizeBytes` bytes.
   * Aborting the signal ends the stream with an error. `part` limits it to some of the bytes, `end` exclusive.
   */
  read(
    key: string,
    version: {
      readonly sizeBytes: number;
      readonly signal: AbortSignal;
      readonly part?: { readonly start: number; readonly end: number } | undefined;
    },
  ): Promise<Readable | undefined>;
  /**
   * Replaces an object atomically with exactly `sizeBytes` bytes. Errors of the content are rethrown unchanged; another
   * length rejects with a `WrongLengthError`.
   */
  write(
    key: string,
    content: Readable,
    about: { readonly sizeBytes: number; readonly contentType: string },
  ): Promise<StoredObject>;
  /** Copies `from` to `to` if `from` exists with that entity tag; otherwise returns `undefined`. */
  copy(from: string, to: string, ifMatch: string): Promise<StoredObject | undefined>;
  /** Succeeds also if the object does not exist. */
  remove(key: string): Promise<void>;
  /**
   * All objects under a prefix that ends with `/`, or all for an empty one, in no defined order. Pages are fetched on
   * demand.
   */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Removes files of writes interrupted at least an hour ago. Called by a schedule. */
  tidy(): Promise<void>;
  /**
   * Puts, reads, lists, copies and removes a probe object, and returns the steps that failed. Creates a missing bucket
   * or directory unless `makes` is false. Never rejects.
   */
  probe(how?: { readonly makes: boolean }): Promise<readonly StoreFault[]>;
  close(): Promise<void>;
}

/** A failed step of the probe, with the missing permission or other cause. */
export interface StoreFault {
  readonly step:
    | 'reach'
    | 'credentials'
    | 'region'
    | 'host'
    | 'bucket'
    | 'private'
    | 'put'
    | 'get'
    | 'list'
    | 'copy'
    | 'delete'
    | 'clock';
  /** For operators: the finding. */
  readonly problem: string;
  /** For operators: what to grant or correct. */
  readonly fix: string;
  /** The bucket does not exist, and was not to be created. */
  readonly isYetToBe?: boolean;
  /** Of a clock: requests are refused because of it, so the remaining steps were not taken. */
  readonly endsProbe?: boolean;
}

/** `unavailable`: unreachable or timed out; `denied`: the credentials lack permission. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  readonly code: 'unavailable' | 'denied';

  constructor(code: 'unavailable' | 'denied', message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The content has more or fewer bytes than declared. */
export class WrongLengthError extends Error {
  override readonly name = 'WrongLengthError';

  constructor(readonly found: 'longer' | 'shorter') {
    super(`the content is ${found} than declared`);
  }
}

/**
 * The expiry of a link or token after `ms`, in milliseconds. Rounded down to a second, the resolution of signatures, so
 * that the reported time is exact.
 */
export const endOfLink = (now: number, ms: number): number => Math.floor((now + ms) / 1_000) * 1_000;

/** The areas of a store. Clients may write only to the first; infected files are moved to the last. */
export const uploadKey = (tenantId: string, fileId: string): string => `uploads/${tenantId}/${fileId}`;
export const fileKey = (tenantId: string, fileId: string, day: string): string =>
  `tenants/${tenantId}/${day.slice(0, 4)}/${day.slice(5, 7)}/${fileId}`;
/** The key of a confirmation that takes over from one that may still be running, so that they do not interfere. */
export const fileKeyAgain = (key: string, attempt: number): string => `${key}.${attempt.toString(36)}`;
export const quarantineKey = (tenantId: string, fileId: string): string => `quarantine/${tenantId}/${fileId}`;
