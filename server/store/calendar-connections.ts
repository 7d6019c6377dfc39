import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, numberOrNull, textOf, textOrNull, flagOf } from './rows.js';

/**
 * `connected`; `revoked`: the provider does not accept the grant any more; `ending`: removed here, and the grant has yet
 * to be revoked at the provider. A tenant has at most one connection that is not ending.
 */
export type CalendarState = 'connected' | 'revoked' | 'ending';

/** A tenant's connection to an external calendar. */
export interface CalendarConnection {
  readonly tenantId: string;
  readonly id: string;
  readonly providerId: string;
  /** The OAuth client to which the provider issued the tokens. */
  readonly clientId: string;
  /** The account at the provider, if it says so. */
  readonly account: string | null;
  /** The administrator who connected it. */
  readonly memberId: string;
  readonly state: CalendarState;
  /** Sealed for `refreshContext`; `null` if the grant was revoked. */
  readonly refreshSealed: string | null;
  /** Sealed for `accessContext`. */
  readonly accessSealed: string | null;
  readonly accessExpiresAt: number | null;
  /**
   * False from before the first change of the calendar in a run until the run has ended: after a crash the calendar may
   * have events that are not recorded.
   */
  readonly settled: boolean;
  readonly lastSyncAt: number | null;
  readonly lastError: string | null;
  /** When the schedule has something to do for it. */
  readonly nextAt: number;
  /** Failed attempts to revoke the grant. */
  readonly attempts: number;
  readonly createdAt: number;
}

type Place = Pick<CalendarConnection, 'tenantId' | 'id'>;

export const refreshContext = ({ tenantId, id }: Place): string =>
  `calendar_connections.refresh_sealed.${tenantId}.${id}`;
export const accessContext = ({ tenantId, id }: Place): string =>
  `calendar_connections.access_sealed.${tenantId}.${id}`;

export class CalendarConnectionStore {
  constructor(private readonly tx: Transaction) {}

  /** The tenant's connection, without those that are ending. */
  async current(tenantId: string): Promise<CalendarConnection | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM calendar_connections WHERE tenant_id = ? AND state <> 'ending'`,
      [tenantId],
    );
    return row && connectionOf(row);
  }

  async byId({ tenantId, id }: Place): Promise<CalendarConnection | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM calendar_connections WHERE tenant_id = ? AND id = ?`, [
      tenantId,
      id,
    ]);
    return row && connectionOf(row);
  }

  async insert(it: CalendarConnection): Promise<void> {
    await this.tx.run(
      'INSERT INTO calendar_connections (tenant_id, id, provider, client_id, account, member_id, state, refresh_sealed, access_sealed, access_expires_at, settled, last_sync_at, last_error, next_at, attempts, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        it.tenantId,
        it.id,
        it.providerId,
        it.clientId,
        it.account,
        it.memberId,
        it.state,
        it.refreshSealed,
        it.accessSealed,
        it.accessExpiresAt,
        it.settled ? 1 : 0,
        it.lastSyncAt,
        it.lastError,
        it.nextAt,
        it.attempts,
        it.createdAt,
        it.createdAt,
      ],
    );
  }

  /**
   * Ends the tenant's connection, of this member only if one is given: it no longer counts, a run of it stops at its
   * next change, and the schedule revokes the grant. Returns it if there was one.
   */
  async end({
    tenantId,
    memberId,
    at,
  }: {
    tenantId: string;
    memberId?: string;
    at: number;
  }): Promise<CalendarConnection | undefined> {
    const current = await this.current(tenantId);
    if (!current || (memberId !== undefined && current.memberId !== memberId)) return undefined;
    await this.tx.run('DELETE FROM calendar_events WHERE tenant_id = ? AND connection_id = ?', [tenantId, current.id]);
    await this.tx.run(
      "UPDATE calendar_connections SET state = 'ending', access_sealed = NULL, access_expires_at = NULL, run_token = NULL, run_until = NULL, attempts = 0, next_at = ?, updated_at = ? WHERE tenant_id = ? AND id = ?",
      [at, at, tenantId, current.id],
    );
    return current;
  }

  /** Connections of active tenants for which the schedule has something to push, the longest waiting first. */
  async due({ at, limit }: { at: number; limit: number }): Promise<Place[]> {
    const rows = await this.tx.all(
      "SELECT c.tenant_id, c.id FROM calendar_connections c JOIN tenants t ON t.id = c.tenant_id WHERE c.state = 'connected' AND c.next_at <= ? AND t.status = 'active' ORDER BY c.next_at, c.id LIMIT ?",
      [at, limit],
    );
    return rows.map(placeOf);
  }

  /** Connections whose grant is to be revoked, the longest waiting first. */
  async ending({ at, limit }: { at: number; limit: number }): Promise<CalendarConnection[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM calendar_connections WHERE state = 'ending' AND next_at <= ? ORDER BY next_at, id LIMIT ?`,
      [at, limit],
    );
    return rows.map(connectionOf);
  }

  async postpone({ tenantId, id, nextAt }: Place & { readonly nextAt: number }): Promise<void> {
    await this.tx.run('UPDATE calendar_connections SET next_at = ? WHERE tenant_id = ? AND id = ?', [
      nextAt,
      tenantId,
      id,
    ]);
  }

  async retryEnding({ tenantId, id, nextAt }: Place & { readonly nextAt: number }): Promise<void> {
    await this.tx.run(
      "UPDATE calendar_connections SET attempts = attempts + 1, next_at = ? WHERE tenant_id = ? AND id = ? AND state = 'ending'",
      [nextAt, tenantId, id],
    );
  }

  /** Returns false if another process has deleted it. */
  async deleteEnding({ tenantId, id }: Place): Promise<boolean> {
    return (
      (await this.tx.run("DELETE FROM calendar_connections WHERE tenant_id = ? AND id = ? AND state = 'ending'", [
        tenantId,
        id,
      ])) === 1
    );
  }

  /**
   * Starts a run: one at a time for a connection. A run of a process that died is replaced when its lease has expired.
   * Returns false while there is another one, and if the connection has ended.
   */
  async claim({ tenantId, id, token, at, until }: Place & Run & { at: number }): Promise<boolean> {
    return (
      (await this.tx.run(
        "UPDATE calendar_connections SET run_token = ?, run_until = ? WHERE tenant_id = ? AND id = ? AND state = 'connected' AND (run_token IS NULL OR run_until <= ?)",
        [token, until, tenantId, id, at],
      )) === 1
    );
  }

  /** Extends the lease of a run. Returns false if the run has been replaced or its connection has ended. */
  async renew({ tenantId, id, token, until }: Place & Run): Promise<boolean> {
    return (
      (await this.tx.run(
        "UPDATE calendar_connections SET run_until = ? WHERE tenant_id = ? AND id = ? AND run_token = ? AND state = 'connected'",
        [until, tenantId, id, token],
      )) === 1
    );
  }

  /** Whether another connection has a grant of the same account, which a revocation would end too. */
  async sharesAccount({ tenantId, id, providerId, clientId, account }: CalendarConnection): Promise<boolean> {
    return (
      (await this.tx.get(
        "SELECT 1 AS found FROM calendar_connections WHERE provider = ? AND client_id = ? AND account = ? AND state = 'connected' AND NOT (tenant_id = ? AND id = ?) LIMIT 1",
        [providerId, clientId, account, tenantId, id],
      )) !== undefined
    );
  }

  async setSettled({ tenantId, id, settled }: Place & { readonly settled: boolean }): Promise<void> {
    await this.tx.run('UPDATE calendar_connections SET settled = ? WHERE tenant_id = ? AND id = ?', [
      settled ? 1 : 0,
      tenantId,
      id,
    ]);
  }

  async setTokens({
    tenantId,
    id,
    refreshSealed,
    accessSealed,
    accessExpiresAt,
  }: Place & Pick<CalendarConnection, 'refreshSealed' | 'accessSealed' | 'accessExpiresAt'>): Promise<void> {
    await this.tx.run(
      'UPDATE calendar_connections SET refresh_sealed = ?, access_sealed = ?, access_expires_at = ? WHERE tenant_id = ? AND id = ?',
      [refreshSealed, accessSealed, accessExpiresAt, tenantId, id],
    );
  }

  /**
   * Ends a run, unless it was replaced or its connection has ended. `lastSyncAt` null: the time of the last complete one
   * stays.
   */
  async finish({
    tenantId,
    id,
    token,
    settled,
    lastSyncAt,
    lastError,
    nextAt,
    at,
  }: Place &
    Pick<Run, 'token'> &
    Pick<CalendarConnection, 'settled' | 'lastSyncAt' | 'lastError' | 'nextAt'> & {
      readonly at: number;
    }): Promise<void> {
    await this.tx.run(
      'UPDATE calendar_connections SET run_token = NULL, run_until = NULL, settled = ?, last_sync_at = COALESCE(?, last_sync_at), last_error = ?, next_at = ?, updated_at = ? WHERE tenant_id = ? AND id = ? AND run_token = ?',
      [settled ? 1 : 0, lastSyncAt, lastError, nextAt, at, tenantId, id, token],
    );
  }

  /** The provider does not accept the grant any more: deletes the tokens. Returns false if the run was replaced. */
  async revoke({
    tenantId,
    id,
    token,
    reason,
    at,
  }: Place & Pick<Run, 'token'> & { readonly reason: string; readonly at: number }): Promise<boolean> {
    return (
      (await this.tx.run(
        "UPDATE calendar_connections SET state = 'revoked', refresh_sealed = NULL, access_sealed = NULL, access_expires_at = NULL, run_token = NULL, run_until = NULL, last_error = ?, updated_at = ? WHERE tenant_id = ? AND id = ? AND run_token = ?",
        [reason, at, tenantId, id, token],
      )) === 1
    );
  }
}

interface Run {
  /** Identifies the run. */
  readonly token: string;
  /** When its lease expires. */
  readonly until: number;
}

const COLUMNS =
  'tenant_id, id, provider, client_id, account, member_id, state, refresh_sealed, access_sealed, access_expires_at, settled, last_sync_at, last_error, next_at, attempts, created_at';

const placeOf = (row: Row): Place => ({ tenantId: textOf(row, 'tenant_id'), id: textOf(row, 'id') });

const connectionOf = (row: Row): CalendarConnection => ({
  ...placeOf(row),
  providerId: textOf(row, 'provider'),
  clientId: textOf(row, 'client_id'),
  account: textOrNull(row, 'account'),
  memberId: textOf(row, 'member_id'),
  state: textOf(row, 'state') as CalendarState, // the column's closed vocabulary
  refreshSealed: textOrNull(row, 'refresh_sealed'),
  accessSealed: textOrNull(row, 'access_sealed'),
  accessExpiresAt: numberOrNull(row, 'access_expires_at'),
  settled: flagOf(row, 'settled'),
  lastSyncAt: numberOrNull(row, 'last_sync_at'),
  lastError: textOrNull(row, 'last_error'),
  nextAt: numberOf(row, 'next_at'),
  attempts: numberOf(row, 'attempts'),
  createdAt: numberOf(row, 'created_at'),
});
