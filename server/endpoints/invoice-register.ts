import { todayIn } from '../../data-plane-agent/base/day.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { page } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  InvoiceEntry,
  registerProperties,
  RegisterQuery,
} from '../../data-plane-agent/plane/contract/records/invoice-register.js';
import { MAX_INVOICES } from '../../data-plane-agent/plane/contract/records/invoices.js';
import { edit, view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { checkFilter, rowNameProperties, withRowNames } from './named.js';
import { attachment, fileOf } from '../http/reply.js';
import { namesOf } from '../spreadsheets/contract-sheet.js';
import { invoiceSheet } from '../spreadsheets/invoice-sheet.js';
import { EXPORTS_AT_ONCE, limitedExport } from '../spreadsheets/open-exports.js';

/** A row with the names that the control plane adds. */
const RegisterRow = s.object({ ...registerProperties, ...rowNameProperties }, { title: 'InvoiceRegisterRow' });

/** Each chunk may wait for the chunks of other exports. */
const CHUNK_MS = 60_000;

const listContractInvoices = endpoint('GET /contracts/:id/invoices', {
  summary: 'List the invoice records of a contract',
  description:
    'All records in the order of their creation, also drafts and void records. A red letter has the record that it reverses in `reverses`, and a reversed record its red letter in `reversedBy`, each with number, id and date.',
  needs: view('contract_view'),
  returns: s.list(InvoiceEntry, MAX_INVOICES, `A plain array: a contract has at most ${MAX_INVOICES} records.`),
  calls: ['listContractInvoices'],
  fails: [],
  run: ({ params, plane }) => plane.listContractInvoices({ contractId: params.id }),
});

const listInvoices = endpoint('GET /invoices', {
  summary: 'List the invoice records of all contracts',
  description:
    'The invoice register of the contracts visible to the caller, the latest `invoiceDate` first and records without a date last. `from` and `to` include their days and leave out records without a date. The sum of `countedAmount` in one currency is the amount invoiced net of red letters. Records of deleted contracts are not listed.',
  needs: view('invoice'),
  query: RegisterQuery,
  returns: page(RegisterRow, { title: 'InvoiceRegisterPage' }),
  calls: ['listInvoices'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    checkFilter(query, directory);
    const found = await plane.listInvoices(query);
    return {
      ...found,
      items: found.items.map((row) => withRowNames(row, directory)),
    };
  },
});

const exportInvoices = endpoint('GET /invoices/export', {
  summary: 'Export the invoice register as CSV',
  description:
    'One row for each record, in UTF-8 with a byte order mark, CRLF line ends and RFC 4180 quoting; headers are the field names of `GET /invoices`. Takes the filters of `GET /invoices`; `page` and `pageSize` are accepted and ignored. Up to 10 000 records are in the order of that list; a larger result is in the order in which the records were created, newest first, so that each record appears exactly once. ' +
    'A text that begins with `=`, `+`, `-`, `@`, a tab or one of their full-width equivalents is prefixed with an apostrophe. The file is streamed: a transfer that ends without the final chunk is incomplete. Each export is recorded in the audit. ' +
    `A tenant can run up to ${EXPORTS_AT_ONCE} exports, of contracts and invoices together, at the same time; further exports return 429 with \`Retry-After\`.`,
  needs: edit('export'),
  query: RegisterQuery,
  produces: 'text/csv',
  idempotencyKey: 'own',
  returns: fileOf('text/csv', 'The invoice records.'),
  calls: ['planInvoiceExport', 'exportInvoices', 'recordInvoiceExport'],
  timeoutMs: CHUNK_MS,
  fails: [],
  run: async ({ query: { page: _page, pageSize: _pageSize, ...filter }, plane, principal, request, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    checkFilter(filter, directory);
    const day = todayIn(principal.settings.timezone, request.receivedAt);
    return attachment(limitedExport(principal.tenant.id, invoiceSheet({ plane, filter, names: namesOf(directory) })), {
      fileName: `invoices-${day}.csv`,
    });
  },
});

export const invoiceRegisterEndpoints = { listContractInvoices, listInvoices, exportInvoices };
