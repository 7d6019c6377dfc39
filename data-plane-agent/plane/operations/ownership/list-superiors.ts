import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

const MAX = 20;

/** The superiors on contracts that a member owns, by number of contracts in descending order. */
export const listSuperiors = operation({
  effect: 'read',
  input: s.object({ memberId: s.id() }),
  output: s.object({ superiorIds: s.list(s.id(), MAX) }),
  fails: [],
  run: async ({ store }, _call, { memberId }) => ({ superiorIds: await store.ownership.superiorsOf(memberId, MAX) }),
});
