import type { Clock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createClamd } from '../../data-plane-agent/plane/files/scanner/clamd.js';
import { signatureWarning } from '../../data-plane-agent/plane/files/scanner/scanner-self-test.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/**
 * The scanner answers, finds EICAR, calls nothing clean that it has not looked into, and has signatures of these days.
 */
export async function scannerCheck(
  { values: { fileScanMode, clamavUrl, fileMaxBytes, edition } }: Pick<LookedAt, 'values'>,
  { clock }: { readonly clock: Clock },
): Promise<Check> {
  if (edition === 'enterprise_hybrid') return check.ok('scanner', 'agents have the files scanned');
  if (fileScanMode === 'off' || clamavUrl === undefined)
    return check.ok('scanner', 'off: nothing looks for malware in files (FILE_SCAN_MODE)');
  const scanner = createClamd({ url: clamavUrl, fileMaxBytes, log: createLog({ level: 'silent', name: 'doctor' }) });
  const version = await scanner.version();
  if (!version)
    return check.fail(
      'scanner',
      `${clamavUrl} does not answer as a clamd does`,
      'look whether clamd runs (it loads its signatures for a minute first) and CLAMAV_URL is right and can be reached from here',
    );
  const faults = await scanner.selfTest();
  if (faults.length > 0)
    return check.fail(
      'scanner',
      `${clamavUrl}: ${faults.join('; ')}`,
      'set clamd up as docker/clamd.conf does, and start it anew',
    );
  const about = `clamd ${version.engine} at ${clamavUrl}`;
  if (version.signaturesAt === null)
    return check.warn(
      'scanner',
      `${about} finds EICAR, and does not say what official signatures it has`,
      'let freshclam fetch them',
    );
  const old = signatureWarning(version, clock.now());
  return old === undefined
    ? check.ok('scanner', `${about}, signatures ${version.signatures}`)
    : check.warn('scanner', `${about}: ${old}`, 'look why freshclam does not renew them');
}
