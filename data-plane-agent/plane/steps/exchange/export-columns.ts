import type { ExportColumn, ExportProfile } from '../../contract/records/export.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../domain/sheet/columns.js';
import { customColumn } from '../../domain/sheet/custom-columns.js';
import type { Store } from '../../store/store.js';

/** The columns of a profile in order, with the custom fields that the caller may see. */
export async function columnsOf(store: Store, profile: ExportProfile): Promise<ExportColumn[]> {
  const own = (columns: readonly { readonly name: string; readonly names?: ExportColumn['names'] }[]): ExportColumn[] =>
    columns.map(({ name, names = null }) => ({ name, fieldId: null, names }));
  if (profile === 'summary') return own(SUMMARY_COLUMNS);
  return [...own(CONTRACT_COLUMNS), ...(await store.fields.visible()).map(customColumn), ...own(LINE_COLUMNS)];
}
