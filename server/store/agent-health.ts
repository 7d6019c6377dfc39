import type { Database } from '../../data-plane-agent/base/database/database.js';
import { SEEN_WITHIN_MS } from './linked-connections.js';
import type { Component } from '../../data-plane-agent/base/link/messages.js';
import { jsonOrNull, numberOf, textOf } from './rows.js';

const JOINED = "kind = 'agent' AND status = 'connected'";
const IS_LIVE = 'connected_since IS NOT NULL AND last_seen_at >= ?';

/** Whether all agents that have joined are connected, and report that their database is up. */
export function agentsAreUp(database: Pick<Database, 'read'>, at: number): Promise<boolean> {
  return database.read({ tenantId: null }, async (tx) => {
    const away = await tx.get(
      `SELECT 1 AS found FROM data_plane_connections WHERE ${JOINED} AND NOT (${IS_LIVE}) LIMIT 1`,
      [at - SEEN_WITHIN_MS],
    );
    if (away) return false;
    // The pattern only selects rows to look at.
    const faulty = await tx.all(
      `SELECT components FROM data_plane_connections WHERE ${JOINED} AND components LIKE '%"down"%' LIMIT 1000`,
    );
    return !faulty.some((row) =>
      jsonOrNull<readonly Component[]>(row, 'components')?.some(
        ({ kind, state }) => kind === 'database' && state === 'down',
      ),
    );
  });
}

/** The number of agents by state. */
export function linksByState(database: Pick<Database, 'read'>, at: number): Promise<Record<string, number>> {
  return database.read({ tenantId: null }, async (tx) => {
    const rows = await tx.all(
      `SELECT CASE WHEN status <> 'connected' THEN status WHEN ${IS_LIVE} THEN 'connected' ELSE 'disconnected' END AS state, COUNT(*) AS links
       FROM data_plane_connections WHERE kind = 'agent' GROUP BY 1`,
      [at - SEEN_WITHIN_MS],
    );
    const counted = Object.fromEntries(rows.map((row) => [textOf(row, 'state'), numberOf(row, 'links')]));
    return { connected: 0, disconnected: 0, pending: 0, suspended: 0, ...counted };
  });
}
