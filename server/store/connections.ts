import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, textOf, textOrNull } from './rows.js';

export const CONNECTION_STATUSES = [
  'pending',
  'connected',
  'disconnected',
  'mismatch',
  'revoked',
  'declared',
  'inactive',
] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];
export const ACCESS_MODES = ['outbound', 'direct'] as const;

/**
 * A declared part of a tenant's data plane: the connection to an agent (`agent`), or a component behind it. One of each
 * kind.
 */
export interface ConnectionRecord {
  readonly id: string;
  readonly kind: string;
  readonly provider: string | null;
  readonly location: string | null;
  readonly accessMode: (typeof ACCESS_MODES)[number] | null;
  readonly endpoint: string | null;
  readonly status: ConnectionStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class ConnectionStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** By kind. */
  async all(): Promise<ConnectionRecord[]> {
    return (
      await this.tx.all(`SELECT ${COLUMNS} FROM data_plane_connections WHERE tenant_id = ? ORDER BY kind`, [
        this.tenantId,
      ])
    ).map(connectionOf);
  }

  async byKind(kind: string): Promise<ConnectionRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM data_plane_connections WHERE tenant_id = ? AND kind = ?`, [
      this.tenantId,
      kind,
    ]);
    return row && connectionOf(row);
  }

  async insert(it: ConnectionRecord): Promise<void> {
    await this.tx.run(
      `INSERT INTO data_plane_connections (tenant_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        this.tenantId,
        it.id,
        it.kind,
        it.provider,
        it.location,
        it.accessMode,
        it.endpoint,
        it.status,
        it.createdAt,
        it.updatedAt,
      ],
    );
  }

  async setStatus({ kind, status, at }: { kind: string; status: ConnectionStatus; at: number }): Promise<void> {
    await this.tx.run('UPDATE data_plane_connections SET status = ?, updated_at = ? WHERE tenant_id = ? AND kind = ?', [
      status,
      at,
      this.tenantId,
      kind,
    ]);
  }

  async delete(kind: string): Promise<void> {
    await this.tx.run('DELETE FROM data_plane_connections WHERE tenant_id = ? AND kind = ?', [this.tenantId, kind]);
  }
}

const COLUMNS = 'id, kind, provider, location, access_mode, endpoint, status, created_at, updated_at';

const connectionOf = (row: Row): ConnectionRecord => ({
  id: textOf(row, 'id'),
  kind: textOf(row, 'kind'),
  provider: textOrNull(row, 'provider'),
  location: textOrNull(row, 'location'),
  accessMode: textOrNull(row, 'access_mode') as ConnectionRecord['accessMode'], // the column's closed vocabulary
  endpoint: textOrNull(row, 'endpoint'),
  status: textOf(row, 'status') as ConnectionStatus,
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
