import { SHOWN_CHANGES, type AuditChange, type AuditEntry, type AuditRow } from './records.js';
import { iso } from '../instants.js';

/** An event as shown in a list, with its changed fields. */
export const auditEntry = (
  { id, at, actorKind, actorId, actorName, ip, requestId, action, recordKind, recordId, position, hash }: AuditRow,
  changes: readonly AuditChange[],
): AuditEntry => ({
  id,
  createdAt: iso(at),
  actorKind: actorKind as AuditEntry['actorKind'],
  actorId,
  actorName,
  ip,
  requestId,
  action,
  recordKind,
  recordId,
  changes: changes.slice(0, SHOWN_CHANGES),
  changeCount: changes.length,
  position,
  hash,
});
