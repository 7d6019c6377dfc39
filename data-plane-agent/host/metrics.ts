import type { Clock } from '../base/clock.js';
import { isUnavailable } from '../base/database/errors.js';
import type { Metrics } from '../base/http/metrics.js';
import type { Finding } from '../plane/domain/files/scans.js';
import type { HostedPlane } from './open-plane.js';

/** `unsent`: the scanner could not be reached or is not trusted, so it did not get the file. */
const VERDICTS = ['clean', 'infected', 'error', 'unsent'] as const;

/** What every program that hosts a plane measures of it. */
export function measurePlane(
  { counter, durations, reading }: Pick<Metrics, 'counter' | 'durations' | 'reading'>,
  {
    hosted: { files, scansDueSince },
    clock,
  }: {
    readonly hosted: {
      readonly files: Pick<HostedPlane['files'], 'observeScans'>;
      readonly scansDueSince: HostedPlane['scansDueSince'];
    };
    readonly clock: Clock;
  },
): void {
  const scans = counter({
    name: 'duebook_file_scans_total',
    help: 'Scans of files for malware by verdict: clean, infected, error, unsent.',
    label: 'verdict',
    values: VERDICTS,
  });
  const took = durations({
    name: 'duebook_file_scan_duration_seconds',
    help: 'Time from the start of the reading of a file to the verdict of the scan.',
    label: 'verdict',
  });
  files.observeScans((finding, seconds) => {
    const verdict = verdictOf(finding);
    scans(verdict);
    took(verdict, seconds);
  });
  reading({
    name: 'duebook_file_scans_oldest_seconds',
    help: 'How long the file that has waited the longest for a scan has been due; 0 if none waits.',
    read: async () => {
      try {
        const since = await scansDueSince();
        return since === null ? 0 : Math.max(0, clock.now() - since) / 1000;
      } catch (error) {
        // The probes report it; the other metrics must remain readable.
        if (isUnavailable(error)) return undefined;
        throw error;
      }
    },
  });
}

const verdictOf = (finding: Finding): (typeof VERDICTS)[number] =>
  finding.status === 'error' && finding.isUnsent === true ? 'unsent' : finding.status;
