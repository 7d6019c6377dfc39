import { together } from '../../../base/together.js';
import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { PaymentLinePatch } from '../../contract/records/lines.js';
import { AmountReader } from '../../domain/amounts.js';
import { touched, withAggregates } from '../../domain/contracts/changes.js';
import { checkSums, isUnchanged, type LineContext } from '../../domain/payments/line-changes.js';
import type { OperationContext } from '../operation-context.js';
import { checkLineFiles } from './check-line-files.js';
import { followLines, writeInvoices } from './follow-lines.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';
import { receiptHistory } from './receipt-history.js';

/** A contract locked until the transaction ends, with its live lines. */
export interface HeldContract {
  readonly contract: ContractRow;
  readonly lines: readonly LineRow[];
  readonly context: LineContext;
}

/**
 * Locks a contract before one of its lines is read: its totals are computed from all lines, so that changes of
 * different lines must not interleave.
 */
export async function holdContract(
  operationContext: OperationContext,
  call: Call,
  contractId: string,
): Promise<HeldContract> {
  if (!isId(contractId)) throw fail('NOT_FOUND', {});
  const { store } = operationContext;
  const [contract, lines] = await together(
    store.contracts.find(contractId, { forUpdate: true }),
    store.lines.ofContract(contractId), // read after the lock
  );
  return held(operationContext, call, { contract, lines });
}

function held(
  { clock }: OperationContext,
  call: Call,
  { contract, lines }: { readonly contract: ContractRow | undefined; readonly lines: readonly LineRow[] },
): HeldContract {
  if (!contract) throw fail('NOT_FOUND', {});
  const context = {
    amounts: new AmountReader(),
    path: '',
    today: call.today,
    now: clock.now(),
    contractCurrency: contract.currencyCode,
    unlinkedInvoicedMinor: contract.unlinkedInvoicedMinor,
  };
  return { contract, lines, context };
}

interface LineChange {
  readonly paymentId: string;
  readonly files?: Pick<PaymentLinePatch, 'proof' | 'invoiceAttachment'>;
  /** The line as it should be. May throw, and must not write. */
  to(line: LineRow, held: HeldContract): LineRow | Promise<LineRow>;
}

interface ChangedLineOfContract {
  readonly before: LineRow;
  readonly after: LineRow;
  /** The contract and its live lines after the change. */
  readonly contract: ContractRow;
  readonly lines: readonly LineRow[];
}

/**
 * Changes one line, its receipt history and the contract's totals in one transaction. A change without effect writes
 * nothing.
 */
export async function changeLine(
  operationContext: OperationContext,
  call: Call,
  { paymentId, files, to }: LineChange,
): Promise<ChangedLineOfContract> {
  const { store } = operationContext;
  const [contractOfLine, linesOfContract, last] = await together(
    store.contracts.holdOfLine(paymentId),
    store.lines.besides(paymentId), // read after the lock, as are the receipts
    store.transfers.lastOf([paymentId].filter(isId)),
  );
  const one = held(operationContext, call, { contract: contractOfLine, lines: linesOfContract });
  const { contract, context } = one;
  const before = one.lines.find(({ id }) => id === paymentId);
  if (!before) throw fail('NOT_FOUND', {}); // deleted while this waited for the lock
  const asked = await to(before, one);
  const {
    lines: [line = asked],
    changes,
  } = await followLines(operationContext, call, {
    contract,
    steps: [{ before, after: asked, path: '' }],
    amounts: context.amounts,
  });
  const lines = one.lines
    .map((other) => (other.id === paymentId ? line : other))
    .filter(({ deletedAt }) => deletedAt === null);
  checkSums(lines, context);
  context.amounts.done();
  if (files) await checkLineFiles(store, files);
  if (isUnchanged(before, line)) return { before, after: before, contract, lines: one.lines };
  await store.lines.update(before, line);
  await writeInvoices(operationContext, changes);
  const receipts = await receiptHistory(operationContext, call, { changes: [{ before, after: line }], last });
  await store.lines.insertReceipts(receipts);
  return {
    before,
    after: line,
    contract: await writeAggregates(operationContext, call, { contract, lines, context }),
    lines,
  };
}

/** Writes the contract's totals of its lines, and increments its version even if they are unchanged. */
export const writeAggregates = (
  { store }: OperationContext,
  call: Call,
  { contract, lines, context }: HeldContract,
): Promise<ContractRow> =>
  store.contracts.update(
    contract,
    touched(withAggregates(contract, lines), { now: context.now, actorId: call.actor.id }),
  );
