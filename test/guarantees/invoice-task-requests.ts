import { aContract, aLine } from '../support/samples.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Requests for invoice records and fulfillment tasks; see `requests.ts`. */
export const INVOICE_TASK_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /contracts/:id/invoices': async (org) => {
    const { id, lineId } = await contract(org);
    return { params: { id }, body: { receivablePlanId: lineId, ...invoiceBody(org) } };
  },
  'GET /contracts/:id/invoices': async (org) => {
    const { id } = await contract(org);
    await posted(org, `/contracts/${id}/invoices`, invoiceBody(org));
    return { params: { id } };
  },
  'GET /invoices': async (org) => {
    await posted(org, `/contracts/${(await contract(org)).id}/invoices`, invoiceBody(org));
    return { query: { status: 'draft', subjectId: org.subjectId, q: org.marker, pageSize: '200' } };
  },
  'GET /invoices/export': async (org) => {
    await posted(org, `/contracts/${(await contract(org)).id}/invoices`, invoiceBody(org));
    return { query: { subjectId: org.subjectId, q: org.marker } };
  },
  'PATCH /contracts/:id/invoices/:invoiceId': async (org) => {
    const { id } = await contract(org);
    return {
      params: { id, invoiceId: await posted(org, `/contracts/${id}/invoices`, invoiceBody(org)) },
      body: { status: 'issued', note: org.marker },
    };
  },
  'POST /contracts/:id/fulfillment-tasks': async (org) => ({
    params: { id: (await contract(org)).id },
    body: taskBody(org),
  }),
  'PATCH /contracts/:id/fulfillment-tasks/:taskId': async (org) => {
    const { id } = await contract(org);
    return {
      params: { id, taskId: await posted(org, `/contracts/${id}/fulfillment-tasks`, taskBody(org)) },
      body: { status: 'in_progress', title: `${org.marker} renamed` },
    };
  },
};

let made = 0;

const invoiceBody = ({ marker }: Organisation) => ({
  invoiceNo: `${marker}-${++made}`,
  invoiceAmount: 400,
  taxRate: 13,
});
const taskBody = ({ marker, owner }: Organisation) => ({
  code: `task-${++made}`,
  title: `${marker} delivered`,
  kind: 'delivery',
  ownerId: owner.id,
  dueDate: '2026-05-01',
  metadata: { truck: 7 },
});

async function contract(org: Organisation): Promise<{ id: string; lineId: string }> {
  const { status, body, text } = await org.client.post<{ id: string; payments: { id: string }[] }>(
    '/contracts',
    aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker, payments: [aLine()] }),
  );
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return { id: body.id, lineId: body.payments[0]?.id ?? '' };
}

async function posted({ client }: Organisation, path: string, sent: object): Promise<string> {
  const { status, body, text } = await client.post<{ id: string }>(path, sent);
  if (status !== 201) throw new Error(`${path} answered ${status}: ${text}`);
  return body.id;
}
