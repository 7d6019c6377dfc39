import { c, type Column, type Columns, type Table } from '../../base/database/columns.js';
import { contractTypes } from './contract-types.js';
import { contracts } from './contracts.js';
import { extractionFieldReviews, extractionReviews, extractionRuns } from './extractions.js';
import { dynamicFields, fieldForms } from './fields.js';
import { files } from './files.js';
import { holds } from './holds.js';
import { importBatches } from './imports.js';
import { invoices } from './invoices.js';
import { stages, templates, transitions } from './lifecycle.js';
import { MOVED, type MovedTable } from './moved.js';
import { notes } from './notes.js';
import { lines } from './payment-lines.js';
import { receipts } from './receipts.js';
import { reminders } from './reminders.js';
import { DAY_COLUMNS, DAY_KEYS, GROUP_COLUMNS, GROUP_KEYS } from './rollups.js';
import { tasks } from './tasks.js';
import { terms } from './terms.js';
import { savedViews } from './views.js';
import { workflowEvents } from './workflow-events.js';

export interface ExportedField {
  /** In the export. */
  readonly name: string;
  readonly column: Column<unknown>;
  /** Among the columns of the table. */
  readonly at: number;
}

/** A kind of record in an export of all data of a tenant: the rows of a table with the names of the API. */
export interface ExportedKind {
  readonly kind: string;
  readonly table: MovedTable;
  readonly fields: readonly ExportedField[];
}

/** Amounts that the API does not show under a name of their own. */
const AMOUNTS: Readonly<Record<string, string>> = {
  unlinkedInvoicedMinor: 'unlinkedInvoicedAmount',
  deltaMinor: 'deltaAmount',
  totalMinor: 'totalAmount',
};

type Named = readonly [field: string, column: Column<unknown>];

function exported(
  kind: string,
  columns: Iterable<Named>,
  { table, left = [] }: { readonly table: string; readonly left?: readonly string[] },
): ExportedKind {
  const moved = MOVED.find(({ name }) => name === table);
  if (!moved) throw new Error(`${table} is no table of a tenant's data`);
  const names = new Set<string>();
  const fields = [...columns]
    .filter(([, { name }]) => !left.includes(name))
    .map(([field, column]): ExportedField => {
      const plain = column.apiName ?? column.auditName ?? AMOUNTS[field] ?? field;
      // An amount that lists sort by, beside the exact one.
      const name = names.has(plain) ? `${plain}Number` : plain;
      names.add(name);
      return { name, column, at: moved.columns.indexOf(column.name) };
    });
  return { kind, table: moved, fields };
}

const declared = (kind: string, { name, columns }: Table<Columns>, left: readonly string[] = []): ExportedKind =>
  exported(kind, columns, { table: name, left });

const other = (kind: string, table: string, columns: Columns): ExportedKind =>
  exported(kind, Object.entries(columns) as [string, Column<unknown>][], { table });

const camel = (name: string): string => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const counts = (keys: readonly string[], columns: readonly string[]): Columns =>
  Object.fromEntries([
    ...keys.map((name) => [camel(name), c.text(name)]),
    ...['slot', ...columns].map((name) => [camel(name), c.int(name)]),
  ]);

/** The kinds of contract data in an export, those that others refer to first. */
export const EXPORTED: readonly ExportedKind[] = [
  declared('lifecycleTemplates', templates),
  declared('lifecycleStages', stages),
  declared('lifecycleTransitions', transitions),
  declared('contractTypes', contractTypes),
  other('customFieldSet', 'dynamic_field_sets', { revision: c.text('revision') }),
  declared('customFields', dynamicFields),
  declared('savedViews', savedViews),
  declared('contracts', contracts),
  declared('paymentLines', lines),
  declared('receipts', receipts),
  declared('terms', terms),
  declared('notes', notes),
  declared('invoices', invoices),
  declared('tasks', tasks),
  declared('workflowEvents', workflowEvents),
  // Where the bytes are is a matter of each object store.
  declared('files', files, ['object_key', 'etag']),
  declared('holds', holds),
  declared('reminders', reminders, ['message_id']),
  declared('customFieldForms', fieldForms),
  declared('extractionRuns', extractionRuns),
  declared('extractionFieldReviews', extractionFieldReviews),
  declared('extractionReviews', extractionReviews),
  declared('importBatches', importBatches),
  other('receivableDays', 'receivable_days', counts(DAY_KEYS, DAY_COLUMNS)),
  other('contractGroups', 'contract_groups', counts(GROUP_KEYS, GROUP_COLUMNS)),
  other('auditEvents', 'audit_log', {
    id: c.text('id'),
    at: c.instant('at'),
    actorKind: c.text('actor_kind'),
    actorId: c.orNull(c.text('actor_id')),
    actorName: c.text('actor_name'),
    ip: c.orNull(c.text('ip')),
    requestId: c.text('request_id'),
    action: c.text('action'),
    recordKind: c.text('record_kind'),
    recordId: c.text('record_id'),
    changes: c.json('changes'),
    position: c.orNull(c.int('position')),
    hash: c.orNull(c.text('hash')),
  }),
];

/** The tables that are moved between data planes, and are not in an export, and why. */
export const NOT_EXPORTED: Readonly<Record<string, string>> = {
  closed_records: 'removals of subject companies and channels that are in progress; they end within minutes',
  outbox: 'messages that wait: the installation that has queued them sends them',
  idempotency_records: 'answers to repeated requests of the last day',
  audit_heads:
    'the end of the chain of audit events, sealed with the keys of the installation; the chain itself is in auditEvents',
};
