import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

const MAX = 20;

/**
 * Who is superior on a member's own contracts, the one on most of them first: his chain of responsibility, as the book
 * has it.
 */
export const listSuperiors = operation({
  effect: 'read',
  input: s.object({ memberId: s.id() }),
  output: s.object({ superiorIds: s.list(s.id(), MAX) }),
  fails: [],
  run: async ({ store }, _call, { memberId }) => ({ superiorIds: await store.ownership.superiorsOf(memberId, MAX) }),
});
