import type { Transaction } from '../../base/database/database.js';
import { newId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { masked } from '../domain/sensitive.js';

export type RecordKind =
  | 'contract' | 'payment_line' | 'receipt' | 'term' | 'note' | 'invoice' | 'fulfillment_task' | 'workflow_event'
  | 'contract_type' | 'lifecycle' | 'lifecycle_stage' | 'lifecycle_transition' | 'dynamic_field' | 'saved_view' | 'import_batch' | 'export' | 'extraction';

interface Change {
  readonly record: RecordKind;
  readonly id: string;
  readonly fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/**
 * What one operation changed. Repositories tell it as they write, so that no author of an operation can forget; the wrapper around
 * `run` then writes one audit row for each record at the root (a contract), in the same transaction.
 */
export class Journal {
  private readonly byRoot = new Map<string, { readonly kind: RecordKind; readonly changes: Change[] }>();
  private readonly announcements: { readonly topic: string; readonly reference: unknown; readonly dueAt: number | undefined }[] = [];

  /** `before` is `null` for a new record, `after` for a removed one. Fields that did not change are left out. */
  changed(change: { record: RecordKind; id: string; root?: { kind: RecordKind; id: string }; before: object | null; after: object | null }): void {
    const root = change.root ?? { kind: change.record, id: change.id };
    const entry = this.byRoot.get(root.id) ?? { kind: root.kind, changes: [] };
    this.byRoot.set(root.id, entry);
    entry.changes.push({ record: change.record, id: change.id, fields: differences(change.before ?? {}, change.after ?? {}) });
  }

  /** Leaves a reference in the outbox; whoever handles the topic renders it when it is sent. `dueAt` defaults to now. */
  announce(topic: string, reference: unknown, dueAt?: number): void {
    this.announcements.push({ topic, reference, dueAt });
  }

  get isEmpty(): boolean {
    return this.byRoot.size === 0;
  }

  async write(tx: Transaction, call: Call, action: string, now: number): Promise<void> {
    for (const [recordId, { kind, changes }] of this.byRoot) {
      await tx.run(AUDIT_SQL, [call.tenantId, newId(), now, call.actor.kind, call.actor.id, call.actor.name, call.actor.ip, call.requestId, action, kind, recordId, JSON.stringify(changes)]);
    }
    for (const { topic, reference, dueAt } of this.announcements) {
      await tx.run(OUTBOX_SQL, [call.tenantId, newId(), topic, JSON.stringify(reference), now, dueAt ?? now]);
    }
  }
}

const AUDIT_SQL = 'INSERT INTO audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const OUTBOX_SQL = 'INSERT INTO outbox (tenant_id, id, topic, reference, created_at, due_at, attempts) VALUES (?, ?, ?, ?, ?, ?, 0)';

/** Bookkeeping of the row itself, which the audit row's own time and actor already say, and what is computed from other fields. */
const UNSAID = new Set(['id', 'contractId', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'version', 'archiveKey', 'contractKey', 'position', 'totalAmount', 'outstandingAmount']);
/** Account numbers: only the last four characters are kept in the trail. */
const MASKED = new Set(['payeeAccount', 'receiptAccount']);

function differences(before: object, after: object): Change['fields'] {
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const fields: Record<string, readonly [unknown, unknown]> = {};
  for (const key of new Set([...Object.keys(old), ...Object.keys(fresh)])) {
    if (UNSAID.has(key)) continue;
    const was = old[key] ?? null;
    const is = fresh[key] ?? null;
    if (was === is || (typeof is === 'object' && JSON.stringify(was) === JSON.stringify(is))) continue;
    fields[key] = MASKED.has(key) ? [mask(was), mask(is)] : [was, is];
  }
  return fields;
}

const mask = (value: unknown): unknown => (typeof value === 'string' ? masked(value) : value);
