import { s } from '../../../base/schema.js';
import { AuditHead } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/** The latest link of the tenant's audit chain, to be stored elsewhere as evidence. */
export const getAuditHead = operation({
  effect: 'read',
  input: s.object({}),
  output: AuditHead,
  fails: [],
  run: ({ store }) => store.auditTrail.headNow(),
});
