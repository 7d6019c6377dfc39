import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { TaskStatus } from '../contract/vocabulary.js';

/** Fulfillment tasks: deliveries, installations, acceptances. Instants are in milliseconds. */
export const tasks = table(
  'fulfillment_tasks',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    code: c.text('code'),
    codeKey: c.text('code_key').unaudited(),
    title: c.text('title'),
    kind: c.orNull(c.text('kind')),
    status: c.word<TaskStatus>('status'),
    ownerId: c.orNull(c.id('owner_id')),
    dueDate: c.orNull(c.text('due_date')),
    acceptanceStatus: c.orNull(c.text('acceptance_status')),
    /** A file's id, or any other text that points to the evidence. */
    attachment: c.orNull(c.text('attachment')),
    metadata: c.orNull(c.json<Record<string, unknown>>('metadata')),
    startedAt: c.orNull(c.instant('started_at')),
    completedAt: c.orNull(c.instant('completed_at')),
    acceptedAt: c.orNull(c.instant('accepted_at')),
    acceptedBy: c.orNull(c.id('accepted_by')),
    createdAt: c.instant('created_at').unaudited(),
    createdBy: c.orNull(c.id('created_by')).unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
    updatedBy: c.orNull(c.id('updated_by')).unaudited(),
    deletedAt: c.orNull(c.instant('deleted_at')),
  },
  { audit: 'fulfillment_task' },
);
export type TaskRow = RecordOf<typeof tasks>;
