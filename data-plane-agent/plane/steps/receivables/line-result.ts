import { warn } from '../../../base/warnings.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { PaymentLineResult } from '../../contract/records/lines.js';
import { paymentLine } from '../../domain/contracts/presenter.js';
import { invoiceWarnings, receiptWarnings } from '../../domain/payments/line-changes.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** The maximum of other lines that a warning names. */
const NAMED_LINES = 20;

/** A changed line as it is returned, with warnings. `bankSerialNo` is the one in the request. */
export async function lineResult(
  { store }: OperationContext,
  call: Call,
  { line, contract, bankSerialNo }: { line: LineRow; contract: ContractRow; bankSerialNo?: string | null | undefined },
): Promise<PaymentLineResult> {
  const sameTransfer = bankSerialNo ? await store.lines.withBankSerial(bankSerialNo, line.id, NAMED_LINES) : [];
  const warnings: Warning[] = [
    ...(line.currencyCode === contract.currencyCode ? [] : [warn('MIXED_CURRENCY', {})]),
    ...receiptWarnings(line),
    ...(sameTransfer.length === 0 ? [] : [warn('BANK_SERIAL_REUSED', { paymentIds: sameTransfer })]),
    ...invoiceWarnings(line),
  ];
  return { ...paymentLine(line, call), warnings };
}
