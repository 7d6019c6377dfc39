import { s } from '../../../base/schema.js';
import { AuditHead } from '../../../base/audit/records.js';
import { operation } from '../../steps/operation-context.js';

/** The end of the tenant's audit chain, to be kept elsewhere. */
export const getAuditHead = operation({
  effect: 'read',
  input: s.object({}),
  output: AuditHead,
  fails: [],
  run: ({ store }) => store.auditTrail.headNow(),
});
