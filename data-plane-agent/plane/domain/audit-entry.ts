import { SHOWN_CHANGES, type AuditChange, type AuditEntry, type AuditRow } from '../contract/records/audit.js';

/** An event as a list shows it. */
export function auditEntry({ id, at, actorKind, actorId, actorName, ip, requestId, action, recordKind, recordId, changes: text, position, hash }: AuditRow): AuditEntry {
  const changes = changesOf(JSON.parse(text), { recordKind, recordId });
  return {
    id, createdAt: new Date(at).toISOString(), actorKind: actorKind as AuditEntry['actorKind'], actorId, actorName, ip, requestId, action, recordKind, recordId,
    changes: changes.slice(0, SHOWN_CHANGES), changeCount: changes.length, position, hash,
  };
}

type Json = Readonly<Record<string, unknown>>;

/** The data plane keeps `[{ record, id, fields: { name: [before, after] } }]`, the platform `{ name: { from, to } }` or `{ name: value }`. */
function changesOf(kept: unknown, root: { recordKind: string; recordId: string | null }): AuditChange[] {
  if (Array.isArray(kept)) {
    return (kept as { record: string; id: string; fields: Record<string, readonly [unknown, unknown]> }[]).flatMap(({ record, id, fields }) =>
      Object.entries(fields).map(([field, [before, after]]) => ({ recordKind: record, recordId: id, field, before, after })),
    );
  }
  return Object.entries(kept as Json).map(([field, value]) => ({ ...root, field, ...(isMove(value) ? { before: value.from ?? null, after: value.to ?? null } : { before: null, after: value }) }));
}

const isMove = (value: unknown): value is { from: unknown; to: unknown } => typeof value === 'object' && value !== null && 'to' in value && 'from' in value;
