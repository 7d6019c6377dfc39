import { fail } from '../../../base/failures.js';
import type { FilePolicy } from '../../files/services.js';
import type { FileRow } from '../../tables/files.js';

/**
 * Refuses infected files, and files not found clean if the policy demands it. Files skipped while there was no scanner
 * are pending once there is one.
 */
export function checkScan(
  { scanStatus, scanSignature }: Pick<FileRow, 'scanStatus' | 'scanSignature'>,
  { scans, downloadRequiresCleanScan }: FilePolicy,
): void {
  if (scanStatus === 'infected') throw fail('FILE_INFECTED', { signature: scanSignature ?? '' });
  if (scanStatus === 'clean' || (scanStatus === 'skipped' && !scans)) return;
  if (downloadRequiresCleanScan || scanStatus === 'skipped') throw fail('FILE_SCAN_PENDING', { scanStatus });
}
