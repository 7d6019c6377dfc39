import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';

/**
 * Where the data comes from: `draining` until work in progress has ended, `frozen` while it is copied, `moved` once it
 * is somewhere else. Where it goes: `receiving`, then `arrived`.
 */
export const MOVE_STATES = ['draining', 'frozen', 'moved', 'receiving', 'arrived'] as const;
export type MoveState = (typeof MOVE_STATES)[number];

export interface DataMove {
  readonly moveId: string;
  readonly state: MoveState;
}

/** The state of a tenant's data with regard to moves; `undefined` if it was never moved. */
export async function dataMoveOf(tx: Transaction, tenantId: string): Promise<DataMove | undefined> {
  const [row] = await tx.steady('SELECT move_id, state FROM data_moves WHERE tenant_id = ?', [tenantId]);
  return row && { moveId: String(row['move_id']), state: String(row['state']) as MoveState }; // written below only
}

/** The state of the tenant's data while it is moved. */
export class DataMoveStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly clock: Clock,
  ) {}

  find(): Promise<DataMove | undefined> {
    return dataMoveOf(this.tx, this.call.tenantId);
  }

  async set({ moveId, state }: DataMove): Promise<void> {
    await this.tx.run(
      'INSERT INTO data_moves (tenant_id, move_id, state, changed_at) VALUES (?, ?, ?, ?) ON CONFLICT (tenant_id) DO UPDATE SET move_id = excluded.move_id, state = excluded.state, changed_at = excluded.changed_at',
      [this.call.tenantId, moveId, state, this.clock.now()],
    );
  }

  /** The tenant's data is as if it had never been moved. */
  async forget(): Promise<void> {
    await this.tx.run('DELETE FROM data_moves WHERE tenant_id = ?', [this.call.tenantId]);
  }

  /**
   * The other transactions that run now, of any tenant. Those that began before the state was set may still write; on
   * SQLite there are none, as it has one writer.
   */
  async running(): Promise<string[]> {
    if (this.tx.dialect === 'sqlite') return [];
    const rows = await this.tx.all(
      "SELECT pid::text || '/' || extract(epoch FROM xact_start)::text AS name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL",
    );
    return rows.map((row) => String(row['name']));
  }

  /** The number of queued messages that are being delivered now. */
  async leasedMessages(): Promise<number> {
    const row = await this.tx.get(
      "SELECT count(*) AS n FROM outbox WHERE tenant_id = ? AND state = 'queued' AND leased_until > ?",
      [this.call.tenantId, this.clock.now()],
    );
    return Number(row?.['n']);
  }
}
