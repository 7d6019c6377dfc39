/** What the operator can do if the scanner does not answer; for the log and for `duebook doctor`. */
export const NO_SCANNER_FIX =
  'check that clamd runs (it loads its signatures for about a minute first) and that CLAMAV_URL is correct and reachable from here';

/**
 * The fix for a self-test that found faults or too small limits. `lines` are those that `clamd.conf` lacks; if there
 * are none, EICAR was not found although archives are scanned, so the signatures are missing.
 */
export const clamdFix = (lines: readonly string[]): string =>
  lines.length === 0
    ? 'run freshclam to download the signatures, and restart clamd'
    : `set these lines in its clamd.conf (Debian: /etc/clamav/clamd.conf), in place of those with the same names, and restart it: ${lines.join('; ')} (see docs/scanner.md; docker/clamd.conf is a complete example)`;
