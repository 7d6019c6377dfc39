import { together } from '../../../base/together.js';
import { addDays } from '../../../base/day.js';
import { joined, jsonTextOf } from '../../../base/json-text.js';
import { mapYielding } from '../../../base/yielding.js';
import { pageOf } from '../../contract/records/common.js';
import { ContractQuery, PreparedContractPage, type PreparedContract } from '../../contract/records/contracts.js';
import { contractState } from '../../domain/contracts/presenter.js';
import { filterOf, orderOf } from '../../steps/contracts/list-filter.js';
import { operation } from '../../steps/operation-context.js';

/** One page of the contracts in scope, ready to be sent, with an exact total. */
export const listContracts = operation({
  effect: 'read',
  isKept: true,
  input: ContractQuery,
  output: PreparedContractPage,
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
    const [due, cores, shown] = await together(
      store.contractList.dueLines(rows, addDays(call.today, call.reminderLeadDays)),
      store.contractList.coresOf(rows),
      store.fields.shown(rows),
    );
    const items = await mapYielding(shown, (row): PreparedContract => {
      const { id, subjectId, ownerId, ownerSuperiorId, createdBy, updatedBy } = row;
      const core = cores.get(id);
      if (core === undefined) throw new Error(`contract ${id} is not in the snapshot that listed it`);
      const state = jsonTextOf(contractState(row, due.get(id) ?? [], call));
      return { id, json: joined(core, state), subjectId, ownerId, ownerSuperiorId, createdBy, updatedBy };
    });
    return pageOf(items, { page, pageSize, total: selection.total });
  },
});
