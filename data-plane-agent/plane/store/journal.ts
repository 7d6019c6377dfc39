import type { Transaction } from '../../base/database/database.js';
import { newId } from '../../base/ids.js';
import { stringifyInTurns } from '../../base/json-pieces.js';
import { turns } from '../../base/turns.js';
import type { Call } from '../contract/call.js';
import { masked } from '../domain/sensitive.js';

export type RecordKind =
  | 'contract' | 'payment_line' | 'receipt' | 'term' | 'note' | 'invoice' | 'fulfillment_task' | 'workflow_event'
  | 'contract_type' | 'lifecycle' | 'lifecycle_stage' | 'lifecycle_transition' | 'dynamic_field' | 'saved_view' | 'import_batch' | 'export' | 'extraction' | 'file';

/** How much was told when it was taken. */
export interface JournalMark {
  readonly told: number;
  readonly announced: number;
  readonly hasNotes: boolean;
}

interface Change {
  readonly record: RecordKind;
  readonly id: string;
  /** Of amounts: the currency before and after. */
  readonly currency?: readonly [before: unknown, after: unknown];
  readonly fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/**
 * What one operation changed. Repositories tell it as they write, so that no author of an operation can forget; the wrapper around
 * `run` then writes one audit row for each record at the root (a contract), in the same transaction.
 */
export class Journal {
  private readonly told: { readonly root: { readonly kind: RecordKind; readonly id: string }; readonly change: Change }[] = [];
  /** Whether it has to be written though no row was. */
  hasNotes = false;
  private readonly announcements: { readonly topic: string; readonly reference: unknown; readonly dueAt: number | undefined }[] = [];

  /** `before` is `null` for a new record, `after` for a removed one. Fields that did not change are left out. */
  changed(change: { record: RecordKind; id: string; root?: { kind: RecordKind; id: string }; before: object | null; after: object | null }): void {
    const root = change.root ?? { kind: change.record, id: change.id };
    const fields = differences(change.before ?? {}, change.after ?? {});
    this.told.push({ root, change: { record: change.record, id: change.id, ...currencyOf(change, fields), fields } });
  }

  /** Something that was done and changed no row, and is kept on record all the same. */
  noted({ record, id, about }: { record: RecordKind; id: string; about: object }): void {
    this.hasNotes = true;
    this.changed({ record, id, before: null, after: about });
  }

  /** Leaves a reference in the outbox; whoever handles the topic renders it when it is sent. `dueAt` defaults to now. */
  announce(topic: string, reference: unknown, dueAt?: number): void {
    this.announcements.push({ topic, reference, dueAt });
  }

  get isEmpty(): boolean {
    return this.told.length === 0;
  }

  mark(): JournalMark {
    return { told: this.told.length, announced: this.announcements.length, hasNotes: this.hasNotes };
  }

  /** Forgets what was told since the mark: a savepoint has undone it. */
  backTo(mark: JournalMark): void {
    this.told.length = mark.told;
    this.announcements.length = mark.announced;
    this.hasNotes = mark.hasNotes;
  }

  async write(tx: Transaction, call: Call, action: string, now: number): Promise<void> {
    const byRoot = new Map<string, { readonly kind: RecordKind; readonly changes: Change[] }>();
    for (const { root, change } of this.told) {
      const entry = byRoot.get(root.id);
      if (entry) entry.changes.push(change);
      else byRoot.set(root.id, { kind: root.kind, changes: [change] });
    }
    const turn = turns(); // an import has thousands
    for (const [recordId, { kind, changes }] of byRoot) {
      await turn();
      await tx.run(AUDIT_SQL, [call.tenantId, newId(), now, call.actor.kind, call.actor.id, call.actor.name, call.actor.ip, call.requestId, action, kind, recordId, await stringifyInTurns(changes)]);
    }
    for (const { topic, reference, dueAt } of this.announcements) {
      await tx.run(OUTBOX_SQL, [call.tenantId, newId(), topic, JSON.stringify(reference), now, dueAt ?? now]);
    }
  }
}

const AUDIT_SQL = 'INSERT INTO audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const OUTBOX_SQL = 'INSERT INTO outbox (tenant_id, id, topic, reference, created_at, due_at, attempts) VALUES (?, ?, ?, ?, ?, ?, 0)';

/** Bookkeeping of the row itself, which the audit row's own time and actor already say, and what is computed from other fields. */
const UNSAID = new Set(['id', 'contractId', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'version', 'archiveKey', 'contractKey', 'invoiceKey', 'codeKey', 'invoiceRecords', 'invoicesStanding', 'tasksLive', 'tasksDone', 'tasksInTimeUntil', 'position', 'totalAmount', 'outstandingAmount', 'scanDueAt', 'scanTries', 'etag', 'objectKey']);
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

/** Amounts are kept in minor units, which say nothing without their currency; most changes leave that as it was. */
function currencyOf({ before, after }: { readonly before: object | null; readonly after: object | null }, fields: Change['fields']): Pick<Change, 'currency'> {
  if (!Object.keys(fields).some((field) => field.endsWith('Minor'))) return {};
  const of = (row: object | null) => (row as { currencyCode?: unknown } | null)?.currencyCode ?? null;
  return { currency: [of(before), of(after)] };
}

const mask = (value: unknown): unknown => (typeof value === 'string' ? masked(value) : value);
