import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, textOf, textOrNull } from './rows.js';

/** A session of an agent, and the process of the control plane that holds it. */
export interface LinkSessionRecord {
  readonly tenantId: string;
  readonly sid: string;
  readonly connectionId: string;
  readonly bootId: string;
  readonly holder: string;
  /** Where other processes reach the holder. */
  readonly peerUrl: string;
  readonly openedAt: number;
  readonly heardAt: number;
}

/** A session from which nothing was heard for longer has ended, or its holder died. */
export const SESSION_LIFE_MS = 60_000;

/** The sessions of all replicas. */
export class LinkSessionStore {
  constructor(private readonly tx: Transaction) {}

  /** Records a session, or that it was heard of. */
  async heard(session: LinkSessionRecord): Promise<void> {
    await this.tx.run(
      `INSERT INTO link_sessions (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, sid) DO UPDATE SET heard_at = excluded.heard_at`,
      [
        session.tenantId,
        session.sid,
        session.connectionId,
        session.bootId,
        session.holder,
        session.peerUrl,
        session.openedAt,
        session.heardAt,
      ],
    );
  }

  /** The sessions of a tenant that are alive, the newest first. */
  async alive(tenantId: string, at: number): Promise<LinkSessionRecord[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM link_sessions WHERE tenant_id = ? AND heard_at > ? ORDER BY opened_at DESC, sid DESC LIMIT 10`,
      [tenantId, at - SESSION_LIFE_MS],
    );
    return rows.map(sessionOf);
  }

  async remove({ tenantId, sid }: Pick<LinkSessionRecord, 'tenantId' | 'sid'>): Promise<void> {
    await this.tx.run('DELETE FROM link_sessions WHERE tenant_id = ? AND sid = ?', [tenantId, sid]);
  }

  /**
   * The sessions of a holder whose connection is no longer connected, or was joined again since: revoked, suspended, or
   * replaced. With the status of the connection.
   */
  async ended(holder: string): Promise<{ readonly sid: string; readonly status: string | null }[]> {
    const rows = await this.tx.all(
      `SELECT s.sid, c.status FROM link_sessions s LEFT JOIN data_plane_connections c ON c.tenant_id = s.tenant_id AND c.kind = 'agent' AND c.id = s.connection_id
       WHERE s.holder = ? AND (c.status IS NULL OR c.status <> 'connected' OR c.joined_at > s.opened_at)`,
      [holder],
    );
    return rows.map((row) => ({ sid: textOf(row, 'sid'), status: textOrNull(row, 'status') }));
  }

  /** Records that a process of the control plane runs, and removes those that died, with their sessions. */
  async replicaHeard({
    holder,
    peerUrl,
    at,
  }: Pick<LinkSessionRecord, 'holder' | 'peerUrl'> & { readonly at: number }): Promise<void> {
    await this.tx.run(
      'INSERT INTO link_replicas (holder, peer_url, heard_at) VALUES (?, ?, ?) ON CONFLICT (holder) DO UPDATE SET heard_at = excluded.heard_at',
      [holder, peerUrl, at],
    );
    await this.tx.run('DELETE FROM link_replicas WHERE heard_at <= ?', [at - SESSION_LIFE_MS]);
    await this.tx.run('DELETE FROM link_sessions WHERE heard_at <= ?', [at - SESSION_LIFE_MS]);
  }

  async removeReplica(holder: string): Promise<void> {
    await this.tx.run('DELETE FROM link_sessions WHERE holder = ?', [holder]);
    await this.tx.run('DELETE FROM link_replicas WHERE holder = ?', [holder]);
  }

  /** Whether a process of the control plane runs. */
  async anyReplica(at: number): Promise<boolean> {
    return this.hasPeers({ holder: '', at });
  }

  /** Whether another process of the control plane runs. */
  async hasPeers({ holder, at }: { readonly holder: string; readonly at: number }): Promise<boolean> {
    const row = await this.tx.get('SELECT 1 AS found FROM link_replicas WHERE holder <> ? AND heard_at > ? LIMIT 1', [
      holder,
      at - SESSION_LIFE_MS,
    ]);
    return row !== undefined;
  }
}

const COLUMNS = 'tenant_id, sid, connection_id, boot_id, holder, peer_url, opened_at, heard_at';

const sessionOf = (row: Row): LinkSessionRecord => ({
  tenantId: textOf(row, 'tenant_id'),
  sid: textOf(row, 'sid'),
  connectionId: textOf(row, 'connection_id'),
  bootId: textOf(row, 'boot_id'),
  holder: textOf(row, 'holder'),
  peerUrl: textOf(row, 'peer_url'),
  openedAt: numberOf(row, 'opened_at'),
  heardAt: numberOf(row, 'heard_at'),
});
