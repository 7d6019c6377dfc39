import type { Readable } from 'node:stream';

/** Clean is said only on the scanner's own exact OK; everything that is neither is an error, with its reason. */
export type Verdict =
  | { readonly status: 'clean' }
  | { readonly status: 'infected'; readonly signature: string }
  | {
      readonly status: 'error';
      readonly reason: string;
      /** Another look would come to the same, until its signatures or settings change. */ readonly isFinal?: boolean;
    };

export interface ScannerVersion {
  readonly engine: string;
  /** Moves when signatures change: files that were clean under another one are scanned again. */
  readonly signatures: string;
  /** When the signatures were made, in milliseconds; `null` when the scanner does not say. */
  readonly signaturesAt: number | null;
}

/**
 * Looks for malware. No call throws for what a scanner does: a scanner that is down, silent or killed is an `error`
 * verdict.
 */
export interface Scanner {
  readonly provider: 'clamav' | 'none';
  /** Streams the bytes to the scanner in flat memory, under a deadline that grows with their number. */
  scan(content: Readable, about: { readonly sizeBytes: number; readonly signal?: AbortSignal }): Promise<Verdict>;
  /** `undefined` when it does not answer. */
  version(): Promise<ScannerVersion | undefined>;
  /** Whether it finds EICAR and refuses what passes its limits: what does not is no scanner to rely on. */
  selfTest(): Promise<readonly string[]>;
}
