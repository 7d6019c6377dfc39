import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoiceInput, InvoicePatch } from '../../data-plane-agent/plane/contract/records/invoices.js';
import type { TestPlane } from './plane.js';
import { aContract, aLine } from './samples.js';

let made = 0;
export const anInvoice = (changes: Partial<InvoiceInput> = {}): InvoiceInput => ({
  invoiceNo: `F-${++made}`,
  invoiceAmount: 100,
  ...changes,
});

export async function invoicedContract(t: TestPlane, changes: Partial<ContractInput> = {}) {
  const contract = await t.plane.createContract(aContract({ payments: [aLine({ amount: 1_000 })], ...changes }));
  const contractId = contract.id;
  return {
    contract,
    contractId,
    lineId: contract.payments[0]?.id ?? '',
    post: (input: Partial<InvoiceInput> = {}) => t.plane.addInvoice({ contractId, ...anInvoice(input) }),
    patch: (invoiceId: string, patch: InvoicePatch) => t.plane.updateInvoice({ contractId, invoiceId, changes: patch }),
    detail: () => t.plane.getContract({ contractId }),
  };
}
