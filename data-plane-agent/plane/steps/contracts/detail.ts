import { together } from '../../../base/together.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractDetail } from '../../contract/records/contracts.js';
import { contractDetail, type ContractParts } from '../../domain/contracts/presenter.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/** A contract with all its parts, as every operation returns it. Parts that are not in `known` are read. */
export async function detailOf(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  {
    row,
    known = {},
    warnings = [],
  }: {
    readonly row: ContractRow;
    readonly known?: Partial<Omit<ContractParts, 'row'>>;
    readonly warnings?: readonly Warning[];
  },
): Promise<ContractDetail> {
  const [[shown], lines, terms, notes, tasks, invoices] = await together(
    store.fields.shown([row]),
    known.lines ? Promise.resolve(known.lines) : store.lines.ofContract(row.id),
    known.terms ? Promise.resolve(known.terms) : store.contracts.terms(row.id),
    known.notes ? Promise.resolve(known.notes) : store.contracts.notes(row.id),
    known.tasks ? Promise.resolve(known.tasks) : store.tasks.ofContract(row.id),
    known.invoices ? Promise.resolve(known.invoices) : store.invoices.ofContract(row.id),
  );
  if (!shown) throw new Error('no row was returned for the contract');
  return contractDetail({ row: shown, lines, terms, notes, tasks, invoices }, call, warnings);
}
