import { s } from '../../../base/schema.js';
import { DynamicFields } from '../../contract/records/fields.js';
import { fieldAnswer } from '../../domain/fields/answer.js';
import { operation } from '../../steps/operation-context.js';

/** The custom fields that the caller may see; administrators get all, including archived ones. */
export const listFields = operation({
  effect: 'read',
  input: s.object({}),
  output: DynamicFields,
  fails: [],
  run: async ({ store }, { rights }) =>
    (rights.admin ? await store.fields.all() : await store.fields.visible()).map(fieldAnswer),
});
