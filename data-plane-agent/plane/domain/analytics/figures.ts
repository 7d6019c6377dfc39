/** Figures of one currency; amounts of different currencies are never added. */
interface Figured {
  readonly currencyCode: string;
}

/** The currencies of all given figures, ordered by code. */
export const currenciesOf = (...lists: readonly (readonly Figured[])[]): string[] =>
  [...new Set(lists.flat().map(({ currencyCode }) => currencyCode))].toSorted();

export const ofCurrency = <T extends Figured>(list: readonly T[], code: string): T[] =>
  list.filter(({ currencyCode }) => currencyCode === code);

export const total = <T>(list: readonly T[], of: (one: T) => bigint): bigint =>
  list.reduce((sum, one) => sum + of(one), 0n);
