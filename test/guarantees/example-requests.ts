import { createHash } from 'node:crypto';
import { codeOf } from '../support/authenticator-app.js';
import { PASSWORD } from '../support/accounts.js';
import { pushOfOneContract } from './calendar-requests.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** The day on which the examples are recorded. */
export const RECORDED_AT = Date.parse('2026-03-16T02:00:00.000Z');

type Requests = Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>>;

/**
 * Requests on the demo data that the reference shows as examples. For other endpoints the request of `requests.ts` is
 * used, which succeeds too but is less realistic.
 */
export const EXAMPLE_REQUESTS: Requests = {
  'GET /contracts': () => ({ query: { overdue: 'true', sort: 'contractNo', pageSize: '2' } }),
  'GET /contracts/:id': async (org) => ({ params: { id: await activeContract(org) } }),
  'POST /contracts': (org) => ({ body: contractBody(org, 'POST /contracts') }),
  'PATCH /contracts/:id': async (org) => ({
    params: { id: await entered(org, 'PATCH /contracts/:id') },
    body: { projectName: 'Terminal 3, second phase', endDate: '2027-09-30', remark: 'Extended by six months.' },
  }),
  'GET /contracts/:id/history': async (org) => ({
    params: { id: await activeContract(org) },
    query: { pageSize: '2' },
  }),
  'GET /contracts/:id/workflow/events': async (org) => ({ params: { id: await activeContract(org) } }),
  'POST /contracts/:id/notes': async (org) => ({
    params: { id: await entered(org, 'POST /contracts/:id/notes') },
    body: { label: 'Site contact', value: 'Gate 4, ask for Mr Zhao.' },
  }),
  'POST /contracts/:id/terms': async (org) => ({
    params: { id: await entered(org, 'POST /contracts/:id/terms') },
    body: { kind: 'delivery', title: 'Delivery', date: '2026-05-15', note: 'Free on site, within 45 days.' },
  }),
  'GET /contracts/export': async (org) => ({ query: { profile: 'summary', ids: await activeContract(org) } }),
  'POST /contracts/export': async (org) => ({ body: { profile: 'full', ids: [await activeContract(org)] } }),
  'POST /contracts/import': (org) => ({ body: { csv: csvOf(org, 'POST /contracts/import') } }),
  'POST /contracts/import/preview': (org) => ({ body: { csv: csvOf(org, 'POST /contracts/import/preview') } }),
  'POST /contracts/extract': () => ({ body: { text: PAPER } }),

  'GET /collections': () => ({ query: { tab: 'overdue', pageSize: '2' } }),
  'GET /collections/deliveries': () => ({ query: { status: 'sent', pageSize: '2' } }),
  'GET /collections/preview': async (org) => ({ query: await overdueLine(org) }),
  'POST /collections/remind': async (org) => ({ body: await overdueLine(org) }),
  'POST /collections/run-due-reminders': () => ({}),
  'POST /collections/remind-bulk': ({ subjectId }) => ({ body: { tab: 'soon', subjectId } }),
  'PUT /collections/:paymentId/hold': async (org) => ({
    params: { paymentId: await line(org, 'PUT /collections/:paymentId/hold') },
    body: { kind: 'promise', until: '2026-03-31', note: 'Ms Wang will pay when the invoice has been checked.' },
  }),
  'POST /calendar-sync/sync-open-payments': pushOfOneContract,

  'POST /ai-gateway/inspect': () => ({
    body: {
      provider: 'openai',
      model: 'gpt-5-mini',
      purpose: 'Draft of a payment reminder',
      input: 'Remind Ms Wang (wang@harbour.example, +86 138 0013 8000) that the second instalment is due on 31 March.',
    },
  }),
  'GET /payments': async (org) => ({ query: { tab: 'all', contractId: await activeContract(org), pageSize: '2' } }),
  'POST /contracts/:id/payments': async (org) => ({
    params: { id: await entered(org, 'POST /contracts/:id/payments') },
    body: { period: 'acceptance', dueDate: '2026-08-31', amount: 42_000 },
  }),
  'PATCH /payments/:paymentId': async (org) => ({
    params: { paymentId: await line(org, 'PATCH /payments/:paymentId') },
    body: { dueDate: '2026-06-30' },
  }),
  'PATCH /payments/:paymentId/receipt': async (org) => ({
    params: { paymentId: await line(org, 'PATCH /payments/:paymentId/receipt') },
    body: {
      receivedAmount: 126_000,
      receivedDate: '2026-03-13',
      method: 'Bank transfer',
      payerName: 'Harbour Logistics Ltd',
      bankSerialNo: '2026031300418',
      reconciliationStatus: 'matched',
    },
  }),
  'POST /payments/:paymentId/receipts': async (org) => ({
    params: { paymentId: await line(org, 'POST /payments/:paymentId/receipts') },
    body: {
      amount: 60_000,
      receivedDate: '2026-03-13',
      method: 'Bank transfer',
      payerName: 'Harbour Logistics Ltd',
      bankSerialNo: '2026031300419',
    },
  }),
  'PATCH /payments/:paymentId/invoice': async (org) => ({
    params: { paymentId: await line(org, 'PATCH /payments/:paymentId/invoice') },
    body: { invoiceNo: '26322000000104181', invoiceAmount: 126_000, invoiceDate: '2026-03-13' },
  }),
  'POST /contracts/:id/invoices': async (org) => {
    const made = await contract(org, 'POST /contracts/:id/invoices');
    return {
      params: { id: made.id },
      body: {
        receivablePlanId: made.payments[0]?.id ?? '',
        invoiceNo: '26322000000104182',
        invoiceAmount: 126_000,
        invoiceDate: '2026-03-13',
        status: 'issued',
        taxRate: 13,
      },
    };
  },
  'GET /contracts/:id/invoices': async (org) => ({ params: { id: await activeContract(org) } }),
  // The invoices of one contract: none has the date of another, so that their order is always the same.
  'GET /invoices': () => ({ query: { status: 'issued', q: 'EU-INV-1800', from: '2025-01-01', pageSize: '2' } }),
  'GET /invoices/export': () => ({ query: { status: 'issued', q: 'EU-INV-1800', from: '2025-01-01' } }),
  'POST /contracts/:id/fulfillment-tasks': async (org) => ({
    params: { id: await entered(org, 'POST /contracts/:id/fulfillment-tasks') },
    body: { code: 'delivery-1', title: 'Deliver both cranes', kind: 'delivery', dueDate: '2026-05-15' },
  }),
  'GET /audit': () => ({ query: { action: 'login_succeeded', pageSize: '1' } }),
  'POST /saved-views/contracts': () => ({
    body: {
      name: 'Overdue, oldest first',
      mode: 'table',
      groupBy: 'ownerId',
      filters: { overdue: true },
      sortKey: 'nextDueDate',
      visibleFields: ['contractNo', 'partyA', 'outstandingAmount', 'nextDueDate'],
      cardFields: ['projectName', 'outstandingAmount'],
    },
  }),
  'POST /dynamic-fields/commands': () => ({
    body: { type: 'CreateField', payload: { name: 'Port permit number', type: 'text', section: 'Site' } },
  }),
  'POST /tenant-admin/invitations': ({ subjectId }) => ({
    body: { email: 'mei.zhao@huayue.example', roleCode: 'finance', subjectScope: [subjectId] },
  }),
  'POST /tenant-admin/subjects': () => ({ body: { name: 'Huayue Leasing', taxNo: '91350100M000100Y43' } }),
  'POST /tenant-admin/notification-channels': () => ({
    body: { kind: 'webhook', name: 'Receivables room', target: 'https://hooks.example.com/in', secret: 'a-secret' },
  }),
  'POST /auth/mfa/enroll/confirm': async (org) => ({ body: await confirmation(org) }),
  'POST /auth/mfa/disable': async (org) => {
    const { body } = await org.client.post<{ recoveryCodes: string[] }>(
      '/auth/mfa/enroll/confirm',
      await confirmation(org),
    );
    return { body: { code: body.recoveryCodes[0] ?? '' } };
  },
};

async function confirmation({ client }: Organisation): Promise<{ secret: string; code: string }> {
  const { body } = await client.post<{ secret: string }>('/auth/mfa/enroll/start');
  return { secret: body.secret, code: codeOf({ secret: body.secret, at: RECORDED_AT }) };
}

/** The number of the contract of an example: it depends only on the route, so that recordings do not differ. */
const numberOf = (route: string): number =>
  1_000 + (createHash('sha256').update(route).digest().readUInt16BE() % 9_000);

const contractBody = ({ subjectId, owner }: Organisation, route: string) => ({
  archiveCode: `A-2026-${numberOf(route)}`,
  contractNo: `HT-2026-${numberOf(route)}`,
  projectName: 'Terminal 3',
  type: 'sale',
  subjectId,
  ownerId: owner.id,
  partyA: 'Harbour Logistics Ltd',
  partyB: 'Huayue Equipment (Suzhou) Co., Ltd',
  equipmentName: 'Crawler crane',
  equipmentModel: 'QUY-80',
  quantity: 2,
  unitPrice: 210_000,
  currencyCode: 'CNY',
  paymentMethod: 'Bank transfer',
  signDate: '2026-03-10',
  startDate: '2026-04-01',
  endDate: '2027-03-31',
  payments: [
    { period: 'deposit', dueDate: '2026-03-31', amount: 126_000 },
    { period: 'delivery', dueDate: '2026-05-31', amount: 294_000 },
  ],
});

const csvOf = (org: Organisation, route: string): string => {
  const { payments, type, ...fields } = contractBody(org, route);
  const row = { ...fields, subjectId: '华岳机电设备', ownerId: org.owner.email, type, quantity: '0' };
  const good = { ...row, quantity: '2' };
  const second = {
    ...row,
    contractNo: `${row.contractNo}-B`,
    archiveCode: `${row.archiveCode}-B`,
    projectName: `Terminal 3, ${payments.length} lines`,
  };
  const cells = (values: object): string =>
    Object.values(values)
      .map((value) => (/[",]/.test(String(value)) ? `"${String(value)}"` : String(value)))
      .join(',');
  return [Object.keys(good).join(','), cells(good), cells(second), ''].join('\r\n');
};

const PAPER = `SALES CONTRACT
Contract No.: HT-2026-0418
Party A (Buyer): Harbour Logistics Ltd
Party B (Seller): Huayue Equipment (Suzhou) Co., Ltd
Equipment: Crawler crane, model QUY-80
Total price: CNY 420,000.00
Date of signature: 10 March 2026
`;

interface Made {
  readonly id: string;
  readonly payments: readonly { readonly id: string }[];
}

async function contract(org: Organisation, route: string): Promise<Made> {
  const { status, body, text } = await org.client.post<Made>('/contracts', contractBody(org, route));
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return body;
}

const entered = async (org: Organisation, route: string): Promise<string> => (await contract(org, route)).id;
const line = async (org: Organisation, route: string): Promise<string> =>
  (await contract(org, route)).payments[0]?.id ?? '';

/** The first active contract of the demo data. */
async function activeContract({ client }: Organisation): Promise<string> {
  const { body } = await client.get<{ items: { id: string }[] }>('/contracts', {
    query: { workflow: 'active', sort: 'contractNo', pageSize: '1' },
  });
  return body.items[0]?.id ?? '';
}

async function overdueLine({ client }: Organisation): Promise<{ contractId: string; paymentId: string }> {
  const { body } = await client.get<{ items: { id: string; contractId: string; hold: object | null }[] }>(
    '/collections',
    { query: { pageSize: '20' } },
  );
  const open = body.items.find(({ hold }) => hold === null);
  return { contractId: open?.contractId ?? '', paymentId: open?.id ?? '' };
}

/** The members of the demo have the password of the other tests. */
export const DEMO_PASSWORD = PASSWORD;
