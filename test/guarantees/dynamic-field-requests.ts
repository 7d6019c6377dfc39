import { randomBytes } from 'node:crypto';
import type { Organisation } from './organisations.js';

type Sample = { readonly body?: Readonly<Record<string, unknown>> };

/** Requests for custom fields; see `requests.ts`. */
export const DYNAMIC_FIELD_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /dynamic-fields': () => ({}),
  'POST /dynamic-fields/commands': (org) => ({
    body: { type: 'CreateField', payload: { name: `${org.marker} ${randomBytes(4).toString('hex')}`, type: 'text' } },
  }),
};
