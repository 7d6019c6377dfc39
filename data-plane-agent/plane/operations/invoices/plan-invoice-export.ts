import { s } from '../../../base/schema.js';
import { RegisterFilter, RegisterPlan } from '../../contract/records/invoice-register.js';
import { checkRegisterFilter } from '../../domain/invoices/register-filter.js';
import { operation } from '../../steps/operation-context.js';

/** Fixes the content of an export before its first row is written: up to a limit, the ordered ids. */
export const planInvoiceExport = operation({
  effect: 'read',
  queued: true,
  input: s.object({ filter: RegisterFilter }),
  output: RegisterPlan,
  fails: [],
  async run({ store }, call, { filter }) {
    checkRegisterFilter(filter, call);
    return { ids: (await store.invoiceRegister.ids(filter)) ?? null };
  },
});
