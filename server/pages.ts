import { JSON_TYPE, frameworkBody, write } from '../data-plane-agent/base/http/problems.js';
import type { HttpContext } from '../data-plane-agent/base/http/exchange.js';
import type { Page } from '../data-plane-agent/base/http/pages.js';

/** For the orchestrator: the process turns. Whether it may be sent requests is another question. */
export const livez: Page = { path: '/livez', answer: (ctx) => send(ctx, { status: 'ok' }) };

/** For the load balancer: 503 while starting, migrating or draining, and without the platform database. */
export const readyz = ({ ready }: { ready: () => Promise<boolean> }): Page => ({
  path: '/readyz',
  answer: async (ctx) => {
    if (await ready()) send(ctx, { status: 'ok' });
    else write(ctx, { status: 503, headers: { 'Retry-After': '1' }, body: frameworkBody(503, 'Not ready') });
  },
});

/** The public keys of access tokens, for whoever wants to verify one. */
export const keySet = ({ jwks }: { jwks: () => Promise<object> }): Page => ({
  path: '/.well-known/jwks.json',
  answer: async (ctx) => {
    const keys = await jwks();
    ctx.set('Cache-Control', 'public, max-age=300');
    send(ctx, keys);
  },
});

function send(ctx: HttpContext, body: object): void {
  ctx.status = 200;
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(body);
}
