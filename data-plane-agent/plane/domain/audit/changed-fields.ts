import type { Meaning } from '../../../base/database/columns.js';
import { iso } from '../../../base/instants.js';
import { isCurrency, toMajor, unitPriceNumber } from '../../../base/money.js';
import { AUDITED } from '../../tables/audited.js';
import type { KeptChange, Move } from './kept.js';

/** The currency that a record has now, by its id: for events that do not tell it. */
export type CurrencyOf = (recordId: string) => string;

/** A changed field as requests and answers have it. */
export interface ToldField {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Of amounts: the currency of `after`, or of `before` where there is nothing after. */
  readonly currencyCode?: string;
  /** It follows from others, which are told too. */
  readonly isDerived: boolean;
}

/**
 * A kept change in the words of the API: its names, major units, instants. What is internal is left out; facts are told
 * as they are kept.
 */
export function toldFields(change: KeptChange, currencyOf: CurrencyOf): ToldField[] {
  const table = AUDITED.get(change.record);
  return Object.entries(change.fields).flatMap(([kept, move]): ToldField[] => {
    const column = table?.audited.get(kept);
    if (column)
      return column.apiName === null
        ? []
        : [
            {
              field: column.apiName ?? kept,
              ...told(column.meaning, { move, change, currencyOf }),
              isDerived: column.isDerived,
            },
          ];
    // Of a row, the oldest events hold columns that have since been left out of the audit.
    return table && !table.facts.includes(kept) ? [] : [{ field: kept, ...asKept(move), isDerived: false }];
  });
}

const asKept = ([before, after]: Move) => ({ before, after });

function told(
  meaning: Meaning,
  { move, change, currencyOf }: { readonly move: Move; readonly change: KeptChange; readonly currencyOf: CurrencyOf },
): Pick<ToldField, 'before' | 'after' | 'currencyCode'> {
  if (meaning !== 'money') return { before: tell(meaning, move[0]), after: tell(meaning, move[1]) };
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

function tell(meaning: Exclude<Meaning, 'money'>, value: unknown): unknown {
  if (meaning === 'instant' && typeof value === 'number') return iso(value);
  return meaning === 'decimal' && typeof value === 'string' ? unitPriceNumber(value) : value;
}
