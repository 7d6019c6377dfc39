import type { Columns, Table } from '../../base/database/columns.js';
import { contractTypes } from './contract-types.js';
import { contracts } from './contracts.js';
import { extractionFieldReviews, extractionReviews, extractionRuns } from './extractions.js';
import { dynamicFields, fieldForms } from './fields.js';
import { files } from './files.js';
import { holds } from './holds.js';
import { importBatches } from './imports.js';
import { invoices } from './invoices.js';
import { stages, templates, transitions } from './lifecycle.js';
import { notes } from './notes.js';
import { lines } from './payment-lines.js';
import { receipts } from './receipts.js';
import { reminders } from './reminders.js';
import { DAY_COLUMNS, DAY_KEYS, GROUP_COLUMNS, GROUP_KEYS } from './rollups.js';
import { tasks } from './tasks.js';
import { terms } from './terms.js';
import { savedViews } from './views.js';
import { workflowEvents } from './workflow-events.js';

/** A table whose rows go with a tenant's data to another data plane. */
export interface MovedTable {
  readonly name: string;
  /** The columns that identify a row within the tenant, in the order of the primary key. */
  readonly key: readonly string[];
  /** All columns but the tenant's. */
  readonly columns: readonly string[];
  /** A column sealed with the key ring of the data plane: it is opened by the one and sealed by the other. */
  readonly sealed?: string;
  /** A column that belongs to the object store of the data plane, and is not compared. */
  readonly ofStore?: string;
}

const declared = (
  { name, columns }: Table<Columns>,
  { key = ['id'], ...more }: Partial<Pick<MovedTable, 'key' | 'ofStore'>> = {},
): MovedTable => ({ name, key, columns: [...columns.values()].map((column) => column.name), ...more });

const other = (
  name: string,
  { key, columns, ...more }: Pick<MovedTable, 'key' | 'columns' | 'sealed'>,
): MovedTable => ({ name, key, columns: [...key, ...columns], ...more });

/** The rows of a tenant that are moved, tables that others refer to first. */
export const MOVED: readonly MovedTable[] = [
  declared(templates),
  declared(stages),
  declared(transitions),
  declared(contractTypes),
  other('dynamic_field_sets', { key: [], columns: ['revision'] }),
  declared(dynamicFields),
  declared(savedViews),
  declared(contracts),
  declared(lines),
  declared(receipts),
  declared(terms),
  declared(notes),
  declared(invoices),
  declared(tasks),
  declared(workflowEvents),
  declared(files, { ofStore: 'etag' }),
  declared(holds),
  declared(reminders),
  declared(fieldForms, { key: ['field_id', 'contract_id'] }),
  declared(extractionRuns),
  declared(extractionFieldReviews, { key: ['run_id', 'field_key'] }),
  declared(extractionReviews),
  declared(importBatches),
  other('receivable_days', { key: [...DAY_KEYS, 'slot'], columns: DAY_COLUMNS }),
  other('contract_groups', { key: [...GROUP_KEYS, 'slot'], columns: GROUP_COLUMNS }),
  other('closed_records', { key: ['id'], columns: ['record_id', 'ends_at'] }),
  other('outbox', {
    key: ['id'],
    columns: [
      'topic',
      'lane',
      'reference',
      'created_at',
      'due_at',
      'attempts',
      'state',
      'leased_until',
      'error',
      'expires_at',
    ],
  }),
  other('idempotency_records', {
    key: ['key'],
    columns: ['operation', 'request_hash', 'answer', 'expires_at'],
    sealed: 'answer',
  }),
  other('audit_log', {
    key: ['id'],
    columns: [
      'at',
      'actor_kind',
      'actor_id',
      'actor_name',
      'ip',
      'request_id',
      'action',
      'record_kind',
      'record_id',
      'changes',
      'position',
      'hash',
    ],
  }),
  other('audit_heads', { key: [], columns: ['position', 'hash', 'seal'], sealed: 'seal' }),
];

/** The tables with rows of tenants that stay, and why. */
export const NOT_MOVED: Readonly<Record<string, string>> = {
  contract_texts: 'the text that searches read, built again from the contracts',
  contract_grams: 'the index over those texts on PostgreSQL, built with them',
  file_uploads: 'uploads that were not confirmed: their URLs and tokens belong to the object store and the keys here',
  running_imports: 'imports in progress: a move waits until they have ended',
  running_import_parts: 'the input of those imports, and their outcomes so far',
  data_versions: 'the counter by which this data plane caches totals; the other one increments its own',
  rollup_changes: 'what the latest writes here added to the figures, by the versions of that counter',
  waiting_figures: 'what writes here will add to the figures: it is added before rows are moved',
  due_work: 'when background work is due, determined again from the tables after the move',
  data_moves: 'the state of moves at this data plane',
};

/** The names of the tables, for messages that name one. */
export const MOVED_NAMES: readonly string[] = MOVED.map(({ name }) => name);
