import { endpoint } from '../http/endpoint.js';
import { HealthRecord } from '../services/health.schemas.js';

const getHealth = endpoint('GET /health', {
  summary: 'Check the health of the service and its databases',
  description: 'Always answers 200; `status` is `degraded` if a database is unreachable.',
  needs: 'public',
  returns: HealthRecord,
  fails: [],
  run: ({ services }) => services.health.record(),
});

export const healthEndpoints = { getHealth };
