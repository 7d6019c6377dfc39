import { s } from '../../../base/schema.js';
import { REGISTER_CHUNK, RegisterChunk, RegisterFilter } from '../../contract/records/invoice-register.js';
import { checkRegisterFilter } from '../../domain/invoices/register-filter.js';
import { registerRow } from '../../domain/invoices/register.js';
import { operation } from '../../steps/operation-context.js';

/** The next rows of an export: of the planned `ids`, or the records `after` the given one. */
export const exportInvoices = operation({
  effect: 'read',
  queued: true,
  input: s.object({
    filter: RegisterFilter,
    ids: s.nullable(s.list(s.id(), REGISTER_CHUNK)),
    after: s.nullable(s.id()),
  }),
  output: RegisterChunk,
  fails: [],
  async run({ store }, call, { filter, ids, after }) {
    checkRegisterFilter(filter, call);
    const rows = ids
      ? await store.invoiceRegister.byIds(ids)
      : await store.invoiceRegister.following(filter, { after, limit: REGISTER_CHUNK });
    const next = ids || rows.length < REGISTER_CHUNK ? null : (rows.at(-1)?.invoice.id ?? null);
    return { invoices: rows.map(registerRow), next };
  },
});
