import type { FileRow } from '../../tables/files.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** After a scan that gave no verdict; when all have passed, the file stays as it is and says so. */
const RETRIES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];

/**
 * What was looked at longer ago is looked at again, whether or not the scanner says that its signatures have changed.
 */
export const LOOKED_AT_MS = 28 * 24 * HOUR_MS;

/** What a look at the bytes came to. */
export type Finding =
  | { readonly status: 'clean' }
  | { readonly status: 'infected'; readonly signature: string }
  /** `isFinal`: another look would find the same. */
  | { readonly status: 'error'; readonly reason: string; readonly isFinal: boolean };

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

/** Waits for the scanner, or for whoever has begun to scan it until then. */
export const waitingSince = (dueAt: number): ScanFields => ({
  ...NOT_SCANNED,
  scanStatus: 'pending',
  scanDueAt: dueAt,
});

/**
 * How a file stands after a scan. A clean one that could not be scanned again stays clean: what was found out once is
 * not unlearned by a scanner that is down.
 */
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
  const wait = finding.isFinal ? undefined : RETRIES_MS[before.scanTries];
  return {
    ...before,
    scanStatus: before.scanStatus === 'clean' ? 'clean' : 'error',
    scanError: finding.reason.slice(0, 500),
    // Given up on until the next signatures, which come with a scanner that has been mended, too.
    ...(wait === undefined ? { scannedWith: signatures } : {}),
    scanTries: wait === undefined ? 0 : before.scanTries + 1,
    scanDueAt: wait === undefined ? null : now + wait,
  };
}
