import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { operation } from '../../steps/operation-context.js';

/** The currency of a payment line's amounts, to validate a request without running it. */
export const getLineCurrency = operation({
  effect: 'read',
  input: s.object({ paymentId: s.id() }),
  output: s.object({ currencyCode: s.currency(), contractCurrencyCode: s.currency() }),
  fails: [],
  async run({ store }, _call, { paymentId }) {
    const contractId = await store.lines.contractOf(paymentId);
    const contract = contractId === undefined ? undefined : await store.contracts.find(contractId);
    const line = contract && (await store.lines.ofContract(contract.id)).find(({ id }) => id === paymentId);
    if (!contract || !line) throw fail('NOT_FOUND', {});
    return { currencyCode: line.currencyCode, contractCurrencyCode: contract.currencyCode };
  },
});
