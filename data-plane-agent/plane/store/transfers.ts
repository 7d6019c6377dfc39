import type { Row, Transaction } from '../../base/database/database.js';
import { fragment, isOneOf, isOneOfTexts, type Fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import { PART } from '../tables/rollups.js';
import { withinScope } from './scope.js';

/** What lines of one currency have received by a bank transfer, in minor units. */
export interface TransferFigures {
  readonly bankSerialNo: string;
  readonly currencyCode: string;
  readonly lines: number;
  readonly received: bigint;
}

/** The number of a line's last receipt, and the sum of all receipts of the line that have it, in minor units. */
export interface LastTransfer {
  readonly bankSerialNo: string | null;
  readonly received: bigint;
}

/**
 * Bank transfers and the payment lines that they paid. A transfer is a number (`bankSerialNo`); it has no record.
 *
 * A receipt counts for the transfer that it names. One exception: receipts with the same number as the line's last
 * receipt count for the transfer that the line names now, since changing only the number of a line corrects it and adds
 * no receipt. (`receiptHistory` makes such a correction permanent before it adds a later receipt.)
 *
 * The lines of a transfer are the live lines of live contracts in scope that name it now, or that have received an
 * amount other than 0 by it: a line that several transfers paid names only the last of them.
 */
export class TransferStore {
  private readonly scope: Fragment;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /**
   * The lines of these transfers, oldest first; at most `each` per transfer. None if there is a single line in all, which
   * shares no transfer: most receipts end here, after one statement.
   */
  async linesOf(
    serials: readonly string[],
    each: number,
  ): Promise<{ readonly id: string; readonly bankSerialNo: string }[]> {
    if (serials.length === 0) return [];
    const named = await this.linesNaming(serials);
    if (named.length < 2) return [];
    const { sql, values } = this.shares(serials, await this.inScope(named));
    const rows = await this.tx.all(
      `${sql} SELECT id, bank_serial_no FROM (
         SELECT id, bank_serial_no, row_number() OVER (PARTITION BY bank_serial_no ORDER BY id) AS place FROM shares) AS found
       WHERE place <= ? ORDER BY id`,
      [...values, each],
    );
    return rows.map((row) => ({ id: String(row['id']), bankSerialNo: String(row['bank_serial_no']) }));
  }

  /** The number of lines of these transfers and what they have received by them, by transfer and currency. */
  async figuresOf(serials: readonly string[]): Promise<TransferFigures[]> {
    if (serials.length === 0) return [];
    const { sql, values } = this.shares(serials, await this.inScope(await this.linesNaming(serials)));
    const rows = await this.tx.all(
      `${sql} SELECT bank_serial_no, currency_code, count(*) AS line_count, sum(high) AS high, sum(low) AS low
       FROM shares GROUP BY bank_serial_no, currency_code ORDER BY bank_serial_no, currency_code`,
      values,
    );
    return rows.map((row) => ({
      bankSerialNo: String(row['bank_serial_no']),
      currencyCode: String(row['currency_code']),
      lines: Number(row['line_count']),
      received: joined(row),
    }));
  }

  /** Whether a line that the caller has already found has received an amount by this transfer. */
  async hasPaid(lineId: string, bankSerialNo: string): Promise<boolean> {
    const { sql, values } = this.sharesOf(fragment('payment_lines.id = ?', lineId));
    const rows = await this.tx.all(
      `${sql} SELECT id FROM line_shares WHERE bank_serial_no = ? AND (high <> 0 OR low <> 0)`,
      [...values, bankSerialNo],
    );
    return rows.length > 0;
  }

  /** The last transfers of those of these lines that have receipts, by line; the caller has already found the lines. */
  async lastOf(lineIds: readonly string[]): Promise<Map<string, LastTransfer>> {
    if (lineIds.length === 0) return new Map();
    const among = isOneOf(this.tx.dialect, 'receipts.line_id', lineIds);
    const rows = await this.tx.all(
      `SELECT line_id, bank_serial_no, ${sumInParts('delta_minor')} FROM receipts
       WHERE tenant_id = ? AND ${among.sql} AND bank_serial_no IS NOT DISTINCT FROM (
         SELECT last.bank_serial_no FROM receipts AS last
         WHERE last.tenant_id = receipts.tenant_id AND last.line_id = receipts.line_id ORDER BY last.id DESC LIMIT 1)
       GROUP BY line_id, bank_serial_no`,
      [this.call.tenantId, ...among.values],
    );
    return new Map(
      rows.map((row) => [
        String(row['line_id']),
        { bankSerialNo: row['bank_serial_no'] === null ? null : String(row['bank_serial_no']), received: joined(row) },
      ]),
    );
  }

  /** `shares`: one row for each of these transfers and each of these lines, with the sum received in two parts. */
  private shares(serials: readonly string[], lineIds: readonly string[]): Fragment {
    const { dialect } = this.tx;
    const lines = this.sharesOf(isOneOf(dialect, 'payment_lines.id', lineIds));
    const asked = isOneOfTexts(dialect, 'bank_serial_no', serials);
    return {
      sql: `${lines.sql}, shares AS (
         SELECT id, currency_code, bank_serial_no, coalesce(high, 0) AS high, coalesce(low, 0) AS low FROM line_shares
         WHERE ${asked.sql} AND (bank_serial_no = named OR high <> 0 OR low <> 0))`,
      values: [...lines.values, ...asked.values],
    };
  }

  /**
   * The lines that name these transfers or have receipts of them. They and their contracts are found in statements of
   * their own: within a long transaction PostgreSQL has no statistics of the rows that it wrote, and would compare each
   * line with all lines and all contracts.
   */
  private async linesNaming(serials: readonly string[]): Promise<Row[]> {
    const { tx, call } = this;
    const named = isOneOfTexts(tx.dialect, 'payment_lines.bank_serial_no', serials);
    const noted = isOneOfTexts(tx.dialect, 'receipts.bank_serial_no', serials);
    // Not `UNION`: to merge the two sides in the order of their ids, SQLite without statistics would read all lines by
    // primary key.
    const rows = await tx.all(
      `SELECT payment_lines.id, payment_lines.contract_id FROM payment_lines WHERE payment_lines.tenant_id = ? AND ${named.sql}
       UNION ALL SELECT receipts.line_id AS id, receipts.contract_id FROM receipts WHERE receipts.tenant_id = ? AND ${noted.sql}`,
      [call.tenantId, ...named.values, call.tenantId, ...noted.values],
    );
    return [...new Map(rows.map((row) => [row['id'], row])).values()];
  }

  /** The ids of those of these lines whose contracts are live and in scope. */
  private async inScope(lines: readonly Row[]): Promise<string[]> {
    const { tx, scope } = this;
    const among = isOneOf(tx.dialect, 'contracts.id', [...new Set(lines.map((row) => String(row['contract_id'])))]);
    const contracts = await tx.all(
      `SELECT contracts.id FROM contracts WHERE ${scope.sql} AND ${among.sql} AND contracts.deleted_at IS NULL`,
      [...scope.values, ...among.values],
    );
    const inScope = new Set(contracts.map((row) => String(row['id'])));
    return lines.filter((row) => inScope.has(String(row['contract_id']))).map((row) => String(row['id']));
  }

  /** `line_shares`: what each of these lines has received, if it is live, by transfer. A line has at least one row. */
  private sharesOf(among: Fragment): Fragment {
    return {
      sql: `WITH paid AS (
         SELECT payment_lines.id, payment_lines.currency_code, payment_lines.bank_serial_no AS named, receipts.delta_minor,
           receipts.bank_serial_no AS noted,
           first_value(receipts.bank_serial_no) OVER (PARTITION BY payment_lines.id ORDER BY receipts.id DESC) AS last_noted
         FROM payment_lines LEFT JOIN receipts ON receipts.tenant_id = payment_lines.tenant_id AND receipts.line_id = payment_lines.id
         WHERE payment_lines.tenant_id = ? AND payment_lines.deleted_at IS NULL AND ${among.sql}),
       counted AS (
         SELECT id, currency_code, named, delta_minor, CASE WHEN noted IS NOT DISTINCT FROM last_noted THEN named ELSE noted END AS bank_serial_no FROM paid),
       line_parts AS (
         SELECT id, currency_code, named, bank_serial_no, ${sumInParts('delta_minor')} FROM counted GROUP BY id, currency_code, named, bank_serial_no),
       line_shares AS (
         SELECT id, currency_code, named, bank_serial_no, high + low / ${PART} AS high, low % ${PART} AS low FROM line_parts)`,
      values: [this.call.tenantId, ...among.values],
    };
  }
}

/** A sum of minor units may exceed 64 bits: whole `PART`s and the rest are added separately. */
const sumInParts = (column: string): string =>
  `CAST(sum(${column} / ${PART}) AS BIGINT) AS high, CAST(sum(${column} % ${PART}) AS BIGINT) AS low`;

const joined = (row: Row): bigint => BigInt(row['high'] ?? 0) * BigInt(PART) + BigInt(row['low'] ?? 0);
