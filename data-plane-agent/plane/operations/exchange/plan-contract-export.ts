import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { EXPORT_PROFILES, ExportFilter, ExportPlan } from '../../contract/records/export.js';
import { filterOf, orderOf } from '../../steps/contracts/list-filter.js';
import { operation } from '../../steps/operation-context.js';
import { columnsOf } from '../../steps/exchange/export-columns.js';

/**
 * Fixes the content of an export before its first row is written: its columns and, up to a limit, the ordered contract
 * ids.
 */
export const planContractExport = operation({
  effect: 'read',
  queued: true,
  input: s.object({ profile: s.enum(EXPORT_PROFILES), filter: ExportFilter }),
  output: ExportPlan,
  fails: [],
  async run({ store }, call, { profile, filter }) {
    const found = await store.contractExport.ids(filterOf(filter, call), orderOf(filter), filter.ids?.filter(isId));
    return { columns: await columnsOf(store, profile), ids: found ?? null };
  },
});
