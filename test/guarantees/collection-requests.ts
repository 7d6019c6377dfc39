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
  'GET /collections/deliveries': async (org) => ({ query: { paymentId: await overdueLine(org) } }),
};

const today = (): string => todayIn('UTC', Date.now());

async function overdueLine({ client, subjectId, owner, marker }: Organisation): Promise<string> {
  const { status, body, text } = await client.post<{ payments: { id: string }[] }>(
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
  return body.payments[0]?.id ?? '';
}

let made = 0;
