import { randomBytes } from 'node:crypto';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { Catalog } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import type { Administration } from '../support/administration.js';
import { connectCalendar, syncCalendar } from '../support/calendar.js';
import type { FakeCalendarProvider } from '../support/calendar-provider.js';
import type { Answer, RequestOptions } from '../support/http.js';
import type { Receiver } from '../support/receiver.js';
import type { TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

/** By field: a word that is nowhere else, and whether the agent stores it. */
export type Markers = Map<string, { readonly word: string; readonly stays: boolean }>;

export interface Work {
  readonly server: TestServer;
  readonly org: Administration;
  readonly receiver: Receiver;
  readonly calendar: FakeCalendarProvider;
  readonly markers: Markers;
}

/**
 * An organisation's work with contract data, in every way that the API offers for it: each text is another marker.
 * Everything that is entered is read again, and some requests are refused.
 */
export async function workThrough({ server, org, receiver, calendar, markers }: Work): Promise<void> {
  const { asOwner } = org;
  const make = (what: string, stays: boolean): string => {
    const word = `canary${randomBytes(5).toString('hex')}`;
    if (markers.has(what)) throw new Error(`${what} has a marker already`);
    markers.set(what, { word, stays });
    return word;
  };
  const marker = (what: string): string => make(what, true);
  /** Of a text that is only sent. */
  const passing = (what: string): string => make(what, false);
  const ok = <T>(answer: Answer<T>): T => {
    if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const refused = ({ status, text }: Answer<unknown>): void => {
    if (status < 400 || status >= 500) throw new Error(`answered ${status}: ${text}`);
  };
  const post = async <T = { id: string }>(path: string, body?: object, options?: RequestOptions): Promise<T> =>
    ok(await asOwner.post<T>(path, body, options));
  const read = async (path: string, query: Readonly<Record<string, string>> = {}): Promise<string> => {
    const answer = await asOwner.get(path, { query });
    ok(answer);
    return answer.text;
  };

  // Channel, custom field and lifecycle.
  const channel = await post('/tenant-admin/notification-channels', {
    kind: 'webhook',
    name: 'Hook',
    target: `${receiver.url}/hook`,
    isDefault: true,
  });
  const { field } = await post<{ field: { id: string } }>('/dynamic-fields/commands', {
    type: 'CreateField',
    payload: { name: marker('name of a custom field'), type: 'text', description: marker('description of a field') },
  });
  const [template] = ok(await asOwner.get<Catalog>('/contract-config/catalog')).templates;
  await post(`/contract-config/lifecycle/templates/${template?.id ?? ''}/transitions`, {
    code: 'ask_board',
    name: marker('name of a transition'),
    fromStageCode: 'draft',
    toStageCode: 'review',
    effects: { notifyChannelId: channel.id },
  });

  // A contract; with an idempotency key, so that the answer is kept.
  const contract = (place: string) => ({
    archiveCode: marker(`archiveCode${place}`),
    contractNo: marker(`contractNo${place}`),
    projectName: marker(`projectName${place}`),
    partyA: marker(`partyA${place}`),
    partyB: marker(`partyB${place}`),
    equipmentName: marker(`equipmentName${place}`),
    equipmentModel: marker(`equipmentModel${place}`),
    paymentMethod: marker(`paymentMethod${place}`),
    remark: marker(`remark${place}`),
    subjectId: org.subjectId,
    ownerId: org.owner.id,
    quantity: 2,
    unitPrice: 5_000,
    startDate: '2026-01-01',
    endDate: '2027-12-31',
  });
  const receipt = (place: string) => ({
    method: marker(`method ${place}`),
    payerName: marker(`payerName ${place}`),
    receiptAccount: marker(`receiptAccount ${place}`),
    bankSerialNo: marker(`bankSerialNo ${place}`),
    reconciliationNote: marker(`reconciliationNote ${place}`),
  });
  const whole = {
    ...contract(''),
    payeeAccount: marker('payeeAccount'),
    payeeBank: marker('payeeBank'),
    paymentCycle: marker('paymentCycle'),
    statusCode: marker('statusCode'),
    dynamicFields: { [field.id]: marker('value of a custom field') },
    payments: [
      { period: marker('period'), dueDate: '2026-02-01', amount: 4_000, receivedAmount: 10, ...receipt('of a line') },
      {
        period: marker('period, second'),
        dueDate: '2027-02-01',
        amount: 6_000,
        invoiceNo: marker('invoiceNo of a line'),
      },
    ],
    terms: [{ kind: 'deposit', title: marker('title of a term'), note: marker('note of a term') }],
    extraNotes: [{ label: marker('label of a note'), value: marker('value of a note') }],
  };
  const keyed = { headers: { 'Idempotency-Key': 'canary-contract' } };
  const { id, payments } = await post<ContractDetail>('/contracts', whole, keyed);
  await post('/contracts', whole, keyed); // the kept answer
  const [line] = payments;
  const paymentId = line?.id ?? '';
  const at = `/contracts/${id}`;

  // Refusals that name what was sent.
  refused(await asOwner.post('/contracts', { ...whole, quantity: 0, [passing('name of an unknown field')]: 1 }));
  refused(await asOwner.post('/contracts', { ...whole, ownerId: passing('unknown owner') }));
  refused(await asOwner.get(`/contracts/${passing('unknown id')}`));
  refused(await asOwner.post('/contracts', { ...whole, currencyCode: passing('unknown currency') }));

  // Changes.
  ok(await asOwner.patch(at, { remark: marker('changed remark') }));
  await post(`${at}/notes`, { label: marker('label of an added note'), value: marker('value of an added note') });
  await post(`${at}/terms`, { kind: 'delivery', title: marker('title of an added term'), note: marker('note, added') });
  await post(`/payments/${paymentId}/receipts`, { amount: 20, ...receipt('of a receipt') });
  await post(`${at}/invoices`, {
    receivablePlanId: paymentId,
    invoiceNo: marker('invoiceNo'),
    invoiceAmount: 400,
    taxRate: 13,
    note: marker('note of an invoice'),
  });
  await post(`${at}/fulfillment-tasks`, {
    code: marker('code of a task'),
    title: marker('title of a task'),
    kind: marker('kind of a task'),
    metadata: { truck: marker('metadata of a task') },
  });
  ok(await asOwner.put(`/collections/${paymentId}/hold`, { kind: 'pause', note: marker('note of a hold') }));
  ok(await asOwner.delete(`/collections/${paymentId}/hold`));
  await post('/saved-views/contracts', {
    name: marker('name of a view'),
    mode: 'table',
    groupBy: 'none',
    filters: { q: marker('filter of a view') },
    sortKey: 'contractNo',
    visibleFields: ['contractNo'],
    cardFields: ['projectName'],
  });

  // A file, import and extraction.
  const file = await uploadsOf(asOwner).upload({
    fileName: `${marker('name of a file')}.txt`,
    contentType: 'text/plain',
    kind: 'other_evidence',
    contractId: id,
    bytes: Buffer.from(`Sales contract\nProject: ${passing('content of a file')}\n`),
  });
  await read(`/files/${file.id}`);
  const download = ok(await asOwner.get<{ url: string }>(`/files/${file.id}/download`));
  await (await fetch(download.url)).text();
  await post('/contracts/import', { rows: [contract(' of an import')] });
  const bad = { ...contract(' of a refused row'), quantity: passing('quantity of a refused row') };
  for (const what of [...markers.keys()].filter((name) => name.endsWith(' of a refused row')))
    markers.set(what, { word: markers.get(what)?.word ?? '', stays: false });
  const batch = ok(await asOwner.post<{ batchId: string }>('/contracts/import', { rows: [bad] }));
  await asOwner.post('/contracts/import/preview', { rows: [bad] });
  await read(`/contracts/import/batches/${batch.batchId}`);
  await read(`/contracts/import/batches/${batch.batchId}/errors.csv`);
  const run = await post('/contracts/extract', {
    contractId: id,
    text: `Sales contract\nProject: ${marker('text for extraction')}\nContract No.: ${marker('number for extraction')}`,
  });
  await read(`/contracts/extractions/${run.id}`);

  // Reminders, a notice of a move, and the calendar. The receiver repeats the number of the contract in its refusal.
  receiver.answers({ status: 500, body: `busy with ${whole.contractNo}` });
  await read('/collections/preview', { contractId: id, paymentId, channelId: channel.id });
  await asOwner.post('/collections/remind', { contractId: id, paymentId, channelId: channel.id });
  await asOwner.post('/collections/run-due-reminders', {});
  await post(`${at}/workflow/transition`, { transitionCode: 'ask_board', note: marker('note of a move') });
  await server.services.deliveries.drain(org.tenant.id);
  await connectCalendar(asOwner, calendar);
  ok(await syncCalendar(asOwner));

  // Reading, searching and exporting.
  await read(at);
  await read(`${at}/history`);
  await read(`${at}/workflow/events`);
  await read('/contracts', { q: whole.projectName });
  await read('/contracts', { q: passing('search text') });
  await read('/contracts/export', { q: whole.partyB });
  await read('/invoices', { q: passing('search text for invoices') });
  await read('/invoices/export');
  await read('/payments');
  await read('/collections', { tab: 'overdue' });
  await read('/collections/deliveries');
  await read('/analytics/summary');
  await read('/audit', { source: 'data', pageSize: '200' });
  await read(`/tenant-admin/members/${org.owner.id}/handover-preview`);

  // The end: trash, with an offboarding before.
  const leaver = await org.join({ roleCode: 'sales' });
  const leaving = { successorUserId: org.owner.id, transferContracts: true, disableMember: true };
  ok(
    await asOwner.post(`/tenant-admin/members/${leaver.id}/offboard`, leaving, {
      headers: { 'Idempotency-Key': 'canary-leaver' },
    }),
  );
  ok(await asOwner.delete(at));
  await read('/contracts/trash');
  for (const job of ['audit-chain', 'audit-heads']) await server.schedules.run(job).catch(() => undefined);
}
