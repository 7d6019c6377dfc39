import type { Transaction } from '../../base/database/database.js';
import type { Clock } from '../../base/clock.js';
import { isId, newId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { WorkflowEventSource } from '../contract/vocabulary.js';
import { workflowEvents, type WorkflowEventRow } from '../tables/workflow-events.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';

export type NewEvent = Omit<WorkflowEventRow, 'id' | 'actorId' | 'actorName' | 'actorRole' | 'source' | 'createdAt'> & {
  readonly source?: WorkflowEventSource;
};

/** The workflow history of contracts: stage and lock changes, and refused moves. */
export class WorkflowEventStore {
  private readonly clock: Clock;
  private readonly recorder: ChangeRecorder;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { clock, recorder }: { readonly clock: Clock; readonly recorder: ChangeRecorder },
  ) {
    this.clock = clock;
    this.recorder = recorder;
  }

  /** Adds an event to a contract's history; events are never changed. The source defaults to the caller's kind. */
  async record({ source, ...event }: NewEvent): Promise<WorkflowEventRow> {
    const { actor } = this.call;
    const row: WorkflowEventRow = {
      ...event,
      id: newId(),
      actorId: actor.id,
      actorName: actor.name,
      actorRole: actor.roleCode,
      source: source ?? (actor.kind === 'user' ? 'user' : 'system'),
      createdAt: this.clock.now(),
    };
    await workflowEvents.insert(this.tx, this.call.tenantId, [row]);
    // The creation of a contract is audited with the contract itself.
    if (row.kind !== 'created')
      this.recorder.record({
        table: workflowEvents,
        id: row.id,
        root: ofContract(row.contractId),
        before: null,
        after: row,
      });
    return row;
  }

  /** The latest events of a contract that the caller has already found, newest first. */
  async ofContract(contractId: string, limit: number): Promise<WorkflowEventRow[]> {
    const rows = await this.tx.all(
      `SELECT ${workflowEvents.columnNames} FROM workflow_events WHERE tenant_id = ? AND contract_id = ? ORDER BY id DESC LIMIT ?`,
      [this.call.tenantId, contractId, limit],
    );
    return rows.map((row) => workflowEvents.decode(row));
  }

  /** An event of a contract that the caller has already found. */
  async find(contractId: string, id: string): Promise<WorkflowEventRow | undefined> {
    if (!isId(id)) return undefined;
    const row = await this.tx.get(
      `SELECT ${workflowEvents.columnNames} FROM workflow_events WHERE tenant_id = ? AND contract_id = ? AND id = ?`,
      [this.call.tenantId, contractId, id],
    );
    return row && workflowEvents.decode(row);
  }

  /** How many moves of this contract by the caller were refused since an instant. */
  async denialsSince(contractId: string, since: number): Promise<number> {
    const row = await this.tx.get(
      "SELECT count(*) AS n FROM workflow_events WHERE tenant_id = ? AND contract_id = ? AND kind = 'transition_denied' AND actor_id = ? AND created_at > ?",
      [this.call.tenantId, contractId, this.call.actor.id, since],
    );
    return Number(row?.['n'] ?? 0);
  }

  /** The id of the user who last moved a contract; `null` when it was never moved, or was moved by a job. */
  async lastMoverOf(contractId: string): Promise<string | null> {
    const row = await this.tx.get(
      "SELECT actor_id FROM workflow_events WHERE tenant_id = ? AND contract_id = ? AND kind = 'stage_changed' ORDER BY id DESC LIMIT 1",
      [this.call.tenantId, contractId],
    );
    return row?.['actor_id'] === null || row === undefined ? null : String(row['actor_id']);
  }
}
