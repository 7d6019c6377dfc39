import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { check, type Check } from '../../base/command-line/check.js';
import { createLog } from '../../base/log.js';
import { createClamd } from '../../plane/files/scanner/clamd.js';
import { sizeText } from '../../plane/files/scanner/clamd-settings.js';
import { clamdFix, NO_SCANNER_FIX } from '../../plane/files/scanner/scanner-fixes.js';
import { signatureWarning } from '../../plane/files/scanner/scanner-self-test.js';
import type { HostSettings } from '../settings.js';

/** The scanner answers, finds EICAR, does not report unscanned content as clean, and has recent signatures. */
export async function scannerCheck(
  { fileScanMode, clamavUrl, fileMaxBytes }: Pick<HostSettings, 'fileScanMode' | 'clamavUrl' | 'fileMaxBytes'>,
  { clock }: { readonly clock: Clock },
): Promise<Check> {
  if (fileScanMode === 'off' || clamavUrl === undefined)
    return check.ok('scanner', 'off: files are not scanned for malware (FILE_SCAN_MODE)');
  const scanner = createClamd({ url: clamavUrl, fileMaxBytes, log: createLog({ level: 'silent', name: 'doctor' }) });
  const version = await scanner.version();
  if (!version) {
    const socket = /^unix:(.+)$/.exec(clamavUrl)?.[1];
    const problem =
      socket !== undefined && !existsSync(socket)
        ? `there is no socket ${socket}`
        : `${clamavUrl} does not answer like a clamd`;
    return check.fail('scanner', problem, NO_SCANNER_FIX);
  }
  const test = await scanner.selfTest();
  if (!test.isAnswered) return check.fail('scanner', test.reason, 'check the log of clamd, and restart it');
  const { faults, lines, limits } = test;
  if (faults.length > 0) return check.fail('scanner', `${clamavUrl}: ${faults.join('; ')}`, clamdFix(lines));
  if (lines.length > 0)
    return check.warn(
      'scanner',
      `${clamavUrl} scans files up to ${sizeText(limits.fileBytes)}, and archives whose files are up to ${sizeText(limits.partBytes)}; larger ones are accepted up to FILE_MAX_BYTES (${fileMaxBytes}), but not scanned`,
      clamdFix(lines),
    );
  const about = `clamd ${version.engine} at ${clamavUrl}`;
  if (version.signaturesAt === null)
    return check.warn(
      'scanner',
      `${about} finds EICAR, but does not report its official signatures`,
      'run freshclam to download them',
    );
  const old = signatureWarning(version, clock.now());
  return old === undefined
    ? check.ok('scanner', `${about}, signatures ${version.signatures}`)
    : check.warn('scanner', `${about}: ${old}`, 'check why freshclam does not update them');
}
