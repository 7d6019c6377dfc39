import type { AuditChange } from '../../../base/audit/records.js';
import type { KeptChange } from './kept.js';
import { changedFields, type CurrencyOf } from './changed-fields.js';

/** Information about the reader and the records that the trail does not contain. */
export interface AuditReader {
  readonly currencyOf: CurrencyOf;
  /** Custom fields whose values the reader may not see. */
  readonly hiddenFields: ReadonlySet<string>;
}

/** A stored change as the audit list shows it. */
export const auditChanges = (change: KeptChange, { currencyOf, hiddenFields }: AuditReader): AuditChange[] =>
  changedFields(change, currencyOf).flatMap(({ field, before, after, currencyCode }) =>
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

/** Removes hidden custom values; returns nothing when no other value changed. */
function shown(change: AuditChange, hiddenFields: ReadonlySet<string>): AuditChange[] {
  if (change.recordKind !== 'contract' || change.field !== 'dynamicFields' || hiddenFields.size === 0) return [change];
  const seen = (values: unknown) =>
    typeof values === 'object' && values !== null
      ? Object.fromEntries(Object.entries(values).filter(([id]) => !hiddenFields.has(id)))
      : values;
  const [before, after] = [seen(change.before), seen(change.after)];
  return JSON.stringify(before ?? {}) === JSON.stringify(after ?? {}) ? [] : [{ ...change, before, after }];
}
