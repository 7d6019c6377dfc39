import { fail, invalid } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { MAX_LINES } from '../../contract/records/contracts.js';
import { PaymentLineInput, PaymentLineResult } from '../../contract/records/lines.js';
import { checkSums, newLine } from '../../domain/payments/line-changes.js';
import { checkNewLineRights } from '../../domain/payments/line-rights.js';
import { openingReceipts } from '../../domain/payments/receipts.js';
import { followLines, writeInvoices } from '../../steps/receivables/follow-lines.js';
import { operation } from '../../steps/operation-context.js';
import { holdContract, writeAggregates } from '../../steps/receivables/change-line.js';
import { checkLineFiles } from '../../steps/receivables/check-line-files.js';
import { lineResult } from '../../steps/receivables/line-result.js';

/** Adds a line to a contract, also to a locked one, including amounts already received or invoiced. */
export const addPaymentLine = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...PaymentLineInput.properties }),
  output: PaymentLineResult,
  fails: ['RECONCILE_WITHOUT_RECEIPT', 'FILE_REFERENCE_INVALID', 'DUPLICATE_CODE', 'LIMIT_REACHED'],
  async run(operationContext, call, { contractId, ...input }) {
    const { store, newId } = operationContext;
    checkNewLineRights([input], call.rights);
    if (!isId(contractId)) throw fail('NOT_FOUND', {});
    const held = await holdContract(operationContext, call, contractId);
    const { context } = held;
    const position = held.lines.reduce((next, line) => Math.max(next, line.position + 1), 0);
    const draft = newLine(input, { id: newId(), contractId, position }, context);
    const {
      lines: [line = draft],
      changes,
    } = await followLines(operationContext, call, {
      contract: held.contract,
      steps: [{ before: null, after: draft, path: '' }],
      amounts: context.amounts,
    });
    const lines = [...held.lines, line];
    checkSums(lines, context);
    context.amounts.done();
    if (lines.length > MAX_LINES) throw invalid({ path: 'payments', problem: `must have at most ${MAX_LINES} items` });
    await checkLineFiles(store, input);
    await store.lines.insert([line]);
    await writeInvoices(operationContext, changes);
    await store.lines.insertReceipts(openingReceipts([line], { call, now: context.now, newId }));
    const contract = await writeAggregates(operationContext, call, { ...held, lines });
    return lineResult(operationContext, call, {
      before: null,
      after: line,
      contract,
      bankSerialNo: input.bankSerialNo,
      isPlan: true,
    });
  },
});
