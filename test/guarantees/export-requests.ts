import { aContract, aLine } from '../support/samples.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Requests for the two exports, with a contract created for them by the owner. */
export const EXPORT_REQUESTS: Readonly<Record<string, (org: Organisation) => Promise<Sample>>> = {
  'GET /contracts/export': async (org) => ({
    query: { profile: 'full', subjectId: org.subjectId, ids: await entered(org), sort: 'contractNo' },
  }),
  'POST /contracts/export': async (org) => ({
    body: { profile: 'summary', subjectId: org.subjectId, ids: [await entered(org)] },
  }),
};

async function entered(org: Organisation): Promise<string> {
  const { status, body, text } = await org.client.post<{ id: string }>('/contracts', {
    ...aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker, payments: [aLine()] }),
  });
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return body.id;
}
