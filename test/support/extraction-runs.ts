import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ExtractionRun, FieldReview } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { TestPlane } from './plane.js';

export const NOT_FOUND = { code: 'NOT_FOUND', details: {} };
export const field = (run: ExtractionRun, key: string) => run.fields.find(({ fieldKey }) => fieldKey === key);
export const acceptAll = (run: ExtractionRun, but: readonly string[] = []): FieldReview[] =>
  run.fields
    .filter(({ fieldKey }) => !but.includes(fieldKey))
    .map(({ fieldKey }) => ({ fieldKey, status: 'accepted' }));
export const put = (fieldKey: string, overrideValue: unknown): FieldReview => ({
  fieldKey,
  status: 'overridden',
  overrideValue,
});
export const controls: Call['controls'] = { draft: 'edit', extracted: 'edit', signed: 'admin' };

/** A caller with workflow controls, and the members that the control plane passes with a call. */
export function withPeople(t: TestPlane) {
  const subjectId = newId();
  const people = {
    members: [{ id: t.call.actor.id ?? '', name: 'Ming Li', email: 'ming@acme.test', active: true }],
    subjects: [{ id: subjectId, name: 'Acme' }],
  };
  return { ...t, subjectId, people };
}
