import type { ContractRow } from '../../tables/contracts.js';

const SHOWN = Symbol('custom values as the caller may see them');

/**
 * A contract, or some of its columns, with only the custom values that the caller may see. Answers accept only this
 * type, so that the filter cannot be forgotten.
 */
export type Shown<R extends Pick<ContractRow, 'dynamicFields'>> = R & { readonly [SHOWN]: true };
export type ShownContract = Shown<ContractRow>;

/** `visible` are the ids of the fields that the caller may see. */
export const shownContract = <R extends Pick<ContractRow, 'dynamicFields'>>(
  row: R,
  visible: ReadonlySet<string>,
): Shown<R> => ({
  ...row,
  dynamicFields: shownValues(row.dynamicFields, visible),
  [SHOWN]: true,
});

/** The custom values that the caller may see. */
export const shownValues = (
  values: ContractRow['dynamicFields'],
  visible: ReadonlySet<string>,
): ContractRow['dynamicFields'] => Object.fromEntries(Object.entries(values).filter(([id]) => visible.has(id)));

export const hasValues = ({ dynamicFields }: Pick<ContractRow, 'dynamicFields'>): boolean => {
  for (const _ in dynamicFields) return true;
  return false;
};
