import { endpoint } from '../http/endpoint.js';
import { HealthRecord } from '../services/health.schemas.js';

const getHealth = endpoint('GET /health', {
  summary: 'Check the health of the service, its databases and its scanner',
  description:
    'Always answers 200; `status` is `degraded` if a database is unreachable. Without a scanner that can be trusted, uploads are accepted and wait: `scanner` says so, and `duebook doctor` why.',
  needs: 'public',
  returns: HealthRecord,
  fails: [],
  run: ({ services }) => services.health.record(),
});

export const healthEndpoints = { getHealth };
