import { fail } from '../../../base/failures.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { OperationContext } from '../operation-context.js';

/** Reads a live line in the caller's scope, with its contract's row locked until the transaction ends. */
export async function heldLine({ store }: OperationContext, paymentId: string): Promise<LineRow> {
  const contractId = await store.lines.contractOf(paymentId);
  const contract = contractId === undefined ? undefined : await store.contracts.find(contractId, { forUpdate: true });
  const line = contract && (await store.lines.ofContract(contract.id)).find(({ id }) => id === paymentId);
  if (!line) throw fail('NOT_FOUND', {});
  return line;
}
