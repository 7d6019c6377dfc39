import { randomBytes } from 'node:crypto';
import type { Catalog, Stage, Template } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { aContract } from '../support/samples.js';
import type { Organisation } from './organisations.js';

type Sample = { readonly params?: Readonly<Record<string, string>>; readonly body?: Readonly<Record<string, unknown>> };

/**
 * Requests for the contract configuration and the workflow; see `requests.ts`. Each request changes only records
 * created for it.
 */
export const LIFECYCLE_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /contract-config/catalog': () => ({}),
  'POST /contract-config/types': (org) => ({ body: { code: code(), name: org.marker } }),
  'PATCH /contract-config/types/:id': async (org) => ({
    params: { id: await idOf(org, '/contract-config/types', { code: code(), name: org.marker }) },
    body: { name: `${org.marker} renamed` },
  }),
  'POST /contract-config/lifecycle/templates': (org) => ({ body: { code: code(), name: org.marker } }),
  'PATCH /contract-config/lifecycle/templates/:id': async (org) => ({
    params: { id: (await template(org)).id },
    body: { name: `${org.marker} renamed` },
  }),
  'POST /contract-config/lifecycle/templates/:templateId/stages': async (org) => ({
    params: { templateId: (await template(org)).id },
    body: { code: code(), name: org.marker },
  }),
  'PATCH /contract-config/lifecycle/stages/:id': async (org) => ({
    params: { id: await stage(org) },
    body: { name: `${org.marker} renamed` },
  }),
  'POST /contract-config/lifecycle/templates/:templateId/transitions': async (org) => {
    const { id, first } = await template(org);
    return {
      params: { templateId: id },
      body: { code: code(), name: org.marker, fromStageCode: first.code, toStageCode: (await added(org, id)).code },
    };
  },
  'PATCH /contract-config/lifecycle/transitions/:id': async (org) => {
    const { id, first } = await template(org);
    const body = {
      code: code(),
      name: org.marker,
      fromStageCode: first.code,
      toStageCode: (await added(org, id)).code,
    };
    return {
      params: { id: await idOf(org, `/contract-config/lifecycle/templates/${id}/transitions`, body) },
      body: { name: `${org.marker} renamed` },
    };
  },
  'POST /contracts/:id/workflow/transition': async (org) => {
    // A lifecycle that every role may use, for this contract only.
    const { id, first } = await template(org);
    const { code: to } = await added(org, id);
    const ownFlow = { lifecycleTemplateId: id, lifecycleStageCode: first.code };
    return { params: { id: await contract(org, ownFlow) }, body: { toStageCode: to, note: org.marker } };
  },
  'POST /contracts/:id/workflow/lock': async (org) => ({
    params: { id: await contract(org) },
    body: { locked: true, note: org.marker },
  }),
  'GET /contracts/:id/workflow/events': async (org) => ({ params: { id: await contract(org) } }),
};

const code = (): string => `c_${randomBytes(6).toString('hex')}`;

async function idOf(org: Organisation, path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await org.client.post<{ id: string }>(path, body);
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
  return answer.body.id;
}

/** The organisation's custom template, created by the first request; its first stage is a draft. */
async function template(org: Organisation): Promise<{ readonly id: string; readonly first: Stage }> {
  const { body } = await org.client.get<Catalog>('/contract-config/catalog');
  const present = body.templates.find(({ code: known }) => known === 'own_flow');
  const { id, stages } = present ?? (await made(org));
  const [first] = stages;
  if (!first) throw new Error('the template has no stage');
  return { id, first };
}

async function made(org: Organisation): Promise<Template> {
  const id = await idOf(org, '/contract-config/lifecycle/templates', { code: 'own_flow', name: org.marker });
  await idOf(org, `/contract-config/lifecycle/templates/${id}/stages`, { code: 'draft', name: `${org.marker} draft` });
  const { body } = await org.client.get<Catalog>('/contract-config/catalog');
  return (
    body.templates.find((candidate) => candidate.id === id) ?? Promise.reject(new Error('the template is not listed'))
  );
}

/** Another stage of the template, which any role with edit permission may enter. */
async function added(org: Organisation, templateId: string): Promise<Stage> {
  const { body } = await org.client.get<Catalog>('/contract-config/catalog');
  const present = body.templates
    .find(({ id }) => id === templateId)
    ?.stages.find(({ code: known }) => known === 'checking');
  if (present) return present;
  const answer = await org.client.post<Stage>(`/contract-config/lifecycle/templates/${templateId}/stages`, {
    code: 'checking',
    name: org.marker,
  });
  if (answer.status !== 201) throw new Error(`adding a stage answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

const stage = async (org: Organisation): Promise<string> => {
  const { id } = await template(org);
  return (await added(org, id)).id;
};

const contract = (org: Organisation, more: Readonly<Record<string, string>> = {}): Promise<string> =>
  idOf(org, '/contracts', {
    ...aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker }),
    ...more,
  });
