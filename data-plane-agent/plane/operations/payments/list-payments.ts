import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import { pageOf } from '../../contract/records/common.js';
import { PaymentPage, PaymentQuery } from '../../contract/records/lines.js';
import { paymentRow } from '../../domain/contracts/presenter.js';
import type { Store } from '../../store/store.js';
import { operation } from '../../steps/operation-context.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';

/** Receivables of all contracts in the caller's scope, by tab. */
export const listPayments = operation({
  effect: 'read',
  isKept: true,
  input: PaymentQuery,
  output: PaymentPage,
  fails: [],
  async run({ store }, call, { tab, page, pageSize, contractId, subjectId, includeDeleted }) {
    const filter = {
      tab: tab ?? 'due',
      contractId: contractId ?? null,
      subjectId: subjectId ?? null,
      includeDeleted: includeDeleted ?? false,
    };
    if (filter.contractId !== null) await checkContractVisible(store, filter.contractId, filter);
    requireSubjectInScope(call, filter.subjectId);
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.paymentList.page(filter, asked);
    return pageOf(
      rows.map((row) => paymentRow(row, call)),
      { ...asked, total },
    );
  },
});

/** A filter by a contract outside the caller's scope fails like one by a missing contract. */
async function checkContractVisible(
  store: Store,
  contractId: string,
  { includeDeleted }: { includeDeleted: boolean },
): Promise<void> {
  const found =
    isId(contractId) &&
    ((await store.contracts.find(contractId)) ??
      (includeDeleted ? await store.contracts.find(contractId, { deleted: true }) : undefined));
  if (!found) throw fail('NOT_FOUND', {});
}
