import type { Readable } from 'node:stream';

/** Clean requires the scanner's explicit OK. Any other outcome is an error with its reason. */
export type Verdict =
  | { readonly status: 'clean' }
  | { readonly status: 'infected'; readonly signature: string }
  | {
      readonly status: 'error';
      readonly reason: string;
      /** A repeated scan has the same result until signatures or settings change. */ readonly isFinal?: boolean;
    };

export interface ScannerVersion {
  readonly engine: string;
  /** Changes with the signatures: files found clean under other ones are scanned again. */
  readonly signatures: string;
  /** The date of the signatures in milliseconds; `null` if unknown. */
  readonly signaturesAt: number | null;
}

/** Scans for malware. Failures of the scanner are `error` verdicts and never thrown. */
export interface Scanner {
  readonly provider: 'clamav' | 'none';
  /** Streams the content to the scanner in constant memory, with a timeout that grows with its size. */
  scan(content: Readable, about: { readonly sizeBytes: number; readonly signal?: AbortSignal }): Promise<Verdict>;
  /** `undefined` when the scanner does not respond. */
  version(): Promise<ScannerVersion | undefined>;
  /** Checks that it finds EICAR and refuses content beyond its limits. Returns the faults found. */
  selfTest(): Promise<readonly string[]>;
}
