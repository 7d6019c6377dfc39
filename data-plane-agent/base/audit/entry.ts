import { SHOWN_CHANGES, type AuditChange, type AuditEntry, type AuditRow } from './records.js';
import { iso } from '../instants.js';

/** An event as a list shows it. `hiddenFields` are custom fields whose values the reader may not see. */
export function auditEntry({ id, at, actorKind, actorId, actorName, ip, requestId, action, recordKind, recordId, changes: text, position, hash }: AuditRow, { hiddenFields = NONE }: { readonly hiddenFields?: ReadonlySet<string> } = {}): AuditEntry {
  const changes = changesOf(JSON.parse(text), { recordKind, recordId }).flatMap((change) => shownChange(change, hiddenFields));
  return {
    id, createdAt: iso(at), actorKind: actorKind as AuditEntry['actorKind'], actorId, actorName, ip, requestId, action, recordKind, recordId,
    changes: changes.slice(0, SHOWN_CHANGES), changeCount: changes.length, position, hash,
  };
}

const NONE: ReadonlySet<string> = new Set();

type Json = Readonly<Record<string, unknown>>;

/** Custom values without the hidden ones; where nothing else changed there is nothing to tell. */
function shownChange(change: AuditChange, hiddenFields: ReadonlySet<string>): AuditChange[] {
  if (change.recordKind !== 'contract' || change.field !== 'dynamicFields' || hiddenFields.size === 0) return [change];
  const seen = (values: unknown) => (typeof values === 'object' && values !== null ? Object.fromEntries(Object.entries(values).filter(([id]) => !hiddenFields.has(id))) : values);
  const [before, after] = [seen(change.before), seen(change.after)];
  return JSON.stringify(before ?? {}) === JSON.stringify(after ?? {}) ? [] : [{ ...change, before, after }];
}

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
