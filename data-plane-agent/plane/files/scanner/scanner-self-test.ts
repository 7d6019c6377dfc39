import { zipSync } from 'fflate';
import { askToScan, eicar, encrypted, nested, type Ask } from './clamd-questions.js';
import { clamdLines, clamdNeeds } from './clamd-settings.js';
import { measuredSizes, measuredStream, refuses } from './measured-limits.js';
import type { ScannerVersion, SelfTest } from './scanner.js';

/**
 * Tests a scanner's configuration. About a kilobyte is sent per check: EICAR, plain and archived; an archive beyond all
 * limits and an encrypted one, which must not be OK; and declared sizes, which show its limits. Limits that are too
 * small are no faults: content beyond them is known, and not reported as clean. Rejects if there is no answer.
 */
export async function selfTest({
  ask,
  fileMaxBytes,
}: {
  readonly ask: Ask;
  readonly fileMaxBytes: number;
}): Promise<SelfTest & { readonly isAnswered: true }> {
  const faults: string[] = [];
  const lines: string[] = [];
  const needs = clamdNeeds(fileMaxBytes);
  const needed = clamdLines(fileMaxBytes);

  const plain = await askToScan(ask, eicar());
  if (!isFound(plain)) faults.push(`the scanner does not find the EICAR test file: check its signatures (${plain})`);
  const packed = await askToScan(ask, zipSync({ 'eicar.com': eicar() }));
  if (!isFound(packed)) {
    faults.push(`the scanner does not find the EICAR test file in an archive: ScanArchive must be yes (${packed})`);
    if (isFound(plain)) lines.push('ScanArchive yes');
  }
  const alerts = !isOk(await askToScan(ask, nested()));
  if (!alerts) {
    faults.push('the scanner reports archives beyond its limits as clean: AlertExceedsMax must be yes');
    lines.push(needed.AlertExceedsMax);
  }
  if (isOk(await askToScan(ask, encrypted()))) {
    faults.push('the scanner reports encrypted files as clean: AlertEncrypted must be yes');
    lines.push(needed.AlertEncrypted);
  }
  const isBounded = await refuses(ask, 0xffff_ffff);
  if (!isBounded) faults.push('the scanner does not refuse a file of 4 GiB: StreamMaxLength must be set');
  const streamBytes = await measuredStream(ask, needs.streamBytes);
  if (!isBounded || streamBytes < needs.streamBytes) lines.push(needed.StreamMaxLength);
  // Without alerts the other limits are unknown: their lines are named to be complete.
  const sizes = alerts ? await measuredSizes(ask, needs) : { fileBytes: 0, scanBytes: 0 };
  if (sizes.fileBytes < needs.fileBytes) lines.push(needed.MaxFileSize);
  if (sizes.scanBytes < needs.scanBytes) lines.push(needed.MaxScanSize);
  return {
    isAnswered: true,
    faults,
    lines,
    limits: { fileBytes: Math.min(streamBytes, sizes.fileBytes, sizes.scanBytes), partBytes: sizes.fileBytes },
  };
}

/** The maximum age of signatures, which are normally updated several times a day. */
const STALE_MS = 7 * 86_400_000;

/** A warning for operators when the scanner's signatures are outdated. An unknown age is no warning. */
export function signatureWarning({ signaturesAt }: ScannerVersion, now: number): string | undefined {
  if (signaturesAt === null || now - signaturesAt <= STALE_MS) return undefined;
  return `the scanner's signatures are ${Math.floor((now - signaturesAt) / 86_400_000)} days old`;
}

const isOk = (answer: string): boolean => answer.endsWith(': OK');
const isFound = (answer: string): boolean => answer.endsWith(' FOUND') && !answer.includes('Heuristics.');
