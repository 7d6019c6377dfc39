import type { AuditChange } from '../../../base/audit/records.js';
import type { KeptChange } from './kept.js';
import { toldFields, type CurrencyOf } from './told.js';

/** What the trail does not keep with each event. */
export interface AuditReader {
  readonly currencyOf: CurrencyOf;
  /** Custom fields whose values the reader may not see. */
  readonly hiddenFields: ReadonlySet<string>;
}

/** A kept change as the list of the audit shows it. */
export const auditChanges = (change: KeptChange, { currencyOf, hiddenFields }: AuditReader): AuditChange[] =>
  toldFields(change, currencyOf).flatMap(({ field, before, after, currencyCode }) =>
    shown(
      {
        recordKind: change.record,
        recordId: change.id,
        field,
        before,
        after,
        ...(currencyCode === undefined ? {} : { currencyCode }),
      },
      hiddenFields,
    ),
  );

/** Custom values without the hidden ones; where nothing else changed there is nothing to tell. */
function shown(change: AuditChange, hiddenFields: ReadonlySet<string>): AuditChange[] {
  if (change.recordKind !== 'contract' || change.field !== 'dynamicFields' || hiddenFields.size === 0) return [change];
  const seen = (values: unknown) =>
    typeof values === 'object' && values !== null
      ? Object.fromEntries(Object.entries(values).filter(([id]) => !hiddenFields.has(id)))
      : values;
  const [before, after] = [seen(change.before), seen(change.after)];
  return JSON.stringify(before ?? {}) === JSON.stringify(after ?? {}) ? [] : [{ ...change, before, after }];
}
