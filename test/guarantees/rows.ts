import type { Database, Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { TestServer } from '../support/server.js';

/** All rows of a tenant's contract data and of its data in the platform database, as text, to compare states. */
export async function rowsOfTenant({ foundation }: TestServer, tenantId: string): Promise<string> {
  const contractData = foundation.tenant ? await dump(foundation.tenant, tenantId) : {};
  const { login_failures: _, ...platform } = await dump(foundation.platform, tenantId, null);
  return JSON.stringify({ contractData, platform }, undefined, 1);
}

async function dump(
  database: Database,
  tenantId: string,
  scope: string | null = tenantId,
): Promise<Record<string, unknown>> {
  return database.read({ tenantId: scope }, async (tx) => {
    const tables: Record<string, unknown> = {};
    for (const name of (await tenantTables(database, tx)).filter((name) => !GOES_BY_ITSELF.has(name))) {
      // A refusal is recorded in the audit, and changes nothing else.
      const rows = (await tx.all(`SELECT * FROM ${name} WHERE tenant_id = ?`, [tenantId])).filter(
        (row) => name !== 'audit_log' || row['action'] !== 'access_refused',
      );
      tables[name] = rows.map((row) => JSON.stringify(name === 'audit_log' ? unchained(row) : unheard(row))).toSorted();
    }
    return tables;
  });
}

/** Chaining of audit events and other scheduled work, which is not a change by the request. */
const GOES_BY_ITSELF: ReadonlySet<string> = new Set(['audit_heads', 'due_work', 'reminder_sweeps']);

/** Without what heartbeats of agents change. */
const unheard = ({ last_seen_at: _seen, heard_at: _heard, latency_ms: _latency, ...row }: Row): Row => row;

const unchained = ({ position: _position, hash: _hash, ...row }: Row): Row => row;

/** The number of rows of each table of the platform. */
export async function platformCounts({ foundation }: TestServer): Promise<Record<string, unknown>> {
  return foundation.platform.read({ tenantId: null }, async (tx) => {
    const counts: Record<string, unknown> = {};
    for (const name of await tenantTables(foundation.platform, tx))
      counts[name] = (await tx.get(`SELECT count(*) AS n FROM ${name}`))?.['n'];
    counts['tenants'] = (await tx.get('SELECT count(*) AS n FROM tenants'))?.['n'];
    return counts;
  });
}

/** Queried once per database, because the catalogue is slower than most tables. */
async function tenantTables(database: Database, tx: Transaction): Promise<readonly string[]> {
  const known = tableNames.get(database);
  if (known) return known;
  const rows = await tx.all(
    tx.dialect === 'sqlite'
      ? "SELECT m.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'tenant_id' WHERE m.type = 'table' ORDER BY 1"
      : "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'tenant_id' AND table_schema = current_schema() ORDER BY 1",
  );
  const names = rows.map(({ name }) => String(name));
  tableNames.set(database, names);
  return names;
}

const tableNames = new WeakMap<Database, readonly string[]>();
