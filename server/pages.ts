import { sendJson, type Page } from '../data-plane-agent/base/http/pages.js';

/** The public keys to verify access tokens. */
export const keySet = ({ jwks }: { jwks: () => Promise<object> }): Page => ({
  path: '/.well-known/jwks.json',
  answer: async (ctx) => {
    const keys = await jwks();
    ctx.set('Cache-Control', 'public, max-age=300');
    sendJson(ctx, keys);
  },
});
