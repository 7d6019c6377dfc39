import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { InvoiceEntry } from '../../contract/records/invoice-register.js';
import { MAX_INVOICES } from '../../contract/records/invoices.js';
import { invoiceEntries } from '../../domain/invoices/register.js';
import { operation } from '../../steps/operation-context.js';

/** The invoice records of a contract in the order of their creation. */
export const listContractInvoices = operation({
  effect: 'read',
  input: s.object({ contractId: s.id() }),
  output: s.list(InvoiceEntry, MAX_INVOICES),
  fails: [],
  async run({ store }, _call, { contractId }) {
    const contract = await store.contracts.find(contractId);
    if (!contract) throw fail('NOT_FOUND', {});
    return invoiceEntries(await store.invoices.ofContract(contract.id));
  },
});
