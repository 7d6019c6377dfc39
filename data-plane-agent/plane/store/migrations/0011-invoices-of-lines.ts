import type { Exclusive, Row } from '../../../base/database/database.js';
import type { Migration } from '../../../base/database/migrator.js';

/**
 * Lines with an invoice number that were written before there were invoice records get the record that the same line makes today: their
 * amount counts on, whatever other records come to name them. What was invoiced, and on which day, stays as it was counted.
 */
export const invoicesOfLines: Migration = {
  id: '0011-invoices-of-lines',
  statements: () => [],
  async fill(connection) {
    for (const tenantId of await tenants(connection)) {
      const numbers = new Numbers(connection, tenantId);
      // Who is live has the first claim to a number; what went with a contract comes back with it, and needs one too.
      for (const which of ['IS NULL', 'IS NOT NULL'] as const) {
        for (let after: string | undefined = BEFORE_ALL; after !== undefined; ) {
          const from: string = after;
          after = await connection.transaction(() => fillSome(connection, { tenantId, which, after: from, numbers }));
        }
      }
    }
  },
};

/** Lines that are looked at in one transaction. */
const BATCH = 1_000;
/** No id is smaller. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

async function tenants(connection: Exclusive): Promise<string[]> {
  return connection.transaction(async () => {
    // PostgreSQL hides the rows of all tenants from the owner too, as long as row security is forced.
    const isPostgres = connection.dialect === 'postgres';
    if (isPostgres) {
      await connection.run('ALTER TABLE contracts NO FORCE ROW LEVEL SECURITY');
      // A database that was just restored has no statistics: PostgreSQL would read whole tables for each batch.
      for (const table of ['contracts', 'payment_lines']) await connection.run(`ANALYZE ${table}`);
    }
    const found: string[] = [];
    for (let after = BEFORE_ALL; ; ) {
      const [next] = await connection.all('SELECT tenant_id FROM contracts WHERE tenant_id > ? ORDER BY tenant_id LIMIT 1', [after]);
      if (!next) break;
      after = String(next['tenant_id']);
      found.push(after);
    }
    if (isPostgres) await connection.run('ALTER TABLE contracts FORCE ROW LEVEL SECURITY');
    return found;
  });
}

/** A line that needs a record, with what decides about the record's number. */
interface Wanting {
  readonly id: string;
  readonly contractId: string;
  readonly subjectId: string;
  readonly invoiceNo: string;
  readonly deletedAt: number | null;
}
interface Named extends Wanting {
  readonly key: string;
}

interface Part {
  readonly tenantId: string;
  readonly which: 'IS NULL' | 'IS NOT NULL';
  readonly after: string;
  readonly numbers: Numbers;
}

/** Answers the last line that it looked at, if there may be more behind it. */
async function fillSome(connection: Exclusive, { tenantId, which, after, numbers }: Part): Promise<string | undefined> {
  if (connection.dialect === 'postgres') await connection.run("SELECT set_config('duebook.tenant', ?, true)", [tenantId]);
  const rows = await connection.all(
    `SELECT id, contract_id, invoice_no, deleted_at FROM payment_lines WHERE tenant_id = ? AND id > ? AND invoice_no IS NOT NULL AND invoice_records = 0 AND deleted_at ${which} ORDER BY id LIMIT ${BATCH}`,
    [tenantId, after],
  );
  const wanting = await withContracts(connection, tenantId, rows);
  if (wanting.length > 0) await enter(connection, tenantId, await numbers.of(wanting));
  return rows.length < BATCH ? undefined : String(rows.at(-1)?.['id']);
}

/** Of lines that are removed, only those count that went with their contract. Their contracts are held, as they are for every change of a line. */
async function withContracts(connection: Exclusive, tenantId: string, rows: readonly Row[]): Promise<Wanting[]> {
  const ids = JSON.stringify([...new Set(rows.map((row) => row['contract_id']))]);
  const found = await connection.all(
    connection.dialect === 'postgres'
      ? 'SELECT id, subject_id, deleted_at FROM contracts WHERE tenant_id = ? AND id IN (SELECT value::uuid FROM json_array_elements_text(?::json)) ORDER BY id FOR UPDATE'
      : 'SELECT id, subject_id, deleted_at FROM contracts WHERE tenant_id = ? AND id IN (SELECT value FROM json_each(?))',
    [tenantId, ids],
  );
  const contracts = new Map(found.map((row) => [row['id'], row]));
  return rows.flatMap((row) => {
    const contract = contracts.get(row['contract_id'] ?? null);
    if (!contract || contract['deleted_at'] !== row['deleted_at']) return [];
    const deletedAt = row['deleted_at'] === null ? null : Number(row['deleted_at']);
    return [{ id: String(row['id']), contractId: String(row['contract_id']), subjectId: String(contract['subject_id']), invoiceNo: String(row['invoice_no']), deletedAt }];
  });
}

async function enter(connection: Exclusive, tenantId: string, lines: readonly Named[]): Promise<void> {
  const sent = JSON.stringify(lines.map(({ id, invoiceNo, key }) => ({ line: id, record: recordId(id), no: invoiceNo, key })));
  const named =
    connection.dialect === 'postgres'
      ? 'json_to_recordset(?::json) AS n (line UUID, record UUID, no TEXT, key TEXT)'
      : "(SELECT value ->> 'line' AS line, value ->> 'record' AS record, value ->> 'no' AS no, value ->> 'key' AS key FROM json_each(?)) AS n";
  // SQLite takes the tables of a cross join in the order in which they stand.
  await connection.run(
    `INSERT INTO invoices (tenant_id, id, contract_id, line_id, receipt_id, subject_id, invoice_no, invoice_key, amount_minor, currency_code, invoice_date, status,
       attachment, tax_rate, note, from_line, reverses_id, reversed_by_id, created_at, created_by, updated_at, updated_by, deleted_at)
     SELECT l.tenant_id, n.record, l.contract_id, l.id, NULL, c.subject_id, n.no, n.key, coalesce(l.invoice_minor, 0), l.currency_code, coalesce(l.invoice_date, l.due_date), 'issued',
       CAST(l.invoice_attachment AS TEXT), CAST(c.invoice_points AS TEXT), NULL, 1, NULL, NULL, l.updated_at, NULL, l.updated_at, NULL, l.deleted_at
     FROM ${named} CROSS JOIN payment_lines l CROSS JOIN contracts c WHERE l.tenant_id = ? AND l.id = n.line AND c.tenant_id = l.tenant_id AND c.id = l.contract_id`,
    [sent, tenantId],
  );
  // What is invoiced has a date; without one its amount was counted on the day on which the line is due.
  await connection.run(
    `UPDATE payment_lines SET invoice_records = 1, invoices_standing = 1, invoice_date = coalesce(invoice_date, due_date) WHERE tenant_id = ? AND id IN (SELECT n.line FROM ${named})`,
    [tenantId, sent],
  );
}

/** An id that follows from the line's, with its time: one of its random bits is the other way round. */
const recordId = (lineId: string): string => `${lineId.slice(0, 19)}${'0123456789abcdef'.charAt(parseInt(lineId.charAt(19), 16) ^ 1)}${lineId.slice(20)}`;

/**
 * Numbers of records are unique within a subject company, those that were written on lines were not: who comes later gets `-2`, `-3` and
 * so on behind it. The line keeps what is written on it.
 */
class Numbers {
  private readonly next = new Map<string, number>();

  constructor(
    private readonly connection: Exclusive,
    private readonly tenantId: string,
  ) {}

  async of(lines: readonly Wanting[]): Promise<Named[]> {
    const found: Named[] = [];
    const given = new Set<string>();
    let asking = lines.map((line) => ({ line, named: { ...line, key: fold(line.invoiceNo) } }));
    while (asking.length > 0) {
      const held = await this.held(asking.map(({ named }) => named));
      const again: typeof asking = [];
      for (const { line, named } of asking) {
        const name = nameOf(named.subjectId, named.key);
        if (held.has(name) || given.has(name)) again.push({ line, named: this.another(line) });
        else found.push(named);
        given.add(name);
      }
      asking = again;
    }
    return found;
  }

  private another(line: Wanting): Named {
    const name = nameOf(line.subjectId, fold(line.invoiceNo));
    const n = this.next.get(name) ?? 2;
    this.next.set(name, n + 1);
    const invoiceNo = `${[...line.invoiceNo].slice(0, NUMBER_MAX - `-${n}`.length).join('')}-${n}`;
    return { ...line, invoiceNo, key: fold(invoiceNo) };
  }

  /** Those that a live record has, or one that comes back with the same contract. */
  private async held(lines: readonly Named[]): Promise<ReadonlySet<string>> {
    const sent = JSON.stringify(lines.map(({ subjectId, contractId, deletedAt, key }) => ({ subject: subjectId, contract: contractId, deleted: deletedAt, key })));
    const asked =
      this.connection.dialect === 'postgres'
        ? 'json_to_recordset(?::json) AS n (subject UUID, contract UUID, deleted BIGINT, key TEXT)'
        : "(SELECT value ->> 'subject' AS subject, value ->> 'contract' AS contract, value ->> 'deleted' AS deleted, value ->> 'key' AS key FROM json_each(?)) AS n";
    const rows = await this.connection.all(
      `SELECT n.subject, n.key FROM ${asked}
       WHERE EXISTS (SELECT 1 FROM invoices i WHERE i.tenant_id = ? AND i.subject_id = n.subject AND i.invoice_key = n.key AND i.deleted_at IS NULL AND i.status <> 'void')
         OR (n.deleted IS NOT NULL AND EXISTS (SELECT 1 FROM invoices i WHERE i.tenant_id = ? AND i.contract_id = n.contract AND i.deleted_at = n.deleted AND i.invoice_key = n.key AND i.status <> 'void'))`,
      [sent, this.tenantId, this.tenantId],
    );
    return new Set(rows.map((row) => nameOf(String(row['subject']), String(row['key']))));
  }
}

const NUMBER_MAX = 500;
const nameOf = (subjectId: string, key: string): string => `${subjectId} ${key}`;
/** Numbers are unique whatever their case. */
const fold = (text: string): string => text.normalize('NFC').toLowerCase();
