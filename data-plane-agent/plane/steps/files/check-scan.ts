import { fail } from '../../../base/failures.js';
import type { FilePolicy } from '../../files/services.js';
import type { FileRow } from '../../tables/files.js';

/**
 * Refuses what is infected always, and what was not found clean where only clean files are given out. What was passed
 * over while nothing was scanned waits for its scan once there is a scanner.
 */
export function checkScan(
  { scanStatus, scanSignature }: Pick<FileRow, 'scanStatus' | 'scanSignature'>,
  { scans, downloadRequiresCleanScan }: FilePolicy,
): void {
  if (scanStatus === 'infected') throw fail('FILE_INFECTED', { signature: scanSignature ?? '' });
  if (scanStatus === 'clean' || (scanStatus === 'skipped' && !scans)) return;
  if (downloadRequiresCleanScan || scanStatus === 'skipped') throw fail('FILE_SCAN_PENDING', { scanStatus });
}
