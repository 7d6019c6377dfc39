import { s } from '../../../base/schema.js';
import { Catalog } from '../../contract/records/lifecycle.js';
import { catalogAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';

/** The tenant's contract types and lifecycle templates. */
export const getContractCatalog = operation({
  effect: 'read',
  input: s.object({}),
  output: Catalog,
  fails: [],
  run: async ({ store }) => catalogAnswer(await store.lifecycle.all()),
});
