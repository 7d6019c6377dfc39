import type { Row, Transaction, Value } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { SAMPLES, type ContractSample } from '../contract/records/ownership.js';
import type { WorkflowStage } from '../contract/vocabulary.js';
import type { Responsible } from '../domain/contracts/handover.js';
import { contracts as contractTable } from '../tables/contracts.js';
import { RollupReader } from './rollup-reader.js';
import type { RollupDelta } from './rollup-delta.js';
import type { ChangeRecorder } from './change-recorder.js';
import { isOneOf, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

export interface HeldContract extends Responsible {
  readonly id: string;
  readonly subjectId: string;
}

/**
 * Responsibility for contracts across the whole tenant: a leaving member hands over all contracts, including those
 * outside the scope of the administrator who does it. Only samples, which show contracts, are limited to the caller's
 * scope.
 */
export class OwnershipStore {
  private readonly scope: Fragment;
  private readonly recorder: ChangeRecorder;
  private readonly rollupDelta: RollupDelta;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, rollupDelta }: { readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  ) {
    this.recorder = recorder;
    this.rollupDelta = rollupDelta;
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  owned(memberId: string): Promise<number> {
    return this.count('owner_id = ?', memberId);
  }

  supervised(memberId: string): Promise<number> {
    return this.count('owner_superior_id = ?', memberId);
  }

  /** The latest few contracts that the caller may see. */
  async samples(held: 'owned' | 'supervised', memberId: string): Promise<ContractSample[]> {
    if (!isId(memberId)) return [];
    const column = held === 'owned' ? 'owner_id' : 'owner_superior_id';
    const rows = await this.tx.all(
      `SELECT id, contract_no, project_name, subject_id, stage_category FROM contracts WHERE ${this.scope.sql} AND ${column} = ? AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT ?`,
      [...this.scope.values, memberId, SAMPLES],
    );
    return rows.map((row) => ({
      id: String(row['id']),
      contractNo: String(row['contract_no']),
      projectName: String(row['project_name']),
      subjectId: String(row['subject_id']),
      workflowStage: String(row['stage_category']) as WorkflowStage, // a closed vocabulary
    }));
  }

  /** How many contracts a subject company has, including those in the trash. */
  async countOf(subjectId: string): Promise<number> {
    const row = await this.tx.get('SELECT count(*) AS n FROM contracts WHERE tenant_id = ? AND subject_id = ?', [
      this.call.tenantId,
      subjectId,
    ]);
    return Number(row?.['n']);
  }

  /** Subject companies of all contracts that the member owns or supervises. */
  async subjectsOf(memberId: string): Promise<string[]> {
    if (!isId(memberId)) return [];
    const rows = await this.tx.all(
      `SELECT subject_id FROM contracts WHERE tenant_id = ? AND owner_id = ? AND deleted_at IS NULL
       UNION SELECT subject_id FROM contracts WHERE tenant_id = ? AND owner_superior_id = ? AND deleted_at IS NULL ORDER BY 1`,
      [this.call.tenantId, memberId, this.call.tenantId, memberId],
    );
    return rows.map((row) => String(row['subject_id']));
  }

  /** Superiors on the member's own contracts, the most frequent first. */
  async superiorsOf(memberId: string, limit: number): Promise<string[]> {
    if (!isId(memberId)) return [];
    const rows = await this.tx.all(
      `SELECT owner_superior_id AS id, count(*) AS n FROM contracts WHERE tenant_id = ? AND owner_id = ? AND owner_superior_id IS NOT NULL AND owner_superior_id <> ? AND deleted_at IS NULL
       GROUP BY owner_superior_id ORDER BY n DESC, id LIMIT ?`,
      [this.call.tenantId, memberId, memberId, limit],
    );
    return rows.map((row) => String(row['id']));
  }

  /** The contracts that the member owns or supervises, locked until the transaction ends. */
  async held(memberId: string): Promise<HeldContract[]> {
    if (!isId(memberId)) return [];
    const lock = this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    // Ordered by id, so that two concurrent handovers wait for each other instead of deadlocking.
    // SQLite, which has no statistics, would rather read all contracts in that order than sort those of one member.
    const select = (column: string, index: string) =>
      this.tx.all(
        `SELECT id, subject_id, owner_id, owner_superior_id FROM contracts${this.tx.dialect === 'sqlite' ? ` INDEXED BY ${index}` : ''} WHERE tenant_id = ? AND ${column} = ? AND deleted_at IS NULL ORDER BY id${lock}`,
        [this.call.tenantId, memberId],
      );
    const byId = new Map(
      [
        ...(await select('owner_id', 'contracts_by_owner')),
        ...(await select('owner_superior_id', 'contracts_by_superior')),
      ].map((row): [string, HeldContract] => [String(row['id']), heldOf(row)]),
    );
    return [...byId.values()];
  }

  /** Assigns contracts that were locked with `held`, and increments their versions. */
  async assign(
    contracts: readonly HeldContract[],
    to: Responsible,
    { now, actorId }: { readonly now: number; readonly actorId: string | null },
  ): Promise<void> {
    if (contracts.length === 0) return;
    const among = isOneOf(
      this.tx.dialect,
      'id',
      contracts.map(({ id }) => id),
    );
    const values: Value[] = [to.ownerId, to.ownerSuperiorId, now, actorId, this.call.tenantId, ...among.values];
    const before = await new RollupReader(this.tx, this.call.tenantId).contracts(contracts.map(({ id }) => id));
    await this.tx.run(
      `UPDATE contracts SET owner_id = ?, owner_superior_id = ?, updated_at = ?, updated_by = ?, version = version + 1 WHERE tenant_id = ? AND ${among.sql}`,
      values,
    );
    for (const { id, ownerId, ownerSuperiorId } of contracts)
      this.recorder.record({ table: contractTable, id, before: { ownerId, ownerSuperiorId }, after: { ...to } });
    for (const contract of before.values())
      this.rollupDelta.contract(contract, { ...contract, ownerId: to.ownerId, ownerSuperiorId: to.ownerSuperiorId });
  }

  private async count(condition: string, id: string): Promise<number> {
    if (!isId(id)) return 0;
    const row = await this.tx.get(
      `SELECT count(*) AS n FROM contracts WHERE tenant_id = ? AND ${condition} AND deleted_at IS NULL`,
      [this.call.tenantId, id],
    );
    return Number(row?.['n']);
  }
}

const heldOf = (row: Row): HeldContract => ({
  id: String(row['id']),
  subjectId: String(row['subject_id']),
  ownerId: String(row['owner_id']),
  ownerSuperiorId: row['owner_superior_id'] === null ? null : String(row['owner_superior_id']),
});
