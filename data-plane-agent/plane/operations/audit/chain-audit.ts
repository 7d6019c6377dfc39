import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/** Chains the tenant's audit events that wait; the schedule calls it until no more do. */
export const chainAudit = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({}),
  output: s.object({ chained: s.integer(), more: s.flag() }),
  fails: [],
  run: ({ store }) => store.auditTrail.chain(),
});
