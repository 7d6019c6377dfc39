import type { FileRow } from '../../tables/files.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The delays between scans without a result; after the last, the file keeps its status and its error. */
const RETRIES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];

/** Files are scanned again after this time (in milliseconds), even if the scanner's signatures have not changed. */
export const LOOKED_AT_MS = 28 * 24 * HOUR_MS;

/** The result of a scan. */
export type Finding =
  | { readonly status: 'clean' }
  | { readonly status: 'infected'; readonly signature: string }
  /** `isFinal`: another scan would have the same result. */
  | {
      readonly status: 'error';
      readonly reason: string;
      readonly isFinal: boolean;
      /** The scanner did not get the file: this does not count, and the file is scanned as soon as it can be. */
      readonly isUnsent?: boolean;
    };

type ScanFields = Pick<
  FileRow,
  'scanStatus' | 'scannedAt' | 'scanSignature' | 'scanError' | 'scannedWith' | 'scanTries' | 'scanDueAt'
>;

export const NOT_SCANNED: ScanFields = {
  scanStatus: 'skipped',
  scannedAt: null,
  scanSignature: null,
  scanError: null,
  scannedWith: null,
  scanTries: 0,
  scanDueAt: null,
};

/** Waits for a scan, which is due at `dueAt` unless another worker has claimed it until then. */
export const waitingSince = (dueAt: number): ScanFields => ({
  ...NOT_SCANNED,
  scanStatus: 'pending',
  scanDueAt: dueAt,
});

/** The scan status of a file after a scan. A clean file stays clean when a later scan fails. */
export function scanned(
  before: ScanFields,
  finding: Finding,
  { now, signatures }: { readonly now: number; readonly signatures: string | null },
): ScanFields {
  if (finding.status === 'clean')
    return {
      scanStatus: 'clean',
      scannedAt: now,
      scanSignature: null,
      scanError: null,
      scannedWith: signatures,
      scanTries: 0,
      scanDueAt: null,
    };
  if (finding.status === 'infected')
    return {
      scanStatus: 'infected',
      scannedAt: now,
      scanSignature: finding.signature.slice(0, 500),
      scanError: null,
      scannedWith: signatures,
      scanTries: 0,
      scanDueAt: null,
    };
  if (finding.isUnsent === true)
    return {
      ...before,
      scanStatus: before.scanStatus === 'clean' ? 'clean' : 'error',
      scanError: finding.reason.slice(0, 500),
      scanDueAt: now,
    };
  const wait = finding.isFinal ? undefined : RETRIES_MS[before.scanTries];
  return {
    ...before,
    scanStatus: before.scanStatus === 'clean' ? 'clean' : 'error',
    scanError: finding.reason.slice(0, 500),
    // No more retries until the signatures change, which they also do when a broken scanner has been repaired.
    ...(wait === undefined ? { scannedWith: signatures } : {}),
    scanTries: wait === undefined ? 0 : before.scanTries + 1,
    scanDueAt: wait === undefined ? null : now + wait,
  };
}
