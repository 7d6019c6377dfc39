import { aContract, aLine } from '../support/samples.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Reports that are visible only to the member who created them. */
export const OWN_BATCHES = [
  'GET /contracts/import/batches/:id',
  'GET /contracts/import/batches/:id/errors.csv',
] as const;

export const CONTRACT_IMPORT_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /contracts/import': (org) => ({ body: importBody(org) }),
  'POST /contracts/import/preview': (org) => ({ body: importBody(org) }),
  'GET /contracts/import/batches/:id': async (org) => ({ params: { id: await batch(org) } }),
  'GET /contracts/import/batches/:id/errors.csv': async (org) => ({ params: { id: await batch(org) } }),
  'GET /contracts/import/template.csv': () => ({ query: { language: 'zh' } }),
};

const importBody = ({ subjectId, owner, marker }: Organisation) => ({
  rows: [{ ...aContract({ subjectId, ownerId: owner.id, projectName: marker, payments: [aLine()] }) }],
});

async function batch(org: Organisation): Promise<string> {
  const bad = {
    ...aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker }),
    quantity: 0,
  };
  const { status, body, text } = await org.client.post<{ batchId: string }>('/contracts/import', { rows: [bad] });
  if (status !== 200) throw new Error(`importing answered ${status}: ${text}`);
  return body.batchId;
}
