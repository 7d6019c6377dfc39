import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { TaskStatus } from '../contract/vocabulary.js';

/** Fulfillment tasks: what is to be delivered, installed, accepted. Instants in milliseconds. */
export const tasks = table('fulfillment_tasks', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  code: c.text('code'),
  codeKey: c.text('code_key'),
  title: c.text('title'),
  kind: c.orNull(c.text('kind')),
  status: c.word<TaskStatus>('status'),
  ownerId: c.orNull(c.text('owner_id')),
  dueDate: c.orNull(c.text('due_date')),
  acceptanceStatus: c.orNull(c.text('acceptance_status')),
  /** A file's id, or any other text that points to the evidence. */
  attachment: c.orNull(c.text('attachment')),
  metadata: c.orNull(c.json<Record<string, unknown>>('metadata')),
  startedAt: c.orNull(c.int('started_at')),
  completedAt: c.orNull(c.int('completed_at')),
  acceptedAt: c.orNull(c.int('accepted_at')),
  acceptedBy: c.orNull(c.text('accepted_by')),
  createdAt: c.int('created_at'),
  createdBy: c.orNull(c.text('created_by')),
  updatedAt: c.int('updated_at'),
  updatedBy: c.orNull(c.text('updated_by')),
  deletedAt: c.orNull(c.int('deleted_at')),
});
export type TaskRow = RecordOf<typeof tasks>;
