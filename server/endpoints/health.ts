import { endpoint } from '../http/endpoint.js';
import { HealthRecord } from '../services/health.schemas.js';

const getHealth = endpoint('GET /health', {
  summary: 'Ask whether the service and its databases are up',
  description: 'Always answers 200; `status` is `degraded` when a database cannot be reached.',
  needs: 'public',
  returns: HealthRecord,
  fails: [],
  run: ({ services }) => services.health.record(),
});

export const healthEndpoints = { getHealth };
