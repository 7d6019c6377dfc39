import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Columns, Table } from '../../data-plane-agent/base/database/columns.js';
import { Hold, ReminderDelivery } from '../../data-plane-agent/plane/contract/records/collections.js';
import { ContractDetail, Note, Term } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { DynamicField } from '../../data-plane-agent/plane/contract/records/fields.js';
import { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { Invoice } from '../../data-plane-agent/plane/contract/records/invoices.js';
import {
  ContractType,
  Stage,
  Template,
  TransitionConfig,
} from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { PaymentLine } from '../../data-plane-agent/plane/contract/records/lines.js';
import { Task } from '../../data-plane-agent/plane/contract/records/tasks.js';
import { TrashedContract } from '../../data-plane-agent/plane/contract/records/trash.js';
import { SavedView } from '../../data-plane-agent/plane/contract/records/views.js';
import { WorkflowEvent } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { changedFields } from '../../data-plane-agent/plane/domain/audit/changed-fields.js';
import { AUDITED as AUDITED_TABLES } from '../../data-plane-agent/plane/tables/audited.js';
import { root } from '../support/source.js';

/**
 * The name of each table's rows in the audit, and the fields that it does not record: metadata of the row, keys derived
 * from other fields, and values derived from other rows.
 */
const AUDITED: Readonly<Record<string, readonly [record: string, ...unaudited: string[]]>> = {
  contracts: [
    'contract',
    'id',
    'archiveKey',
    'contractKey',
    'tasksLive',
    'tasksDone',
    'tasksInTimeUntil',
    'totalAmount',
    'outstandingAmount',
    'createdAt',
    'createdBy',
    'updatedAt',
    'updatedBy',
    'version',
  ],
  payment_lines: [
    'payment_line',
    'id',
    'contractId',
    'position',
    'invoiceRecords',
    'invoicesStanding',
    'createdAt',
    'updatedAt',
  ],
  contract_terms: ['term', 'id', 'contractId', 'position', 'createdAt', 'updatedAt'],
  contract_notes: ['note', 'id', 'contractId', 'position', 'createdAt', 'updatedAt'],
  invoices: ['invoice', 'id', 'contractId', 'invoiceKey', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'],
  fulfillment_tasks: [
    'fulfillment_task',
    'id',
    'contractId',
    'codeKey',
    'createdAt',
    'createdBy',
    'updatedAt',
    'updatedBy',
  ],
  workflow_events: ['workflow_event', 'id', 'contractId', 'actorId', 'actorName', 'actorRole', 'source', 'createdAt'],
  contract_types: ['contract_type', 'id', 'createdAt', 'updatedAt'],
  lifecycle_templates: ['lifecycle', 'id', 'createdAt', 'updatedAt'],
  lifecycle_stages: ['lifecycle_stage', 'id', 'templateId', 'createdAt', 'updatedAt'],
  lifecycle_transitions: ['lifecycle_transition', 'id', 'templateId', 'createdAt', 'updatedAt'],
  dynamic_fields: ['dynamic_field', 'id', 'nameKey', 'createdAt', 'updatedAt', 'version'],
  line_holds: ['hold', 'id', 'contractId', 'createdBy', 'createdAt', 'updatedAt'],
  reminders: [
    'reminder',
    'id',
    'paymentId',
    'contractId',
    'dueDate',
    'occurrence',
    'localDate',
    'runId',
    'channelKind',
    'messageId',
    'subject',
    'attempts',
    'nextAttemptAt',
    'createdBy',
    'createdAt',
    'updatedAt',
    'sentAt',
  ],
  saved_views: ['saved_view', 'id', 'nameKey', 'createdBy', 'createdAt', 'updatedAt'],
  files: ['file', 'id', 'contractId', 'objectKey', 'etag', 'scanTries', 'scanDueAt', 'createdAt', 'updatedAt'],
};
/**
 * The fields of each record in the API, and those that the audit does not show: metadata of the row, computed values,
 * and separate records.
 */
const STAMPS = ['id', 'createdAt', 'updatedAt'];
const API: Readonly<Record<string, readonly [fields: readonly string[], ...omitted: string[]]>> = {
  contract: [
    [...fieldsOf(ContractDetail), ...fieldsOf(TrashedContract)],
    'createdBy',
    'updatedBy',
    'version',
    'amountDifference',
    'workflow',
    'overdueAmount',
    'daysOverdue',
    'isOverdue',
    'isDueSoon',
    'daysToEnd',
    'validity',
    'fulfillmentStatus',
    'payments',
    'terms',
    'notes',
    'fulfillmentTasks',
    'invoices',
    'warnings',
    'deletedBy',
    'restorableUntil',
  ],
  payment_line: [fieldsOf(PaymentLine), 'contractId', 'overpaidAmount', 'paymentStatus', 'dueStatus', 'daysOverdue'],
  term: [fieldsOf(Term)],
  note: [fieldsOf(Note)],
  // The deletion of a contract also deletes these two, and the audit shows this, although no answer contains a deleted
  // one.
  invoice: [[...fieldsOf(Invoice), 'deletedAt'], 'contractId', 'taxAmount', 'netAmount', 'createdBy', 'updatedBy'],
  fulfillment_task: [
    [...fieldsOf(Task), 'deletedAt'],
    'contractId',
    'isOverdue',
    'daysOverdue',
    'createdBy',
    'updatedBy',
  ],
  workflow_event: [fieldsOf(WorkflowEvent), 'actor', 'source', 'at'],
  contract_type: [fieldsOf(ContractType)],
  lifecycle: [fieldsOf(Template), 'stages', 'transitions'],
  lifecycle_stage: [fieldsOf(Stage), 'templateId'],
  lifecycle_transition: [fieldsOf(TransitionConfig), 'templateId'],
  dynamic_field: [fieldsOf(DynamicField), 'version'],
  hold: [fieldsOf(Hold), 'paymentId', 'isActive', 'createdBy'],
  reminder: [
    fieldsOf(ReminderDelivery),
    'paymentId',
    'contractId',
    'occurrence',
    'dueDate',
    'kind',
    'attempts',
    'nextAttemptAt',
    'subject',
    'runId',
    'sentAt',
  ],
  saved_view: [fieldsOf(SavedView), 'createdBy', 'warnings'],
  file: [fieldsOf(FileRecord), 'contractId'],
};
/** A receipt is shown with its line; extractions and imports have their own events. */
const OMITTED = [
  'receipts',
  'extraction_runs',
  'extraction_field_reviews',
  'extraction_reviews',
  'import_batches',
  'running_imports',
  'file_uploads',
  'dynamic_field_forms',
];

describe('the audit of a row', () => {
  let tables: readonly Table<Columns>[];

  before(async () => {
    const folder = join(root, 'data-plane-agent', 'plane', 'tables');
    const modules = await Promise.all(
      readdirSync(folder).map(
        (file): Promise<Record<string, unknown>> =>
          import(`../../data-plane-agent/plane/tables/${file.replace(/ts$/, 'js')}`),
      ),
    );
    tables = modules.flatMap((one) => Object.values(one)).filter(isTable);
  });

  it('is declared for each table and column', () => {
    const said = tables
      .filter(({ auditedAs }) => auditedAs !== null)
      .map(({ name, auditedAs, columns }) => [
        name,
        [auditedAs, ...[...columns].filter(([, { auditName }]) => auditName === null).map(([field]) => field)],
      ]);
    expect(Object.fromEntries(said)).to.deep.equal(AUDITED);
    expect(tables.filter(({ auditedAs }) => auditedAs === null).map(({ name }) => name)).to.have.members(OMITTED);
  });

  it('recognises amounts, instants and account numbers', () => {
    const wrong = tables.flatMap(({ name, columns }) =>
      [...columns]
        .filter(([, column]) => column.meaning !== meaningOf(column.name))
        .map(([field]) => `${name}.${field}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('has amounts only for rows with a currency', () => {
    const lost = tables.filter(
      ({ columns }) => [...columns.values()].some(({ meaning }) => meaning === 'money') && !columns.has('currencyCode'),
    );
    expect(lost.map(({ name }) => name)).to.deep.equal([]);
  });

  it('never has the same name for two fields', () => {
    for (const { name, columns } of tables) {
      const names = [...columns].flatMap(([field, { auditName }]) => (auditName === null ? [] : [auditName ?? field]));
      expect(new Set(names).size, name).to.equal(names.length);
    }
  });
});

describe("the audit list's presentation of a row", () => {
  const AT = 1_795_351_126_465;
  const SAMPLES = {
    money: 500,
    instant: AT,
    decimal: '13.5',
    account: '****0123',
    plain: 'as it is',
    values: { key: 'value' },
  } as const;

  it('exists for every audited table', async () => {
    expect([...AUDITED_TABLES].map(([record, { name }]) => [name, record])).to.have.deep.members(
      Object.entries(AUDITED).map(([name, [record]]) => [name, record]),
    );
    expect([...AUDITED_TABLES.keys()]).to.have.members(Object.keys(API));
  });

  for (const [record, table] of AUDITED_TABLES) {
    const [api = [], ...omitted] = API[record] ?? [];
    const presented = () =>
      changedFields(
        {
          record,
          id: AT.toString(),
          currency: ['JPY', 'CNY'],
          fields: Object.fromEntries(
            [...table.audited].map(([name, { meaning }]) => [name, [SAMPLES[meaning], SAMPLES[meaning]]]),
          ),
        },
        () => 'KWD',
      );

    it(`of ${record}: has the fields of the API, except those of its event and computed ones`, () => {
      expect(presented().map(({ field }) => field)).to.have.members(
        [...new Set(api)].filter((field) => ![...STAMPS, ...omitted].includes(field)),
      );
    });

    it(`of ${record}: has amounts with their currency, and instants in ISO 8601`, () => {
      const meanings = [...table.audited]
        .filter(([, { apiName }]) => apiName !== null)
        .map(([, { meaning }]) => meaning);
      const shown = {
        money: [500, 5, 'CNY'],
        instant: [new Date(AT).toISOString(), new Date(AT).toISOString(), undefined],
        decimal: [13.5, 13.5, undefined],
        account: ['****0123', '****0123', undefined],
        plain: ['as it is', 'as it is', undefined],
        values: [SAMPLES.values, SAMPLES.values, undefined],
      };
      expect(presented().map(({ before, after, currencyCode }) => [before, after, currencyCode])).to.deep.equal(
        meanings.map((meaning) => shown[meaning]),
      );
    });
  }

  it('omits a column that older events contain and that is excluded today', () => {
    expect(
      changedFields(
        { record: 'workflow_event', id: 'x', fields: { actorId: [null, 'y'], note: [null, 'n'], gone: [1, 2] } },
        () => 'CNY',
      ).map(({ field }) => field),
    ).to.deep.equal(['note']);
  });
});

/** The fields of a schema of the API. */
function fieldsOf({ properties }: { readonly properties: object }): readonly string[] {
  return Object.keys(properties);
}

/** Modules imported dynamically are loaded separately from those of mocha, so their classes differ. */
const isTable = (value: unknown): value is Table<Columns> =>
  typeof value === 'object' && value !== null && value.constructor.name === 'Table';

/** By the naming convention of the columns. */
function meaningOf(column: string): string {
  if (column === 'dynamic_fields') return 'values';
  if (column.endsWith('_minor')) return 'money';
  if (column.endsWith('_at') || column === 'claimed_until' || column === 'leased_until') return 'instant';
  if (column === 'payee_account' || column === 'receipt_account') return 'account';
  return column === 'unit_price' || column === 'tax_rate' ? 'decimal' : 'plain';
}
