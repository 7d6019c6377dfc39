import { sendJson, type Page } from './pages.js';
import { frameworkBody, write } from './problems.js';

/** Liveness, for the orchestrator: the process runs, whether or not it is ready for requests. */
export const livez: Page = { path: '/livez', answer: (ctx) => sendJson(ctx, { status: 'ok' }) };

/** Readiness, for the load balancer: 503 during startup and shutdown, and while a required dependency is missing. */
export const readyz = ({ ready }: { ready: () => Promise<boolean> }): Page => ({
  path: '/readyz',
  answer: async (ctx) => {
    if (await ready()) sendJson(ctx, { status: 'ok' });
    else write(ctx, { status: 503, headers: { 'Retry-After': '1' }, body: frameworkBody(503, 'Not ready') });
  },
});
