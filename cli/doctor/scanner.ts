import type { Clock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createClamd } from '../../data-plane-agent/plane/files/scanner/clamd.js';
import { sizeText } from '../../data-plane-agent/plane/files/scanner/clamd-settings.js';
import { signatureWarning } from '../../data-plane-agent/plane/files/scanner/scanner-self-test.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** The scanner answers, finds EICAR, does not report unscanned content as clean, and has recent signatures. */
export async function scannerCheck(
  { values: { fileScanMode, clamavUrl, fileMaxBytes, edition } }: Pick<LookedAt, 'values'>,
  { clock }: { readonly clock: Clock },
): Promise<Check> {
  if (edition === 'enterprise_hybrid') return check.ok('scanner', 'agents have the files scanned');
  if (fileScanMode === 'off' || clamavUrl === undefined)
    return check.ok('scanner', 'off: files are not scanned for malware (FILE_SCAN_MODE)');
  const scanner = createClamd({ url: clamavUrl, fileMaxBytes, log: createLog({ level: 'silent', name: 'doctor' }) });
  const version = await scanner.version();
  if (!version)
    return check.fail(
      'scanner',
      `${clamavUrl} does not answer like a clamd`,
      'check that clamd runs (it loads its signatures for about a minute first) and that CLAMAV_URL is correct and reachable from here',
    );
  const test = await scanner.selfTest();
  if (!test.isAnswered) return check.fail('scanner', test.reason, 'check the log of clamd, and restart it');
  const { faults, lines, limits } = test;
  if (faults.length > 0) return check.fail('scanner', `${clamavUrl}: ${faults.join('; ')}`, fixOf(lines));
  if (lines.length > 0)
    return check.warn(
      'scanner',
      `${clamavUrl} scans files up to ${sizeText(limits.fileBytes)}, and archives whose files are up to ${sizeText(limits.partBytes)}; larger ones are accepted up to FILE_MAX_BYTES (${fileMaxBytes}), but not scanned`,
      fixOf(lines),
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

/** The first case is EICAR that is not found although archives are scanned: its signatures are missing. */
const fixOf = (lines: readonly string[]): string =>
  lines.length === 0
    ? 'run freshclam to download the signatures, and restart clamd'
    : `set these lines in its clamd.conf (Debian: /etc/clamav/clamd.conf), in place of those with the same names, and restart it: ${lines.join('; ')} (see docs/scanner.md; docker/clamd.conf is a complete example)`;
