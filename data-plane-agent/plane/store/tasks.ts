import type { Day } from '../../base/day.js';
import type { Transaction, Value } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { SAMPLES } from '../contract/records/ownership.js';
import { canFallDue, firstOverdueLook } from '../domain/tasks/tasks.js';
import { tasks, type TaskRow } from '../tables/tasks.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { isOneOf } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

/** An open task that is assigned to a member, with the subject company of its contract. */
export interface HeldTask {
  readonly id: string;
  readonly contractId: string;
  readonly subjectId: string;
}

/** Fulfillment tasks. They have the scope of their contract, which callers must have found before. */
export class TaskStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  /** The live tasks of a contract in the order of their creation. */
  async ofContract(contractId: string): Promise<TaskRow[]> {
    return this.rows('contract_id = ? AND deleted_at IS NULL ORDER BY created_at, id', contractId);
  }

  async insert(row: TaskRow): Promise<void> {
    await tasks.insert(this.tx, this.call.tenantId, [row]);
    this.recordChange(null, row);
  }

  async update(before: TaskRow, after: TaskRow): Promise<void> {
    await tasks.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before, after);
  }

  /** Soft-deletes the tasks of contracts that are deleted. */
  async removeWithContracts(contractIds: readonly string[], now: number): Promise<void> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const live = await this.rows(
      `${among.sql} AND deleted_at IS NULL ORDER BY contract_id, created_at, id`,
      ...among.values,
    );
    if (live.length === 0) return;
    await this.tx.run(
      `UPDATE fulfillment_tasks SET deleted_at = ?, updated_at = ? WHERE tenant_id = ? AND ${among.sql} AND deleted_at IS NULL`,
      [now, now, this.call.tenantId, ...among.values],
    );
    for (const row of live) this.recordChange(row, { ...row, deletedAt: now, updatedAt: now });
  }

  /** Restores the tasks that were deleted with their contract. */
  async restoreWithContract(contractId: string, deletedAt: number): Promise<void> {
    const deleted = await this.rows(
      'contract_id = ? AND deleted_at = ? ORDER BY created_at, id',
      contractId,
      deletedAt,
    );
    if (deleted.length === 0) return;
    await this.tx.run(
      'UPDATE fulfillment_tasks SET deleted_at = NULL WHERE tenant_id = ? AND contract_id = ? AND deleted_at = ?',
      [this.call.tenantId, contractId, deletedAt],
    );
    for (const row of deleted) this.recordChange(row, { ...row, deletedAt: null });
  }

  /**
   * Ids of contracts with a task that was due before this day and is not marked overdue yet, the longest overdue first;
   * at most `limit`.
   */
  async contractsFallenDue(today: Day, limit: number): Promise<string[]> {
    const rows = await this.tx.all(
      `SELECT contract_id, min(due_date) AS first FROM fulfillment_tasks WHERE tenant_id = ? AND deleted_at IS NULL AND due_date IS NOT NULL AND due_date < ? AND status IN ('pending', 'in_progress')
       GROUP BY contract_id ORDER BY first, contract_id LIMIT ?`,
      [this.call.tenantId, today, limit],
    );
    return rows.map((row) => String(row['contract_id']));
  }

  /** How many open tasks a member has in the tenant's live contracts. */
  async countOpenOf(memberId: string): Promise<number> {
    if (!isId(memberId)) return 0;
    const row = await this.tx.get(
      `SELECT count(*) AS n FROM fulfillment_tasks WHERE tenant_id = ? AND owner_id = ? AND ${OPEN}`,
      [this.call.tenantId, memberId],
    );
    return Number(row?.['n']);
  }

  /** The latest few of a member's open tasks in contracts that the caller may see. */
  async samplesOf(memberId: string): Promise<{ id: string; name: string }[]> {
    if (!isId(memberId)) return [];
    const scope = withinScope(this.call, this.tx.dialect, 'contracts');
    const rows = await this.tx.all(
      `SELECT fulfillment_tasks.id, fulfillment_tasks.code, fulfillment_tasks.title FROM fulfillment_tasks ${WITH_CONTRACT}
       WHERE ${scope.sql} AND fulfillment_tasks.tenant_id = ? AND fulfillment_tasks.owner_id = ? AND ${OPEN_HERE} ORDER BY fulfillment_tasks.id DESC LIMIT ?`,
      [...scope.values, this.call.tenantId, memberId, SAMPLES],
    );
    return rows.map((row) => ({ id: String(row['id']), name: `${String(row['code'])} ${String(row['title'])}` }));
  }

  /** Subject companies of the contracts in which a member has open tasks. */
  async subjectsOf(memberId: string): Promise<string[]> {
    if (!isId(memberId)) return [];
    const rows = await this.tx.all(
      `SELECT DISTINCT contracts.subject_id FROM fulfillment_tasks ${WITH_CONTRACT} WHERE fulfillment_tasks.tenant_id = ? AND fulfillment_tasks.owner_id = ? AND ${OPEN_HERE} ORDER BY 1`,
      [this.call.tenantId, memberId],
    );
    return rows.map((row) => String(row['subject_id']));
  }

  /** A member's open tasks. Their contracts are locked until the transaction ends. */
  async heldBy(memberId: string): Promise<HeldTask[]> {
    if (!isId(memberId)) return [];
    // A change of a task locks its contract first, so it is enough to lock those, ordered by id.
    const lock = this.tx.dialect === 'postgres' ? ' FOR UPDATE OF contracts' : '';
    const rows = await this.tx.all(
      `SELECT fulfillment_tasks.id, fulfillment_tasks.contract_id, contracts.subject_id FROM fulfillment_tasks ${WITH_CONTRACT}
       WHERE fulfillment_tasks.tenant_id = ? AND fulfillment_tasks.owner_id = ? AND ${OPEN_HERE} ORDER BY contracts.id, fulfillment_tasks.id${lock}`,
      [this.call.tenantId, memberId],
    );
    return rows.map((row) => ({
      id: String(row['id']),
      contractId: String(row['contract_id']),
      subjectId: String(row['subject_id']),
    }));
  }

  /**
   * Reassigns tasks returned by `heldBy`. The versions of their contracts are incremented, except for those in `moved`,
   * which were incremented already.
   */
  async assign(
    held: readonly HeldTask[],
    {
      from,
      to,
      moved,
      now,
      actorId,
    }: {
      readonly from: string;
      readonly to: string;
      readonly moved: ReadonlySet<string>;
      readonly now: number;
      readonly actorId: string | null;
    },
  ): Promise<void> {
    if (held.length === 0) return;
    const { tenantId } = this.call;
    const { dialect } = this.tx;
    const among = isOneOf(
      dialect,
      'id',
      held.map(({ id }) => id),
    );
    const values: Value[] = [to, now, actorId, tenantId, ...among.values];
    await this.tx.run(
      `UPDATE fulfillment_tasks SET owner_id = ?, updated_at = ?, updated_by = ? WHERE tenant_id = ? AND ${among.sql}`,
      values,
    );
    const contracts = isOneOf(
      dialect,
      'id',
      [...new Set(held.map(({ contractId }) => contractId))].filter((id) => !moved.has(id)),
    );
    await this.tx.run(
      `UPDATE contracts SET updated_at = ?, updated_by = ?, version = version + 1 WHERE tenant_id = ? AND ${contracts.sql}`,
      [now, actorId, tenantId, ...contracts.values],
    );
    for (const { id, contractId } of held)
      this.recorder.record({
        table: tasks,
        id,
        root: ofContract(contractId),
        before: { ownerId: from },
        after: { ownerId: to },
      });
  }

  private async rows(condition: string, ...values: Value[]): Promise<TaskRow[]> {
    const found = await this.tx.all(
      `SELECT ${tasks.columnNames} FROM fulfillment_tasks WHERE tenant_id = ? AND ${condition}`,
      [this.call.tenantId, ...values],
    );
    return found.map((row) => tasks.decode(row));
  }

  private recordChange(before: TaskRow | null, after: TaskRow): void {
    if (after.dueDate !== null && canFallDue(after))
      this.recorder.due.at('tasks', firstOverdueLook(after.dueDate, this.call));
    this.recorder.record({ table: tasks, id: after.id, root: ofContract(after.contractId), before, after });
  }
}

/**
 * A task is deleted with its contract, so a live task has a live contract. The texts must equal the index's condition.
 */
const OPEN = "deleted_at IS NULL AND owner_id IS NOT NULL AND status NOT IN ('completed', 'accepted', 'canceled')";
const OPEN_HERE =
  "fulfillment_tasks.deleted_at IS NULL AND fulfillment_tasks.owner_id IS NOT NULL AND fulfillment_tasks.status NOT IN ('completed', 'accepted', 'canceled')";
const WITH_CONTRACT =
  'JOIN contracts ON contracts.tenant_id = fulfillment_tasks.tenant_id AND contracts.id = fulfillment_tasks.contract_id';
