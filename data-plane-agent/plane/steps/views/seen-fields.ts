import { isId } from '../../../base/ids.js';
import type { SavedViewRow } from '../../tables/views.js';
import type { OperationContext } from '../operation-context.js';

/** The ids of the custom fields that the caller can see; empty without a query if no view refers to one. */
export async function seenFields(
  { store }: Pick<OperationContext, 'store'>,
  rows: readonly SavedViewRow[],
): Promise<ReadonlySet<string>> {
  const names = rows.some(({ groupBy, visibleFields, cardFields }) =>
    [groupBy, ...visibleFields, ...cardFields].some(isId),
  );
  return new Set(names ? (await store.fields.visible()).map(({ id }) => id) : []);
}
