import { differ, type Column, type Columns, type RecordOf, type Table } from '../../base/database/columns.js';
import type { Transaction, Value } from '../../base/database/database.js';
import { Insertion, JSON_TEXT } from '../../base/database/insertion.js';
import { newId } from '../../base/ids.js';
import { stringifyYielding } from '../../base/json-pieces.js';
import { yielding } from '../../base/yielding.js';
import type { Call } from '../contract/call.js';
import type { KeptChange, Move } from '../domain/audit/kept.js';
import { KEPT_QUEUED_MS } from '../domain/outbox/messages.js';
import { masked } from '../domain/sensitive.js';
import { DueMarks } from './due-work.js';

/** Kinds of audited facts that are not rows of audited tables. */
export type FactKind = 'import_batch' | 'export' | 'extraction' | 'file' | 'message';

/** The record under which a change is listed in the audit, when it is not the changed record itself. */
export interface Root {
  readonly kind: string;
  readonly id: string;
}

/** The root of a row that belongs to a contract. */
export const ofContract = (id: string): Root => ({ kind: 'contract', id });

/** A change of all or some fields of a row. `before` is `null` for a new row, `after` for a deleted one. */
export interface RowChange<T extends Table<Columns>> {
  readonly table: T;
  readonly id: string;
  readonly root?: Root;
  readonly before: Partial<RecordOf<T>> | null;
  readonly after: Partial<RecordOf<T>> | null;
  /** Additional facts about the change, under names that the table declares. */
  readonly facts?: object;
}

/** A message for the outbox: a reference to what it is about, without content. */
export interface Message {
  readonly topic: string;
  /** Messages of one lane are sent at one pace: the id of a channel, or the topic of what has none. */
  readonly lane: string;
  readonly reference: unknown;
}

/** The state of a recorder at the time the mark was taken. */
export interface RecorderMark {
  readonly recorded: number;
  readonly enqueued: number;
  readonly hasEvents: boolean;
}

/**
 * The changes of one operation. Repositories record them as they write, so that an operation cannot forget to. The
 * wrapper around `run` then writes one audit row for each root record (e.g. a contract) in the same transaction.
 */
export class ChangeRecorder {
  private readonly entries: { readonly root: Root; readonly change: KeptChange }[] = [];
  /** Whether an audit row must be written although no row was changed. */
  hasEvents = false;
  /**
   * Writes of internal state beside the changes: a transaction with no other ones is not audited, and the data version
   * stays unchanged.
   */
  internalWrites = 0;
  /**
   * Work to be done later. Marks set within a savepoint stay when it is rolled back: the worker then finds nothing to
   * do.
   */
  readonly due = new DueMarks();
  private readonly messages: (Message & { readonly id: string })[] = [];

  /** Records a change of an audited table's row. Unchanged fields are left out. */
  record<T extends Table<Columns>>({ table, id, root, before, after, facts }: RowChange<T>): void {
    const { auditedAs: record } = table;
    if (record === null) throw new Error(`${table.name} is not audited`);
    const undeclared = Object.keys(facts ?? {}).filter((name) => !table.facts.includes(name));
    if (undeclared.length > 0) throw new Error(`${table.name} declares no facts ${undeclared.join(', ')}`);
    const fields: Record<string, Move> = {};
    let hasMoney = false;
    for (const { name, column, move } of table.differences(before ?? {}, after ?? {})) {
      fields[name] = kept(column, move);
      hasMoney ||= column.meaning === 'money';
    }
    if (facts) for (const [name, change] of differences({}, facts)) fields[name] = change;
    this.entries.push({
      root: root ?? { kind: record, id },
      change: { record, id, ...(hasMoney ? { currency: [currencyOf(before), currencyOf(after)] } : {}), fields },
    });
  }

  /** Records a change of something that is not a row of an audited table. */
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

  /** Records an action that changed no row but must be audited. */
  recordEvent({ record, id, about }: { record: FactKind; id: string; about: object }): void {
    this.hasEvents = true;
    this.recordFact({ record, id, before: null, after: about });
  }

  /** Queues a message in the outbox and returns its id. It is rendered when it is sent. */
  enqueue(message: Message): string {
    const id = newId();
    this.messages.push({ ...message, id });
    return id;
  }

  /** Takes back messages of this operation for which nothing is to be sent after all. */
  withdraw(ids: ReadonlySet<string>): void {
    const kept = this.messages.filter(({ id }) => !ids.has(id));
    this.messages.splice(0, this.messages.length, ...kept);
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  mark(): RecorderMark {
    return { recorded: this.entries.length, enqueued: this.messages.length, hasEvents: this.hasEvents };
  }

  /** Discards what was recorded since the mark, when a savepoint was rolled back. */
  rollBackTo(mark: RecorderMark): void {
    this.entries.length = mark.recorded;
    this.messages.length = mark.enqueued;
    this.hasEvents = mark.hasEvents;
  }

  /** Writes the audit rows and the outbox messages. The due marks are added to, and written separately. */
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
    const pause = yielding(); // an import records thousands of changes
    const audited: Value[][] = [];
    for (const [recordId, { kind, changes }] of byRoot) {
      await pause();
      audited.push([
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
      if (audited.length === MOST_ROWS) await tx.insert(AUDIT, audited.splice(0));
    }
    await tx.insert(AUDIT, audited);
    if (this.messages.length === 0) return;
    await tx.insert(
      OUTBOX,
      this.messages.map(({ id, topic, lane, reference }) => [
        call.tenantId,
        id,
        topic,
        lane,
        JSON.stringify(reference),
        now,
        now,
        now + KEPT_QUEUED_MS,
      ]),
    );
    this.due.at('outbox', now);
    this.due.at('expiry', now + KEPT_QUEUED_MS);
  }
}

const AUDIT = new Insertion(
  'audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes)',
  '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ['uuid', 'uuid', 'bigint', 'text', 'uuid', 'text', 'text', 'text', 'text', 'text', 'uuid', JSON_TEXT],
);
const OUTBOX = new Insertion(
  'outbox (tenant_id, id, topic, lane, reference, created_at, due_at, attempts, state, leased_until, expires_at)',
  "(?, ?, ?, ?, ?, ?, ?, 0, 'queued', 0, ?)",
);
/** Audit rows that are kept in memory. */
const MOST_ROWS = 32;

/** The fields that differ, in the order of their keys. */
function differences(before: object, after: object): [field: string, move: Move][] {
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const found: [string, Move][] = [];
  for (const key of Object.keys(old)) {
    if (old[key] === fresh[key]) continue; // most fields of a row
    const [was, is] = [old[key] ?? null, fresh[key] ?? null];
    if (differ(was, is)) found.push([key, [was, is]]);
  }
  for (const key of Object.keys(fresh)) {
    const is = fresh[key] ?? null;
    if (is !== null && old[key] === undefined && !Object.hasOwn(old, key)) found.push([key, [null, is]]);
  }
  return found;
}

/** Masks account numbers to their last four characters, and reduces values by key to the keys that differ. */
function kept({ meaning }: Column<unknown>, move: Move): Move {
  const [before, after] = move;
  if (meaning === 'account') return [mask(before), mask(after)];
  return meaning === 'values' ? changedKeys(before, after) : move;
}

/** When one side is `null`, the other is kept completely. */
function changedKeys(before: unknown, after: unknown): Move {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null)
    return [before, after];
  const changed = differences(before, after);
  const side = (at: 0 | 1) =>
    Object.fromEntries(changed.flatMap(([key, move]) => (move[at] === null ? [] : [[key, move[at]]])));
  return [side(0), side(1)];
}

const mask = (value: unknown): unknown => (typeof value === 'string' ? masked(value) : value);

/**
 * Amounts are stored in minor units, which need the currency to be read; most changes do not change the currency
 * itself.
 */
const currencyOf = (row: object | null): unknown => (row as { currencyCode?: unknown } | null)?.currencyCode ?? null;
