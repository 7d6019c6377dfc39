import type { Readable } from 'node:stream';

/** Clean requires the scanner's explicit OK. Any other outcome is an error with its reason. */
export type Verdict =
  | { readonly status: 'clean' }
  | { readonly status: 'infected'; readonly signature: string }
  | {
      readonly status: 'error';
      readonly reason: string;
      /** A repeated scan has the same result until signatures or settings change. */ readonly isFinal?: boolean;
      /** The content was not sent, as the scanner is unreachable or not trusted: this was no attempt. */
      readonly isUnsent?: boolean;
    };

export interface ScannerVersion {
  readonly engine: string;
  /** Changes with the signatures: files found clean under other ones are scanned again. */
  readonly signatures: string;
  /** The date of the signatures in milliseconds; `null` if unknown. */
  readonly signaturesAt: number | null;
}

/** What the scanner inspects completely, according to its self-test. */
export interface ScanLimits {
  /** The largest file. */
  readonly fileBytes: number;
  /** The largest file within an archive. */
  readonly partBytes: number;
}

/** The result of a self-test. */
export type SelfTest =
  | {
      readonly isAnswered: false;
      /** Why there is no answer, as a sentence. */
      readonly reason: string;
      /** No connection was established. */
      readonly isUnreachable: boolean;
    }
  | {
      readonly isAnswered: true;
      /** Why its verdicts cannot be trusted; empty if they can, up to its limits. */
      readonly faults: readonly string[];
      readonly limits: ScanLimits;
      /** The lines that its configuration file lacks, both for the faults and for limits that are too small. */
      readonly lines: readonly string[];
    };

/**
 * `up`: passes its self-test; `limited`: passes it, but its limits are too small for the largest files; `untrusted`:
 * fails it, so that no files are scanned; `down`: does not answer, or has not been tested yet; `off`: there is none.
 */
export const SCANNER_STATES = ['up', 'limited', 'untrusted', 'down', 'off'] as const;
export type ScannerState = (typeof SCANNER_STATES)[number];

/** Scans for malware. Failures of the scanner are `error` verdicts and never thrown. */
export interface Scanner {
  readonly provider: 'clamav' | 'none';
  /** Streams the content to the scanner in constant memory, with a timeout that grows with its size. */
  scan(content: Readable, about: { readonly sizeBytes: number; readonly signal?: AbortSignal }): Promise<Verdict>;
  /** `undefined` when the scanner does not respond. */
  version(): Promise<ScannerVersion | undefined>;
  /** Checks that it finds EICAR and does not report content beyond its limits as clean. Never rejects. */
  selfTest(signal?: AbortSignal): Promise<SelfTest>;
}

/** A scanner that is used only as far as it passes its self-test. */
export interface TrustedScanner extends Omit<Scanner, 'selfTest'> {
  /** The latest self-test, which is repeated if it is old or had no answer. */
  trust(): Promise<SelfTest>;
  /** According to what is known; asks nothing. */
  state(): ScannerState;
  /** Of the latest self-test that had an answer. */
  limits(): ScanLimits;
  /** Ends a running self-test. */
  close(): void;
}

/** Whether files may be sent to the scanner. If it accepts connections and is silent, only a scan can tell. */
export const mayScan = (test: SelfTest): boolean => (test.isAnswered ? test.faults.length === 0 : !test.isUnreachable);

export const UNLIMITED: ScanLimits = { fileBytes: Number.POSITIVE_INFINITY, partBytes: Number.POSITIVE_INFINITY };
