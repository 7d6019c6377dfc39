import { OK, Ok } from '../../contract/records/common.js';
import { RegisterExportRecord } from '../../contract/records/invoice-register.js';
import { operation } from '../../steps/operation-context.js';

/** Records a completed export of the invoice register in the audit: who exported which records, and how many. */
export const recordInvoiceExport = operation({
  effect: 'write',
  input: RegisterExportRecord,
  output: Ok,
  fails: [],
  async run({ recorder, newId }, _call, about) {
    recorder.recordEvent({ record: 'export', id: newId(), about: { profile: 'invoices', ...about } });
    return OK;
  },
});
