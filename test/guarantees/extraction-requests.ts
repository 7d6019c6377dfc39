import { aContract } from '../support/samples.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Runs of a contract, which are visible to every member who may write contracts. */
export const EXTRACTION_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /contracts/extract': async (org) => ({ body: await textOf(org) }),
  'GET /contracts/extractions/:runId': async (org) => ({ params: { runId: await runOf(org) } }),
  'PATCH /contracts/extractions/:runId/review': async (org) => ({
    params: { runId: await runOf(org) },
    body: {
      fields: [{ fieldKey: 'extraNotes', status: 'overridden', overrideValue: [{ label: 'Gate', value: '4' }] }],
    },
  }),
};

async function textOf(org: Organisation): Promise<Record<string, unknown>> {
  const { status, body, text } = await org.client.post<{ id: string }>(
    '/contracts',
    aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker }),
  );
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return { contractId: body.id, text: `Sales contract\nProject: ${org.marker}\nContract No.: X-1` };
}

async function runOf(org: Organisation): Promise<string> {
  const { status, body, text } = await org.client.post<{ id: string }>('/contracts/extract', await textOf(org));
  if (status !== 201) throw new Error(`reading a text answered ${status}: ${text}`);
  return body.id;
}
