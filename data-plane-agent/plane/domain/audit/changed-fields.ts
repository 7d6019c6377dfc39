import type { Meaning } from '../../../base/database/columns.js';
import { iso } from '../../../base/instants.js';
import { isCurrency, toMajor, unitPriceNumber } from '../../../base/money.js';
import { AUDITED } from '../../tables/audited.js';
import type { KeptChange, Move } from './kept.js';

/** Returns the current currency of a record by its id, for events that do not contain it. */
export type CurrencyOf = (recordId: string) => string;

/** A changed field in the format of the API. */
export interface ChangedField {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** For amounts: the currency of `after`, or of `before` when `after` is `null`. */
  readonly currencyCode?: string;
  /** Whether the field is computed from other fields that are listed as well. */
  readonly isDerived: boolean;
}

/**
 * The fields of a stored change in the format of the API: field names, major units, ISO instants. Internal columns are
 * left out; facts are returned as stored.
 */
export function changedFields(change: KeptChange, currencyOf: CurrencyOf): ChangedField[] {
  const table = AUDITED.get(change.record);
  return Object.entries(change.fields).flatMap(([kept, move]): ChangedField[] => {
    const column = table?.audited.get(kept);
    if (column)
      return column.apiName === null
        ? []
        : [
            {
              field: column.apiName ?? kept,
              ...converted(column.meaning, { move, change, currencyOf }),
              isDerived: column.isDerived,
            },
          ];
    // The oldest events contain columns that are no longer audited.
    return table && !table.facts.includes(kept) ? [] : [{ field: kept, ...asKept(move), isDerived: false }];
  });
}

const asKept = ([before, after]: Move) => ({ before, after });

function converted(
  meaning: Meaning,
  { move, change, currencyOf }: { readonly move: Move; readonly change: KeptChange; readonly currencyOf: CurrencyOf },
): Pick<ChangedField, 'before' | 'after' | 'currencyCode'> {
  if (meaning !== 'money') return { before: apiValue(meaning, move[0]), after: apiValue(meaning, move[1]) };
  const [was, is] = (change.currency ?? change.fields['currencyCode'] ?? []).map((code) =>
    typeof code === 'string' && isCurrency(code) ? code : currencyOf(change.id),
  );
  return amounts(move, [was ?? currencyOf(change.id), is ?? currencyOf(change.id)]);
}

const amounts = ([before, after]: Move, [was, is]: readonly [string, string]) => ({
  before: major(before, was),
  after: major(after, is),
  currencyCode: after === null ? was : is,
});

const major = (minor: unknown, currency: string): unknown =>
  typeof minor === 'number' ? toMajor(minor, currency) : minor;

function apiValue(meaning: Exclude<Meaning, 'money'>, value: unknown): unknown {
  if (meaning === 'instant' && typeof value === 'number') return iso(value);
  return meaning === 'decimal' && typeof value === 'string' ? unitPriceNumber(value) : value;
}
