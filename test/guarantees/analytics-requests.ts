import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Valid requests for the analytics endpoints. */
export const ANALYTICS_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample>> = {
  'GET /analytics/summary': ({ subjectId }) => ({ query: { subjectId } }),
  'GET /analytics/cashflow': ({ subjectId }) => ({ query: { subjectId } }),
  'GET /analytics/distribution': ({ subjectId }) => ({ query: { subjectId } }),
};
