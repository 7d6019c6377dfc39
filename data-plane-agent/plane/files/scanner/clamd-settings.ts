import { ARCHIVE_LIMITS } from '../archives/archive-limits.js';

const MIB = 2 ** 20;

/** clamd scans no larger files, whatever its settings (tested with 1.4.6). */
export const CLAMD_MAX_BYTES = 2 ** 31 - 3;

/** What must be within clamd's limits, so that it inspects every file that is accepted. */
export interface ClamdNeeds {
  /** StreamMaxLength: the largest file. */
  readonly streamBytes: number;
  /** MaxFileSize: also the largest file within an archive. */
  readonly fileBytes: number;
  /** MaxScanSize: the largest file and its contents together. */
  readonly scanBytes: number;
}

export function clamdNeeds(fileMaxBytes: number): ClamdNeeds {
  const streamBytes = Math.min(fileMaxBytes, CLAMD_MAX_BYTES);
  const fileBytes = Math.max(streamBytes, ARCHIVE_LIMITS.unpackedBytes);
  return { streamBytes, fileBytes, scanBytes: Math.min(streamBytes + ARCHIVE_LIMITS.unpackedBytes, CLAMD_MAX_BYTES) };
}

/** The lines of clamd.conf, by the name of the setting. */
export type ClamdLines = Readonly<
  Record<'AlertExceedsMax' | 'AlertEncrypted' | 'StreamMaxLength' | 'MaxFileSize' | 'MaxScanSize', string>
>;

/**
 * The lines that clamd.conf needs for files of this size. Contents count again towards MaxScanSize in each form that
 * they are converted to for scanning, hence four times MaxFileSize.
 */
export function clamdLines(fileMaxBytes: number): ClamdLines {
  const fileMib = Math.ceil(clamdNeeds(fileMaxBytes).streamBytes / MIB);
  const maxFileMib = Math.min(Math.max(256, fileMib + 1), 2048);
  return {
    AlertExceedsMax: 'AlertExceedsMax yes',
    AlertEncrypted: 'AlertEncrypted yes',
    StreamMaxLength: `StreamMaxLength ${fileMib + 1}M`,
    MaxFileSize: `MaxFileSize ${maxFileMib}M`,
    MaxScanSize: `MaxScanSize ${4 * maxFileMib}M`,
  };
}

/** A size for operators: exact, and in MiB if that is shorter to read. */
export const sizeText = (bytes: number): string =>
  bytes >= MIB ? `${bytes} bytes (${Math.floor((bytes / MIB) * 10) / 10} MiB)` : `${bytes} bytes`;
