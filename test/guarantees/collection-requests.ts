import { addDays, todayIn } from '../../data-plane-agent/base/day.js';
import { aContract, aLine } from '../support/samples.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Valid requests for collections; see `requests.ts`. */
export const COLLECTION_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /collections': async (org) => {
    await overdueLine(org);
    return { query: { tab: 'overdue', subjectId: org.subjectId } };
  },
  'PUT /collections/:paymentId/hold': async (org) => ({
    params: { paymentId: await overdueLine(org) },
    body: { kind: 'promise', until: addDays(today(), 30), note: `${org.marker} promised` },
  }),
  'DELETE /collections/:paymentId/hold': async (org) => {
    const paymentId = await overdueLine(org);
    await org.client.put(`/collections/${paymentId}/hold`, { kind: 'pause', note: org.marker });
    return { params: { paymentId } };
  },
  'GET /collections/preview': async (org) => ({ query: { ...(await overdue(org)), channelId: await channel(org) } }),
  'POST /collections/remind': async (org) => ({ body: { ...(await overdue(org)), channelId: await channel(org) } }),
  'POST /collections/remind-bulk': async (org) => {
    await overdueLine(org);
    return { body: { channelId: await channel(org), tab: 'overdue', subjectId: org.subjectId } };
  },
  'POST /collections/run-due-reminders': async (org) => {
    await channel(org);
    await overdueLine(org);
    return {};
  },
  'GET /collections/deliveries': async (org) => ({ query: { paymentId: await overdueLine(org) } }),
};

const today = (): string => todayIn('UTC', Date.now());

/** One channel for each organisation; without a mail server its messages stay queued. */
async function channel({ client }: Organisation): Promise<string> {
  const channels = '/tenant-admin/notification-channels';
  const { body: present } = await client.get<{ id: string; name: string }[]>(channels);
  const found = present.find(({ name }) => name === 'Reminders');
  if (found) return found.id;
  const { body, status, text } = await client.post<{ id: string }>(channels, {
    kind: 'email',
    name: 'Reminders',
    target: 'accounting@example.com',
  });
  if (status !== 201) throw new Error(`creating a channel answered ${status}: ${text}`);
  return body.id;
}

const overdueLine = async (org: Organisation): Promise<string> => (await overdue(org)).paymentId;

async function overdue({
  client,
  subjectId,
  owner,
  marker,
}: Organisation): Promise<{ contractId: string; paymentId: string }> {
  const { status, body, text } = await client.post<{ id: string; payments: { id: string }[] }>(
    '/contracts',
    aContract({
      subjectId,
      ownerId: owner.id,
      contractNo: `${marker}-collect-${++made}`,
      archiveCode: `${marker}-collect-${made}`,
      projectName: marker,
      payments: [aLine({ dueDate: '2026-02-01' })],
    }),
  );
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return { contractId: body.id, paymentId: body.payments[0]?.id ?? '' };
}

let made = 0;
