import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { SCANNER_STATES } from '../../data-plane-agent/plane/files/scanner/scanner.js';
import { EDITIONS } from '../access/edition.js';

const STATES = ['up', 'down'] as const;

/** API document 2.18. */
export const HealthRecord = s.object(
  {
    status: s.enum(['ok', 'degraded']),
    edition: s.enum(EDITIONS),
    platformDb: s.enum(STATES),
    tenantDb: s.enum(STATES),
    scanner: s.enum(
      SCANNER_STATES,
      'The malware scanner of this process. `up`: it passes its self-test. `limited`: it passes, but its limits are too small for the largest files, which are not scanned. `untrusted`: it fails its self-test, so that no files are scanned. `down`: it does not answer, or has not answered yet. `off`: this process scans no files. It does not affect `status`.',
    ),
    time: s.instant(),
    isolate: s.text({ max: 64, about: 'The process that answered.' }),
  },
  { title: 'Health' },
);
export type HealthRecord = Static<typeof HealthRecord>;
