import { OPERATOR, PASSWORD, uniqueSlug } from '../support/accounts.js';
import type { Answer, Client, RequestOptions } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { EXTRACTION_REQUESTS } from './extraction-requests.js';
import { FILE_REQUESTS } from './file-requests.js';
import { EXPORT_REQUESTS } from './export-requests.js';
import { ANALYTICS_REQUESTS } from './analytics-requests.js';
import { AUTH_REQUESTS } from './auth-requests.js';
import { DYNAMIC_FIELD_REQUESTS } from './dynamic-field-requests.js';
import { CALENDAR_REQUESTS } from './calendar-requests.js';
import { CONTRACT_REQUESTS } from './contract-requests.js';
import { COLLECTION_REQUESTS } from './collection-requests.js';
import { CONTRACT_IMPORT_REQUESTS } from './contract-import-requests.js';
import type { Organisation } from './organisations.js';
import { INVITATION_REQUESTS } from './invitation-requests.js';
import { INVOICE_TASK_REQUESTS } from './invoice-task-requests.js';
import { LIFECYCLE_REQUESTS } from './lifecycle-requests.js';
import { PASSKEY_REQUESTS } from './passkey-requests.js';
import { SAVED_VIEW_REQUESTS } from './saved-view-requests.js';
import { SSO_REQUESTS } from './sso-requests.js';
import { TENANT_ADMIN_REQUESTS } from './tenant-admin-requests.js';

/** A request that succeeds. */
export interface Sample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * For each route a request that succeeds when the organisation's owner sends it, with records created for it. The
 * guarantee tests derive their requests from these, and fail for endpoints without one. No body requires the permission
 * of a second module.
 */
export const REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /auth/register': () => ({ body: account() }),
  'POST /auth/redeem': async ({ server }) => ({ body: { ...account(), code: await redeemCode(server.services) } }),
  'POST /auth/login': ({ tenant, owner }) => ({
    body: { tenantSlug: tenant.slug, email: owner.email, password: PASSWORD },
  }),
  'POST /auth/refresh': async ({ server, tenant, owner }) => {
    const { body } = await server.client.post<{ refreshToken: string }>('/auth/login', {
      tenantSlug: tenant.slug,
      email: owner.email,
      password: PASSWORD,
    });
    return { body: { refreshToken: body.refreshToken } };
  },
  'POST /auth/logout': () => ({}),
  'GET /auth/me': () => ({}),
  ...AUTH_REQUESTS,
  ...PASSKEY_REQUESTS,
  ...SSO_REQUESTS,
  ...INVITATION_REQUESTS,
  'GET /health': () => ({}),
  'GET /audit': ({ owner }) => ({
    query: { actor: owner.id, action: 'login_succeeded', from: '2026-01-01', pageSize: '5' },
  }),

  ...TENANT_ADMIN_REQUESTS,
  ...DYNAMIC_FIELD_REQUESTS,
  ...CALENDAR_REQUESTS,

  ...CONTRACT_REQUESTS,
  ...CONTRACT_IMPORT_REQUESTS,

  'GET /contracts': (org) => ({ query: { subjectId: org.subjectId, ownerId: org.owner.id, q: org.marker } }),
  'GET /contracts/:id': async (org) => ({ params: { id: (await contract(org)).id } }),
  'POST /contracts': (org) => ({ body: contractBody(org) }),
  'PATCH /contracts/:id': async (org) => ({
    params: { id: (await contract(org)).id },
    body: { projectName: `${org.marker} renamed` },
  }),
  'DELETE /contracts/:id': async (org) => ({ params: { id: (await contract(org)).id } }),
  'POST /contracts/:id/payments': async (org) => ({ params: { id: (await contract(org)).id }, body: { ...aLine() } }),

  ...FILE_REQUESTS,
  ...EXPORT_REQUESTS,
  ...SAVED_VIEW_REQUESTS,
  ...EXTRACTION_REQUESTS,
  ...LIFECYCLE_REQUESTS,
  ...INVOICE_TASK_REQUESTS,

  'GET /payments': async (org) => ({
    query: { tab: 'all', contractId: (await contract(org)).id, subjectId: org.subjectId },
  }),
  'GET /payments/stats': () => ({}),
  ...ANALYTICS_REQUESTS,
  ...COLLECTION_REQUESTS,
  'POST /ai-gateway/inspect': () => ({
    body: { provider: 'openai', model: 'gpt-5-mini', purpose: 'summary', input: 'Summarise the contract.' },
  }),
  'PATCH /payments/:paymentId': async (org) => ({ params: { paymentId: await line(org) }, body: { amount: 1_200 } }),
  'DELETE /payments/:paymentId': async (org) => ({ params: { paymentId: await line(org) } }),
  'GET /payments/:paymentId/receipts': async (org) => ({ params: { paymentId: await line(org) } }),
  'POST /payments/:paymentId/receipts': async (org) => ({
    params: { paymentId: await line(org) },
    body: { amount: 5, receivedDate: '2026-03-01', bankSerialNo: 'T-5' },
  }),
  'PATCH /payments/:paymentId/receipt': async (org) => ({
    params: { paymentId: await line(org) },
    body: { receivedAmount: 400, payerName: org.marker },
  }),
  'PATCH /payments/:paymentId/invoice': async (org) => ({
    params: { paymentId: await line(org) },
    body: { invoiceAmount: 400, invoiceNo: `${org.marker}-line-${++invoiced}` },
  }),
};

/** Invoice numbers must be unique. */
let invoiced = 0;

/** Sends it as that client; `options` go to the client, `sample` may be changed on the way. */
export function send<T = unknown>(
  client: Client,
  route: string,
  sample: Sample,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(sample.params?.[name] ?? name));
  const more: RequestOptions = {
    ...(sample.query ? { query: sample.query } : {}),
    ...options,
    ...(sample.headers ? { headers: { ...sample.headers, ...options.headers } } : {}),
  };
  switch (method) {
    case 'GET':
      return client.get<T>(path, { ...more, body: sample.body });
    case 'POST':
      return client.post<T>(path, sample.body, more);
    case 'PUT':
      return client.put<T>(path, sample.body, more);
    case 'PATCH':
      return client.patch<T>(path, sample.body, more);
    case 'DELETE':
      return client.delete<T>(path, sample.body, more);
    default:
      throw new Error(`no client method for ${route}`);
  }
}

export async function sampleOf(route: string, org: Organisation): Promise<Sample> {
  const make = REQUESTS[route];
  if (!make) throw new Error(`give ${route} a request of its own in test/guarantees/requests.ts`);
  return make(org);
}

const account = () => ({
  tenantName: 'Acme Leasing',
  tenantSlug: uniqueSlug(),
  adminName: 'Ann Admin',
  email: 'ann@acme.test',
  password: PASSWORD,
});

async function redeemCode({ codes }: Organisation['server']['services']): Promise<string> {
  const [issued] = await codes.issue({ planCode: 'business', count: 1, expiresAt: null }, OPERATOR);
  if (issued === undefined) throw new Error('no code was issued');
  return issued.code;
}

const contractBody = (org: Organisation) => ({
  ...aContract({
    subjectId: org.subjectId,
    ownerId: org.owner.id,
    projectName: org.marker,
    payments: [aLine()],
    terms: [{ kind: 'deposit', title: 'Deposit', note: 'Ten percent' }],
    extraNotes: [{ label: 'Gate', value: '4' }],
  }),
});

async function contract(org: Organisation): Promise<{ id: string; payments: { id: string }[] }> {
  const { status, body, text } = await org.client.post<{ id: string; payments: { id: string }[] }>(
    '/contracts',
    contractBody(org),
  );
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return body;
}

async function line(org: Organisation): Promise<string> {
  const { payments } = await contract(org);
  return payments[0]?.id ?? '';
}
