import { addDays } from '../../../base/day.js';
import { pageOf } from '../../contract/records/common.js';
import { ContractPage, ContractQuery } from '../../contract/records/contracts.js';
import { contractSummary } from '../../domain/contracts/presenter.js';
import { filterOf, orderOf } from '../../steps/contracts/list-filter.js';
import { operation } from '../../steps/operation-context.js';

/** One page of the contracts in scope, with an exact total. */
export const listContracts = operation({
  effect: 'read',
  input: ContractQuery,
  output: ContractPage,
  fails: [],
  async run({ store }, call, query) {
    const page = query.page ?? 1;
    const pageSize = query.pageSize ?? 20;
    const offset = (page - 1) * pageSize;
    const selection = await store.contractList.select(filterOf(query, call));
    const rows =
      offset < selection.total
        ? await store.contractList.page(selection, orderOf(query), { offset, limit: pageSize })
        : [];
    const due = await store.contractList.dueLines(rows, addDays(call.today, call.reminderLeadDays));
    const shown = await store.fields.shown(rows);
    return pageOf(
      shown.map((row) => contractSummary(row, due.get(row.id) ?? [], call)),
      { page, pageSize, total: selection.total },
    );
  },
});
