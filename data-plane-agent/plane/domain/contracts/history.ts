import type { AuditRow } from '../../../base/audit/records.js';
import { HISTORY_RECORDS, MAX_HISTORY_CHANGES, type HistoryChange, type HistoryEntry, type HistoryRecord } from '../../contract/records/history.js';
import { TELLINGS } from './history-fields.js';
import { iso } from '../../../base/instants.js';

/** What the trail does not keep with each event. */
export interface HistoryReader {
  /** The contract's present currency, for what was written before changes told theirs. */
  readonly currencyCode: string;
  /** Ids of the custom fields that the caller may see. */
  readonly visibleFields: ReadonlySet<string>;
  /** What records are called now, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** One record's part of an event, as the journal keeps it. */
interface Kept {
  readonly record: string;
  readonly id: string;
  readonly currency?: readonly [before: string | null, after: string | null];
  readonly fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/** An event of a contract's trail in the words of the API. */
export function historyEntry({ id, at, action, actorKind, actorId, actorName, changes: text }: AuditRow, reader: HistoryReader): HistoryEntry {
  const kept = (JSON.parse(text) as Kept[]).filter((change): change is Kept & { record: HistoryRecord } => (HISTORY_RECORDS as readonly string[]).includes(change.record));
  const changes = kept.flatMap((change) => changesOf(change, reader));
  return {
    id,
    at: iso(at),
    action,
    actor: { kind: actorKind as HistoryEntry['actor']['kind'], id: actorId, name: actorName },
    changeCount: changes.length,
    changes: changes.slice(0, MAX_HISTORY_CHANGES),
  };
}

function changesOf({ record, id, currency, fields }: Kept & { readonly record: HistoryRecord }, { currencyCode, visibleFields, names }: HistoryReader): HistoryChange[] {
  const { calledBy, fields: told } = TELLINGS[record];
  const [oldName, newName] = fields[calledBy] ?? [null, null];
  const name = newName ?? oldName;
  const of = { record, recordId: id, recordName: typeof name === 'string' ? name : (names.get(id) ?? null) };
  return Object.entries(fields).flatMap(([field, [before, after]]): HistoryChange[] => {
    if (field === 'dynamicFields') return customValues(before, after, visibleFields).map((change) => ({ ...of, ...change }));
    const telling = told[field];
    if (!telling) return [];
    return [{ ...of, field: telling.name, before: telling.tell(before, currency?.[0] ?? currencyCode), after: telling.tell(after, currency?.[1] ?? currencyCode) }];
  });
}

type Values = Readonly<Record<string, unknown>>;

/** Custom values one by one, those that the caller may see. */
function customValues(before: unknown, after: unknown, visible: ReadonlySet<string>): Pick<HistoryChange, 'field' | 'before' | 'after'>[] {
  const [old, fresh] = [(before ?? {}) as Values, (after ?? {}) as Values];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((id) => visible.has(id) && JSON.stringify(old[id]) !== JSON.stringify(fresh[id]))
    .map((id) => ({ field: `dynamicFields.${id}`, before: old[id] ?? null, after: fresh[id] ?? null }));
}
