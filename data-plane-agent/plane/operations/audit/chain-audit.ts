import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/** Adds pending audit events to the tenant's hash chain. The schedule repeats it while `more` is true. */
export const chainAudit = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'settling',
  input: s.object({}),
  output: s.object({ chained: s.integer(), more: s.flag() }),
  fails: [],
  run: ({ store }) => store.auditTrail.chain(),
});
