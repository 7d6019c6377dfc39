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
  const [shown] = await store.fields.shown([row]);
  if (!shown) throw new Error('no row was returned for the contract');
  const parts = {
    row: shown,
    lines: known.lines ?? (await store.lines.ofContract(row.id)),
    terms: known.terms ?? (await store.contracts.terms(row.id)),
    notes: known.notes ?? (await store.contracts.notes(row.id)),
    tasks: known.tasks ?? (await store.tasks.ofContract(row.id)),
    invoices: known.invoices ?? (await store.invoices.ofContract(row.id)),
  };
  return contractDetail(parts, call, warnings);
}
