import type { Database } from './database.js';

export interface TableRows {
  readonly table: string;
  readonly rows: number;
  /** From the statistics of PostgreSQL: row-level security hides the rows of tenants from a count. */
  readonly isEstimate: boolean;
}

/** The number of rows of each table, by name. Reads no row. */
export function tableRows(database: Pick<Database, 'read' | 'dialect'>): Promise<TableRows[]> {
  return database.read({ tenantId: null }, async (tx) => {
    if (database.dialect === 'postgres')
      return (
        await tx.all(
          'SELECT relname AS name, n_live_tup AS live FROM pg_stat_user_tables WHERE schemaname = current_schema() ORDER BY relname',
        )
      ).map((row) => ({ table: String(row['name']), rows: Number(row['live']), isEstimate: true }));
    const found: TableRows[] = [];
    for (const { name } of await tx.all(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name",
    )) {
      const table = String(name);
      // Names of our own migrations, quoted as SQL quotes names.
      const row = await tx.get(`SELECT COUNT(*) AS n FROM "${table.replaceAll('"', '""')}"`);
      found.push({ table, rows: Number(row?.['n'] ?? 0), isEstimate: false });
    }
    return found;
  });
}
