import { sendJson, type Page } from './pages.js';
import { frameworkBody, write } from './problems.js';

/** For the orchestrator: the process turns. Whether it may be sent requests is another question. */
export const livez: Page = { path: '/livez', answer: (ctx) => sendJson(ctx, { status: 'ok' }) };

/** For the load balancer: 503 while the process starts or drains, and without what it cannot do without. */
export const readyz = ({ ready }: { ready: () => Promise<boolean> }): Page => ({
  path: '/readyz',
  answer: async (ctx) => {
    if (await ready()) sendJson(ctx, { status: 'ok' });
    else write(ctx, { status: 503, headers: { 'Retry-After': '1' }, body: frameworkBody(503, 'Not ready') });
  },
});
