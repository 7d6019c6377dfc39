import { newId } from '../../data-plane-agent/base/ids.js';
import { aContract } from '../support/samples.js';
import { uploadsOf } from '../support/uploads.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Requests for contracts, their notes and terms, the trash and the history. */
export const CONTRACT_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /contracts/bulk-delete': async (org) => ({ body: { ids: [(await contract(org)).id, newId()] } }),
  'POST /contracts/bulk-attachment': async (org) => ({
    body: { ids: [(await contract(org)).id], contractAttachment: await original(org) },
  }),
  'GET /contracts/trash': async (org) => {
    await deleted(org);
    return { query: { pageSize: '5' } };
  },
  'POST /contracts/:id/restore': async (org) => ({ params: { id: await deleted(org) } }),
  'GET /contracts/:id/history': async (org) => ({ params: { id: (await contract(org)).id }, query: { pageSize: '5' } }),
  'POST /contracts/:id/notes': async (org) => ({
    params: { id: (await contract(org)).id },
    body: { label: 'Gate', value: org.marker },
  }),
  'PATCH /contracts/:id/notes/:noteId': async (org) => ({
    params: await withNote(org),
    body: { value: `${org.marker} changed` },
  }),
  'DELETE /contracts/:id/notes/:noteId': async (org) => ({ params: await withNote(org) }),
  'POST /contracts/:id/terms': async (org) => ({
    params: { id: (await contract(org)).id },
    body: { kind: 'delivery', title: 'Ex works', note: org.marker },
  }),
  'PATCH /contracts/:id/terms/:termId': async (org) => ({
    params: await withTerm(org),
    body: { note: `${org.marker} changed` },
  }),
  'DELETE /contracts/:id/terms/:termId': async (org) => ({ params: await withTerm(org) }),
};

interface Made {
  readonly id: string;
  readonly notes: readonly { readonly id: string }[];
  readonly terms: readonly { readonly id: string }[];
}

async function contract(org: Organisation): Promise<Made> {
  const input = aContract({
    subjectId: org.subjectId,
    ownerId: org.owner.id,
    projectName: org.marker,
    terms: [{ kind: 'deposit', title: 'Deposit', note: 'Ten percent' }],
    extraNotes: [{ label: 'Gate', value: '4' }],
  });
  const { status, body, text } = await org.client.post<Made>('/contracts', input);
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  return body;
}

async function withNote(org: Organisation): Promise<{ id: string; noteId: string }> {
  const { id, notes } = await contract(org);
  return { id, noteId: notes[0]?.id ?? '' };
}

async function withTerm(org: Organisation): Promise<{ id: string; termId: string }> {
  const { id, terms } = await contract(org);
  return { id, termId: terms[0]?.id ?? '' };
}

async function deleted(org: Organisation): Promise<string> {
  const { id } = await contract(org);
  const { status, text } = await org.client.delete(`/contracts/${id}`);
  if (status !== 200) throw new Error(`deleting a contract answered ${status}: ${text}`);
  return id;
}

async function original({ client }: Organisation): Promise<string> {
  return (await uploadsOf(client).upload()).id;
}
