import type { Columns, Table } from '../../base/database/columns.js';
import { contractTypes } from './contract-types.js';
import { contracts } from './contracts.js';
import { dynamicFields } from './fields.js';
import { files } from './files.js';
import { holds } from './holds.js';
import { invoices } from './invoices.js';
import { stages, templates, transitions } from './lifecycle.js';
import { notes } from './notes.js';
import { lines } from './payment-lines.js';
import { reminders } from './reminders.js';
import { tasks } from './tasks.js';
import { terms } from './terms.js';
import { savedViews } from './views.js';
import { workflowEvents } from './workflow-events.js';

/** The audited tables, by the record kind that the audit uses. */
export const AUDITED: ReadonlyMap<string, Table<Columns>> = new Map(
  [
    contracts,
    lines,
    terms,
    notes,
    invoices,
    tasks,
    workflowEvents,
    contractTypes,
    templates,
    stages,
    transitions,
    dynamicFields,
    savedViews,
    files,
    holds,
    reminders,
  ].map((table) => [table.auditedAs ?? table.name, table]),
);
