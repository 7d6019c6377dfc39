import { warn } from '../../../base/warnings.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { PaymentLineResult } from '../../contract/records/lines.js';
import { paymentLine } from '../../domain/contracts/presenter.js';
import {
  invoiceDateWarnings,
  invoiceWarnings,
  receiptWarnings,
  type ChangedLine,
} from '../../domain/payments/line-changes.js';
import { planWarnings } from '../../domain/payments/plan-warnings.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import { reusedTransfers } from './shared-transfers.js';

/** The maximum of other lines that a warning names. */
const NAMED_LINES = 20;

const REPEATED = 'This line already has a receipt of the same bank transfer: check that it was not recorded twice.';

export interface LineOutcome extends ChangedLine {
  readonly contract: ContractRow;
  /** The bank transfer in the request. */
  readonly bankSerialNo?: string | null | undefined;
  /** Whether the request says what is owed: then the plan is compared with the contract's total. */
  readonly isPlan?: boolean;
  /** Whether the line had already received an amount by that transfer, to which the request adds another. */
  readonly isRepeated?: boolean;
}

/** A changed line as it is returned, with warnings. */
export async function lineResult(
  context: OperationContext,
  call: Call,
  { before, after: line, contract, bankSerialNo, isPlan = false, isRepeated = false }: LineOutcome,
): Promise<PaymentLineResult> {
  const warnings: Warning[] = [
    ...(line.currencyCode === contract.currencyCode ? [] : [warn('MIXED_CURRENCY', {})]),
    ...(isPlan ? planWarnings(contract, [line]) : []),
    ...receiptWarnings({ before, after: line }, call.today),
    ...(isRepeated ? [warn('BANK_SERIAL_REUSED', { message: REPEATED, paymentIds: [line.id] })] : []),
    ...(bankSerialNo ? await reusedTransfers(context, [line], { atMost: NAMED_LINES }) : []),
    ...invoiceDateWarnings(line, call.today).map((warning) => ({ ...warning, paymentIds: [line.id] })),
    ...invoiceWarnings(line),
  ];
  return { ...paymentLine(line, call), warnings };
}
