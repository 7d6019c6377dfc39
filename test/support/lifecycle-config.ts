import type { StageInput } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import type { TestPlane } from './plane.js';

/** The shipped template from the catalogue. */
export async function standard({ plane }: TestPlane) {
  const { templates } = await plane.getContractCatalog({});
  const template = templates.find(({ code }) => code === 'standard');
  if (!template) throw new Error('there is no template');
  const stage = (code: string) => template.stages.find((candidate) => candidate.code === code)?.id ?? '';
  const transition = (code: string) => template.transitions.find((candidate) => candidate.code === code)?.id ?? '';
  return { ...template, stage, transition };
}

export const issue = (path: string, problem: string) => ({
  code: 'INVALID_INPUT',
  details: { issues: [{ path, problem }] },
});
export const draft = (code = 'draft'): StageInput => ({ code, name: code });
