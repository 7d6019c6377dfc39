import SqliteConnection from 'better-sqlite3';
import pg from 'pg';

/** The parts of a contract of the ledger. */
export const LINES = 3;
export const TERMS = 2;
export const NOTES = 1;

/** A contract in the database. */
export interface StoredContract {
  readonly id: string;
  readonly contractNo: string;
  /**
   * Whether all lines, terms and notes exist, the sums match the lines, and receipt, search text and audit row exist.
   */
  readonly isWhole: boolean;
}

/** Reads a file that no server has open. Throws if it is damaged. */
export async function storedInSqlite(file: string): Promise<StoredContract[]> {
  const connection = new SqliteConnection(file);
  try {
    const found = [
      connection.pragma('integrity_check', { simple: true }),
      ...(connection.pragma('foreign_key_check') as unknown[]),
    ];
    if (found.length !== 1 || found[0] !== 'ok') throw new Error(`the file is damaged: ${JSON.stringify(found)}`);
    return (connection.prepare(STORED).all() as Row[]).map(contractOf);
  } finally {
    connection.close();
  }
}

/** `adminUrl` is necessary because row-level security hides all rows if no tenant is set. */
export async function storedInPostgres(adminUrl: string): Promise<StoredContract[]> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return (await client.query<Row>(STORED)).rows.map(contractOf);
  } finally {
    await client.end();
  }
}

/** PostgreSQL returns sums and counts as text. */
type Row = Readonly<Record<string, string | number | null>>;

const of = (what: string, table: string, key = 'contract_id') =>
  `(SELECT ${what} FROM ${table} x WHERE x.tenant_id = c.tenant_id AND x.${key} = c.id)`;
const STORED = `SELECT c.id, c.contract_no, c.receivable_minor, c.received_minor, c.outstanding_minor, c.next_due_date,
  ${of('count(*)', 'payment_lines')} AS line_count, ${of('sum(x.amount_minor)', 'payment_lines')} AS amount, ${of('sum(x.received_minor)', 'payment_lines')} AS received,
  ${of('min(CASE WHEN x.outstanding_minor > 0 THEN x.due_date END)', 'payment_lines')} AS first_due, ${of('count(*)', 'receipts')} AS receipt_count,
  ${of('count(*)', 'contract_terms')} AS term_count, ${of('count(*)', 'contract_notes')} AS note_count, ${of('count(*)', 'contract_texts')} AS text_count, ${of('count(*)', 'audit_log', 'record_id')} AS audit_count
  FROM contracts c`;

function contractOf(row: Row): StoredContract {
  const number = (column: string) => Number(row[column]);
  const parts =
    number('line_count') === LINES &&
    number('term_count') === TERMS &&
    number('note_count') === NOTES &&
    number('receipt_count') === 1 &&
    number('text_count') === 1 &&
    number('audit_count') === 1;
  const sums =
    number('amount') === number('receivable_minor') &&
    number('received') === number('received_minor') &&
    number('amount') - number('received') === number('outstanding_minor') &&
    row['first_due'] === row['next_due_date'];
  return { id: String(row['id']), contractNo: String(row['contract_no']), isWhole: parts && sums };
}
