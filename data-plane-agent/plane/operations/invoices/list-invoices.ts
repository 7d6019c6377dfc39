import { pageOf } from '../../contract/records/common.js';
import { RegisterPage, RegisterQuery } from '../../contract/records/invoice-register.js';
import { checkRegisterFilter } from '../../domain/invoices/register-filter.js';
import { registerRow } from '../../domain/invoices/register.js';
import { operation } from '../../steps/operation-context.js';

/** Invoice records of all contracts in the caller's scope. */
export const listInvoices = operation({
  effect: 'read',
  input: RegisterQuery,
  output: RegisterPage,
  fails: [],
  async run({ store }, call, { page, pageSize, ...filter }) {
    checkRegisterFilter(filter, call);
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.invoiceRegister.page(filter, asked);
    return pageOf(rows.map(registerRow), { ...asked, total });
  },
});
