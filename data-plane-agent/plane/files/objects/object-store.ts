import type { Readable } from 'node:stream';

/** What a store knows of an object. `etag` changes with the bytes, and with nothing else. */
export interface StoredObject extends ListedObject {
  readonly etag: string;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Milliseconds. */
  readonly modifiedAt: number;
}

export interface UploadUrl {
  readonly url: string;
  /** What the client must send with its PUT, to the letter, and nothing less. `Content-Length` is sent by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Where the bytes of files are: the file system or an S3 store. Clients reach it by signed URLs alone; keys are made
 * here and hold nothing of a client's. Every call has a deadline and rejects with an `ObjectStoreError`.
 */
export interface ObjectStore {
  readonly provider: 'filesystem' | 's3';
  /** Told to clients, who send it back at confirm. */
  readonly bucket: string;
  /**
   * One PUT of exactly `sizeBytes` bytes of `contentType` to `key`, until `expiresAt` (milliseconds). The URL stays
   * good until then, also after an upload: what is to stay as it was found is copied to a key that no client may write,
   * and read there.
   */
  uploadUrl(upload: {
    readonly key: string;
    readonly contentType: string;
    readonly sizeBytes: number;
    readonly expiresAt: number;
  }): Promise<UploadUrl>;
  /** One object as an attachment called `fileName`, until `expiresAt` (milliseconds). */
  downloadUrl(download: {
    readonly key: string;
    readonly fileName: string;
    readonly contentType: string;
    readonly expiresAt: number;
  }): Promise<string>;
  head(key: string): Promise<StoredObject | undefined>;
  /**
   * The `sizeBytes` bytes of one version as they come, `undefined` when there are none; rejects when it has more or
   * fewer. Aborting the signal ends the stream with an error.
   */
  read(
    key: string,
    version: { readonly sizeBytes: number; readonly signal: AbortSignal },
  ): Promise<Readable | undefined>;
  /**
   * Replaces what is there with exactly `sizeBytes` bytes, or changes nothing: content that fails leaves no trace and
   * rejects with its own error, content of another length with a `WrongLengthError`.
   */
  write(
    key: string,
    content: Readable,
    about: { readonly sizeBytes: number; readonly contentType: string },
  ): Promise<StoredObject>;
  /** Copies `from` to `to` if `from` is there and still has that etag; else nothing, and `undefined`. */
  copy(from: string, to: string, ifMatch: string): Promise<StoredObject | undefined>;
  /** An object that is not there is removed. */
  remove(key: string): Promise<void>;
  /**
   * All objects under a prefix that ends at a `/`, or all, in no order that counts; pages are fetched as they are asked
   * for.
   */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Removes what writes that broke off left behind an hour ago or more. For a schedule. */
  tidy(): Promise<void>;
  /**
   * Puts, reads, lists, copies and removes a probe object, and says which of it is not allowed. Makes a bucket or
   * folder that is not there, unless told not to. Never rejects.
   */
  probe(how?: { readonly makes: boolean }): Promise<readonly StoreFault[]>;
  close(): Promise<void>;
}

/** A step of the probe that failed, with the permission that is missing, or what else is in the way. */
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
  /** For an operator: what was found. */
  readonly problem: string;
  /** For an operator: what to grant or mend. */
  readonly fix: string;
  /** The bucket answers that it is not there, and was not to be made. */
  readonly isYetToBe?: boolean;
}

/** `unavailable`: not reached, or not in time; `denied`: the credentials do not allow it. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  readonly code: 'unavailable' | 'denied';

  constructor(code: 'unavailable' | 'denied', message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What was to be written has more or fewer bytes than was said. */
export class WrongLengthError extends Error {
  override readonly name = 'WrongLengthError';

  constructor(readonly found: 'longer' | 'shorter') {
    super(`the content is ${found} than announced`);
  }
}

/**
 * When a link or token ends that is good for `ms` from now on, in milliseconds: a whole second, since signatures know
 * no others, and what is told is to hold.
 */
export const endOfLink = (now: number, ms: number): number => Math.floor((now + ms) / 1_000) * 1_000;

/** Areas of a store. Clients may write to the first alone; what was found infected is moved to the last. */
export const uploadKey = (tenantId: string, fileId: string): string => `uploads/${tenantId}/${fileId}`;
export const fileKey = (tenantId: string, fileId: string, day: string): string =>
  `tenants/${tenantId}/${day.slice(0, 4)}/${day.slice(5, 7)}/${fileId}`;
/**
 * For a confirmation that takes over from one of which nobody knows whether it has ended: whatever that does yet, it
 * does elsewhere.
 */
export const fileKeyAgain = (key: string, attempt: number): string => `${key}.${attempt.toString(36)}`;
export const quarantineKey = (tenantId: string, fileId: string): string => `quarantine/${tenantId}/${fileId}`;
