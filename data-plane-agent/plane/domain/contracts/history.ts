import type { AuditRow } from '../../../base/audit/records.js';
import {
  HISTORY_RECORDS,
  MAX_HISTORY_CHANGES,
  type HistoryChange,
  type HistoryEntry,
  type HistoryRecord,
} from '../../contract/records/history.js';
import { iso } from '../../../base/instants.js';
import type { KeptChange } from '../audit/kept.js';
import { changedFields, type CurrencyOf } from '../audit/changed-fields.js';

/** Information about the reader and the records that the trail does not contain. */
export interface HistoryReader {
  readonly currencyOf: CurrencyOf;
  /** Ids of the custom fields that the caller may see. */
  readonly visibleFields: ReadonlySet<string>;
  /** The current names of records by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** The stored field that serves as the record's name; a hold has the id of its line, and is named after it. */
const CALLED_BY: Readonly<Record<HistoryRecord, string | null>> = {
  contract: 'contractNo',
  payment_line: 'period',
  term: 'title',
  note: 'label',
  invoice: 'invoiceNo',
  fulfillment_task: 'code',
  hold: null,
  reminder: 'step',
};

type Change = KeptChange & { readonly record: HistoryRecord };
const isOfContract = (change: KeptChange): change is Change =>
  (HISTORY_RECORDS as readonly string[]).includes(change.record);

/** An event of a contract's trail in the format of the API. */
export function historyEntry(
  { id, at, action, actorKind, actorId, actorName }: AuditRow,
  kept: readonly KeptChange[],
  reader: HistoryReader,
): HistoryEntry {
  const changes = kept.filter(isOfContract).flatMap((change) => changesOf(change, reader));
  return {
    id,
    at: iso(at),
    action,
    actor: { kind: actorKind as HistoryEntry['actor']['kind'], id: actorId, name: actorName },
    changeCount: changes.length,
    changes: changes.slice(0, MAX_HISTORY_CHANGES),
  };
}

function changesOf(change: Change, { currencyOf, visibleFields, names }: HistoryReader): HistoryChange[] {
  const { record, id, fields } = change;
  const field = CALLED_BY[record];
  const [oldName, newName] = (field === null ? undefined : fields[field]) ?? [null, null];
  const name = newName ?? oldName;
  const of = { record, recordId: id, recordName: typeof name === 'string' ? name : (names.get(id) ?? null) };
  return changedFields(change, currencyOf).flatMap(({ field, before, after, isDerived }): HistoryChange[] => {
    if (field === 'dynamicFields')
      return customValues(before, after, visibleFields).map((value) => ({ ...of, ...value }));
    return isDerived ? [] : [{ ...of, field, before, after }];
  });
}

type Values = Readonly<Record<string, unknown>>;

/** Changed custom values, one entry each, limited to those that the caller may see. */
function customValues(
  before: unknown,
  after: unknown,
  visible: ReadonlySet<string>,
): Pick<HistoryChange, 'field' | 'before' | 'after'>[] {
  const [old, fresh] = [(before ?? {}) as Values, (after ?? {}) as Values];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((id) => visible.has(id) && JSON.stringify(old[id]) !== JSON.stringify(fresh[id]))
    .map((id) => ({ field: `dynamicFields.${id}`, before: old[id] ?? null, after: fresh[id] ?? null }));
}
