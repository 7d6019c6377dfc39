import type { Column, Columns, RecordOf, Table } from '../../base/database/columns.js';
import type { Transaction } from '../../base/database/database.js';
import { newId } from '../../base/ids.js';
import { stringifyYielding } from '../../base/json-pieces.js';
import { yielding } from '../../base/yielding.js';
import type { Call } from '../contract/call.js';
import type { KeptChange, Move } from '../domain/audit/kept.js';
import { KEPT_QUEUED_MS } from '../domain/outbox/messages.js';
import { masked } from '../domain/sensitive.js';
import { DueMarks } from './due-work.js';

/** What is on record beside the rows of audited tables, in words of its own. */
export type FactKind = 'import_batch' | 'export' | 'extraction' | 'file';

/** The record under which a change is listed, when that is not the changed one. */
export interface Root {
  readonly kind: string;
  readonly id: string;
}

/** The contract to which a row belongs. */
export const ofContract = (id: string): Root => ({ kind: 'contract', id });

/** A change of a row, whole or in part. `before` is `null` for a new row, `after` for a removed one. */
export interface RowChange<T extends Table<Columns>> {
  readonly table: T;
  readonly id: string;
  readonly root?: Root;
  readonly before: Partial<RecordOf<T>> | null;
  readonly after: Partial<RecordOf<T>> | null;
  /** What the change did beside, under names that the table declares. */
  readonly facts?: object;
}

/** How much was told when it was taken. */
export interface RecorderMark {
  readonly recorded: number;
  readonly enqueued: number;
  readonly hasEvents: boolean;
}

/**
 * What one operation changed. Repositories tell it as they write, so that no author of an operation can forget; the
 * wrapper around
 * `run` then writes one audit row for each record at the root (a contract), in the same transaction.
 */
export class ChangeRecorder {
  private readonly entries: { readonly root: Root; readonly change: KeptChange }[] = [];
  /** Whether it has to be written though no row was. */
  hasEvents = false;
  /** What is left to be done later. What a savepoint undoes of it may stay: it is looked at, and found done. */
  readonly due = new DueMarks();
  private readonly messages: {
    readonly topic: string;
    readonly reference: unknown;
    readonly dueAt: number | undefined;
  }[] = [];

  /** Of an audited table's row, as its columns say. Fields that did not change are left out. */
  record<T extends Table<Columns>>({ table, id, root, before, after, facts }: RowChange<T>): void {
    const { auditedAs: record, columns } = table;
    if (record === null) throw new Error(`${table.name} is not audited`);
    const undeclared = Object.keys(facts ?? {}).filter((name) => !table.facts.includes(name));
    if (undeclared.length > 0) throw new Error(`${table.name} declares no facts ${undeclared.join(', ')}`);
    const found = [...differences(before ?? {}, after ?? {})].flatMap(([field, change]) => {
      const column = columns.get(field);
      return column && column.auditName !== null ? [{ field, column, change }] : [];
    });
    const fields = {
      ...Object.fromEntries(
        found.map(({ field, column, change }) => [column.auditName ?? field, kept(column, change)]),
      ),
      ...Object.fromEntries(differences({}, facts ?? {})),
    };
    const hasMoney = found.some(({ column }) => column.meaning === 'money');
    this.entries.push({
      root: root ?? { kind: record, id },
      change: { record, id, ...(hasMoney ? { currency: [currencyOf(before), currencyOf(after)] } : {}), fields },
    });
  }

  /** Of what is no row of an audited table, as it is given. */
  recordFact({
    record,
    id,
    before,
    after,
  }: {
    record: FactKind;
    id: string;
    before: object | null;
    after: object | null;
  }): void {
    this.entries.push({
      root: { kind: record, id },
      change: { record, id, fields: Object.fromEntries(differences(before ?? {}, after ?? {})) },
    });
  }

  /** Something that was done and changed no row, and is kept on record all the same. */
  recordEvent({ record, id, about }: { record: FactKind; id: string; about: object }): void {
    this.hasEvents = true;
    this.recordFact({ record, id, before: null, after: about });
  }

  /**
   * Leaves a reference in the outbox; whoever handles the topic renders it when it is sent. `dueAt` defaults to now.
   */
  enqueue(topic: string, reference: unknown, dueAt?: number): void {
    this.messages.push({ topic, reference, dueAt });
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  mark(): RecorderMark {
    return { recorded: this.entries.length, enqueued: this.messages.length, hasEvents: this.hasEvents };
  }

  /** Forgets what was told since the mark: a savepoint has undone it. */
  rollBackTo(mark: RecorderMark): void {
    this.entries.length = mark.recorded;
    this.messages.length = mark.enqueued;
    this.hasEvents = mark.hasEvents;
  }

  /** The due marks are still to be written. */
  async write(
    tx: Transaction,
    { call, action, now }: { readonly call: Call; readonly action: string; readonly now: number },
  ): Promise<void> {
    this.due.at('audit', now);
    const byRoot = new Map<string, { readonly kind: string; readonly changes: KeptChange[] }>();
    for (const { root, change } of this.entries) {
      const entry = byRoot.get(root.id);
      if (entry) entry.changes.push(change);
      else byRoot.set(root.id, { kind: root.kind, changes: [change] });
    }
    const turn = yielding(); // an import has thousands
    for (const [recordId, { kind, changes }] of byRoot) {
      await turn();
      await tx.run(AUDIT_SQL, [
        call.tenantId,
        newId(),
        now,
        call.actor.kind,
        call.actor.id,
        call.actor.name,
        call.actor.ip,
        call.requestId,
        action,
        kind,
        recordId,
        await stringifyYielding(changes),
      ]);
    }
    for (const { topic, reference, dueAt } of this.messages) {
      const sendAt = dueAt ?? now;
      await tx.run(OUTBOX_SQL, [
        call.tenantId,
        newId(),
        topic,
        JSON.stringify(reference),
        now,
        sendAt,
        sendAt + KEPT_QUEUED_MS,
      ]);
      this.due.at('outbox', sendAt);
      this.due.at('expiry', sendAt + KEPT_QUEUED_MS);
    }
  }
}

const AUDIT_SQL =
  'INSERT INTO audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const OUTBOX_SQL =
  "INSERT INTO outbox (tenant_id, id, topic, reference, created_at, due_at, attempts, state, leased_until, expires_at) VALUES (?, ?, ?, ?, ?, ?, 0, 'queued', 0, ?)";

/** The fields that differ, in the order in which they stand. */
function differences(before: object, after: object): Map<string, Move> {
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const fields = new Map<string, Move>();
  for (const key of new Set([...Object.keys(old), ...Object.keys(fresh)])) {
    const was = old[key] ?? null;
    const is = fresh[key] ?? null;
    if (was === is || (typeof is === 'object' && JSON.stringify(was) === JSON.stringify(is))) continue;
    fields.set(key, [was, is]);
  }
  return fields;
}

/** Of account numbers only the last four characters are kept, of values by key those that differ. */
function kept({ meaning }: Column<unknown>, move: Move): Move {
  const [before, after] = move;
  if (meaning === 'account') return [mask(before), mask(after)];
  return meaning === 'values' ? changedKeys(before, after) : move;
}

/** Beside nothing the other is kept whole. */
function changedKeys(before: unknown, after: unknown): Move {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null)
    return [before, after];
  const changed = [...differences(before, after)];
  const side = (at: 0 | 1) =>
    Object.fromEntries(changed.flatMap(([key, move]) => (move[at] === null ? [] : [[key, move[at]]])));
  return [side(0), side(1)];
}

const mask = (value: unknown): unknown => (typeof value === 'string' ? masked(value) : value);

/** Amounts are kept in minor units, which say nothing without their currency; most changes leave that as it was. */
const currencyOf = (row: object | null): unknown => (row as { currencyCode?: unknown } | null)?.currencyCode ?? null;
