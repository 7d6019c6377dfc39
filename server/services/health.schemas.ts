import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { EDITIONS } from '../access/edition.js';

const STATES = ['up', 'down'] as const;

/** API document 2.18. */
export const HealthRecord = s.object(
  {
    status: s.enum(['ok', 'degraded']),
    edition: s.enum(EDITIONS),
    platformDb: s.enum(STATES),
    tenantDb: s.enum(STATES),
    time: s.instant(),
    isolate: s.text({ max: 64, about: 'The process that answered.' }),
  },
  { title: 'Health' },
);
export type HealthRecord = Static<typeof HealthRecord>;
