import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Requests that the analytics endpoints carry out. */
export const ANALYTICS_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample>> = {
  'GET /analytics/summary': ({ subjectId }) => ({ query: { subjectId } }),
  'GET /analytics/cashflow': ({ subjectId }) => ({ query: { subjectId } }),
  'GET /analytics/distribution': ({ subjectId }) => ({ query: { subjectId } }),
};
