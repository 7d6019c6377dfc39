import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Columns, Table } from '../../data-plane-agent/base/database/columns.js';
import { root } from '../support/source.js';

/** What the audit calls a row of each table, and the fields that it does not keep: bookkeeping of the row itself, keys made of other fields, and what follows from other rows. */
const AUDITED: Readonly<Record<string, readonly [record: string, ...unaudited: string[]]>> = {
  contracts: ['contract', 'id', 'archiveKey', 'contractKey', 'tasksLive', 'tasksDone', 'tasksInTimeUntil', 'totalAmount', 'outstandingAmount', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'version'],
  payment_lines: ['payment_line', 'id', 'contractId', 'position', 'invoiceRecords', 'invoicesStanding', 'createdAt', 'updatedAt'],
  contract_terms: ['term', 'id', 'contractId', 'position', 'createdAt', 'updatedAt'],
  contract_notes: ['note', 'id', 'contractId', 'position', 'createdAt', 'updatedAt'],
  invoices: ['invoice', 'id', 'contractId', 'invoiceKey', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'],
  fulfillment_tasks: ['fulfillment_task', 'id', 'contractId', 'codeKey', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'],
  workflow_events: ['workflow_event', 'id', 'contractId', 'actorId', 'actorName', 'actorRole', 'source', 'createdAt'],
  contract_types: ['contract_type', 'id', 'createdAt', 'updatedAt'],
  lifecycle_templates: ['lifecycle', 'id', 'createdAt', 'updatedAt'],
  lifecycle_stages: ['lifecycle_stage', 'id', 'templateId', 'createdAt', 'updatedAt'],
  lifecycle_transitions: ['lifecycle_transition', 'id', 'templateId', 'createdAt', 'updatedAt'],
  dynamic_fields: ['dynamic_field', 'id', 'nameKey', 'createdAt', 'updatedAt', 'version'],
  saved_views: ['saved_view', 'id', 'nameKey', 'createdBy', 'createdAt', 'updatedAt'],
  files: ['file', 'id', 'contractId', 'objectKey', 'etag', 'scanTries', 'scanDueAt', 'createdAt', 'updatedAt'],
};
/** A receipt is told by the line that has it; what is read of documents and of imported files is told in words of their own. */
const UNTOLD = ['receipts', 'extraction_runs', 'extraction_field_reviews', 'extraction_reviews', 'import_batches', 'file_uploads', 'dynamic_field_forms'];

describe('what the audit keeps of a row', () => {
  let tables: readonly Table<Columns>[];

  before(async () => {
    const folder = join(root, 'data-plane-agent', 'plane', 'tables');
    const modules = await Promise.all(readdirSync(folder).map((file): Promise<Record<string, unknown>> => import(`../../data-plane-agent/plane/tables/${file.replace(/ts$/, 'js')}`)));
    tables = modules.flatMap((one) => Object.values(one)).filter(isTable);
  });

  it('is said by each table, and by each of its columns', () => {
    const said = tables.filter(({ auditedAs }) => auditedAs !== null).map(({ name, auditedAs, columns }) => [name, [auditedAs, ...[...columns].filter(([, { auditName }]) => auditName === null).map(([field]) => field)]]);
    expect(Object.fromEntries(said)).to.deep.equal(AUDITED);
    expect(tables.filter(({ auditedAs }) => auditedAs === null).map(({ name }) => name)).to.have.members(UNTOLD);
  });

  it('tells amounts, instants and account numbers for what they are', () => {
    const wrong = tables.flatMap(({ name, columns }) => [...columns].filter(([, column]) => column.meaning !== meaningOf(column.name)).map(([field]) => `${name}.${field}`));
    expect(wrong).to.deep.equal([]);
  });

  it('tells an amount only of a row that has a currency', () => {
    const lost = tables.filter(({ columns }) => [...columns.values()].some(({ meaning }) => meaning === 'money') && !columns.has('currencyCode'));
    expect(lost.map(({ name }) => name)).to.deep.equal([]);
  });

  it('never says two fields under one name', () => {
    for (const { name, columns } of tables) {
      const names = [...columns].flatMap(([field, { auditName }]) => (auditName === null ? [] : [auditName ?? field]));
      expect(new Set(names).size, name).to.equal(names.length);
    }
  });
});

/** Modules that are imported on the way are not those that mocha loads: their classes are others. */
const isTable = (value: unknown): value is Table<Columns> => typeof value === 'object' && value !== null && value.constructor.name === 'Table';

/** By the names that our columns have. */
function meaningOf(column: string): string {
  if (column.endsWith('_minor')) return 'money';
  if (column.endsWith('_at') || column === 'claimed_until') return 'instant';
  if (column === 'payee_account' || column === 'receipt_account') return 'account';
  return column === 'unit_price' || column === 'tax_rate' ? 'decimal' : 'plain';
}
