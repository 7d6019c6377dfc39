import type { Row, Transaction, Value } from '../../base/database/database.js';
import { isOneOf } from '../../base/database/fragments.js';
import { fail } from '../../base/failures.js';
import { SealError, type KeyRing } from '../../base/secrets.js';
import { yielding } from '../../base/yielding.js';
import type { Call } from '../contract/call.js';
import { digestAfter, type RowDigest } from '../domain/moving/row-digest.js';
import { contracts } from '../tables/contracts.js';
import type { MovedTable } from '../tables/moved.js';
import { moveDataVersion } from './data-version.js';
import { DueMarks } from './due-work.js';
import { indexTexts, removeTexts, SEARCHED } from './search-index.js';
import { addWaiting } from './waiting-figures.js';

/** Rows of one page, and characters in all of them together. */
const PAGE = { rows: 1_000, characters: 500_000 } as const;
/** Of a row that is larger than a page, each text is cut to so many characters; the rest follows in pieces. */
const CUT = 100_000;
/** Characters of a piece of a long text. */
export const PIECE = 1_000_000;
/** Rows per INSERT statement. */
const INSERT_SIZES = [32, 8, 1] as const;

export type RowValue = Value;
export type Key = readonly RowValue[];
/** The values of a row in the order of the columns. */
export type RowValues = readonly RowValue[];

/** A text of the last row of a page that was cut. */
export interface CutText {
  readonly column: string;
  /** How many characters the page has of it. */
  readonly from: number;
}

export interface RowPage {
  readonly rows: readonly (readonly Value[])[];
  readonly cut: readonly CutText[];
  /** The key of the last row; `null` after the last page. */
  readonly after: Key | null;
}

interface Span {
  readonly last: Key;
  readonly rows: number;
  readonly characters: number;
}

/** The rows of a tenant as they are in their tables, for a move to another data plane. */
export class MovedRowStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly keyRing: KeyRing,
  ) {}

  /** The rows after a key, in the order of the keys, as many as fit into a page; at least one. */
  async page(table: MovedTable, after: Key | null): Promise<RowPage> {
    const span = await this.span(table, after);
    if (!span) return { rows: [], cut: [], after: null };
    if (span.characters > PAGE.characters && span.rows === 1) return this.largeRow(table, span.last);
    const rows = await this.between(table, after, span.last);
    return { rows: rows.map((row) => this.opened(table, row)), cut: [], after: span.last };
  }

  /** A piece of a text of a row, from a character on. Throws NOT_FOUND. */
  async piece(
    table: MovedTable,
    { key, column, from }: { readonly key: Key; readonly column: string; readonly from: number },
  ): Promise<{ readonly text: string; readonly next: number | null }> {
    const where = this.whereKey(table, key);
    if (column === table.sealed) {
      const row = await this.tx.get(
        `SELECT ${column}, ${idsOf(table)} FROM ${table.name} WHERE ${where.sql}`,
        where.values,
      );
      if (!row) throw fail('NOT_FOUND', {});
      const text = this.open(table, row, String(row[column]));
      const end = cutAt(text, from + PIECE);
      return { text: text.slice(from, end), next: end < text.length ? end : null };
    }
    const row = await this.tx.get(
      `SELECT substr(${column}, ?, ?) AS piece, length(${column}) AS characters FROM ${table.name} WHERE ${where.sql}`,
      [from + 1, PIECE, ...where.values],
    );
    if (!row) throw fail('NOT_FOUND', {});
    const next = from + PIECE;
    return { text: String(row['piece']), next: next < Number(row['characters']) ? next : null };
  }

  /** Writes rows as they were read, and indexes contracts; those that are there already are replaced. */
  async put(table: MovedTable, rows: readonly (readonly Value[])[]): Promise<void> {
    const values = rows.map((row) => [this.call.tenantId, ...this.sealed(table, row)]);
    for (let at = 0; at < values.length;) {
      const size = INSERT_SIZES.find((n) => n <= values.length - at) ?? 1;
      await this.tx.run(putSql(table, size), values.slice(at, at + size).flat());
      at += size;
    }
    if (table.name === 'contracts') await this.indexContracts(table, rows);
  }

  /** Appends a piece to a text that was cut at `from`. Throws DATA_MOVE_REFUSED if it has another length. */
  async append(
    table: MovedTable,
    {
      key,
      column,
      from,
      text,
    }: { readonly key: Key; readonly column: string; readonly from: number; readonly text: string },
  ): Promise<void> {
    const where = this.whereKey(table, key);
    if (column === table.sealed) return this.appendSealed(table, { where, column, from, text });
    const changed = await this.tx.run(
      `UPDATE ${table.name} SET ${column} = ${column} || ? WHERE ${where.sql} AND length(${column}) = ?`,
      [text, ...where.values, from],
    );
    if (changed > 0) return;
    // The reply to an earlier attempt may have been lost.
    const now = await this.tx.get(
      `SELECT length(${column}) AS characters FROM ${table.name} WHERE ${where.sql}`,
      where.values,
    );
    if (Number(now?.['characters']) !== from + charactersOf(text)) throw fail('DATA_MOVE_REFUSED', { reason: 'piece' });
  }

  /** Continues a chain of hashes with the rows after a key. `after` is `null` at the end. */
  async digest(
    table: MovedTable,
    { after, ...from }: RowDigest & { readonly after: Key | null },
  ): Promise<RowDigest & { readonly after: Key | null }> {
    const span = await this.span(table, after);
    if (!span) return { ...from, after: null };
    const rows = await this.between(table, after, span.last);
    let digest: RowDigest = from;
    const yieldIfDue = yielding();
    for (const row of rows) {
      await yieldIfDue();
      digest = digestAfter(digest, table, this.opened(table, row));
    }
    return { ...digest, after: span.last };
  }

  async isEmpty({ name }: MovedTable): Promise<boolean> {
    return (
      (await this.tx.get(`SELECT 1 AS found FROM ${name} WHERE tenant_id = ? LIMIT 1`, [this.call.tenantId])) ===
      undefined
    );
  }

  /** Totals that this process or another one has cached are of other rows. */
  async forgetTotals(): Promise<void> {
    await moveDataVersion(this.tx, this.call.tenantId, {
      due: new DueMarks(),
      changes: null,
      leaves: false,
      deletesOld: true,
    });
  }

  /** Deletes up to `limit` rows of a table, with what was built from them. Returns how many. */
  async remove({ name, key }: MovedTable, limit: number): Promise<number> {
    const { tenantId } = this.call;
    if (key.length === 0) return this.tx.run(`DELETE FROM ${name} WHERE tenant_id = ?`, [tenantId]);
    if (name === 'contracts') {
      const rows = await this.tx.all('SELECT id FROM contracts WHERE tenant_id = ? LIMIT ?', [tenantId, limit]);
      const ids = rows.map(({ id }) => String(id));
      await removeTexts(this.tx, tenantId, ids);
      const among = isOneOf(this.tx.dialect, 'id', ids);
      return this.tx.run(`DELETE FROM contracts WHERE tenant_id = ? AND ${among.sql}`, [tenantId, ...among.values]);
    }
    const columns = key.join(', ');
    return this.tx.run(
      `DELETE FROM ${name} WHERE tenant_id = ? AND (${columns}) IN (SELECT ${columns} FROM ${name} WHERE tenant_id = ? LIMIT ?)`,
      [tenantId, tenantId, limit],
    );
  }

  removeFile(id: string): Promise<number> {
    return this.tx.run('DELETE FROM files WHERE tenant_id = ? AND id = ?', [this.call.tenantId, id]);
  }

  /** Adds to the figures what writes have left to be added: figures are moved as they are. */
  async completeFigures(): Promise<void> {
    while ((await addWaiting(this.tx, this.call.tenantId, { waits: true })) > 0);
  }

  /**
   * Nothing is due for data that is not here, no figures change, and no import is finished. Returns how many rows were
   * deleted.
   */
  async removeDerived(): Promise<number> {
    let removed = 0;
    for (const table of ['due_work', 'rollup_changes', 'waiting_figures', 'running_import_parts', 'running_imports'])
      removed += await this.tx.run(`DELETE FROM ${table} WHERE tenant_id = ?`, [this.call.tenantId]);
    return removed;
  }

  /** The rows that fit into a page, found by the lengths of their values: reading them would take the memory. */
  private async span(table: MovedTable, after: Key | null): Promise<Span | undefined> {
    // A table with at most one row for each tenant has no key: its only page follows nothing.
    if (table.key.length === 0 && after !== null) return undefined;
    const where = this.whereAfter(table, after);
    const characters = table.columns.map((column) => `coalesce(length(CAST(${column} AS text)), 0)`).join(' + ');
    const rows = await this.tx.all(
      `SELECT ${[...table.key, `${characters} AS characters`].join(', ')} FROM ${table.name} WHERE ${where.sql}${orderOf(table)} LIMIT ?`,
      [...where.values, PAGE.rows],
    );
    let span: Span | undefined;
    for (const row of rows) {
      const total = (span?.characters ?? 0) + Number(row['characters']);
      if (span && total > PAGE.characters) break;
      span = { last: table.key.map((column) => row[column] ?? null), rows: (span?.rows ?? 0) + 1, characters: total };
    }
    return span;
  }

  private between(table: MovedTable, after: Key | null, last: Key): Promise<Row[]> {
    const from = this.whereAfter(table, after);
    const until = table.key.length === 0 ? '' : ` AND (${table.key.join(', ')}) <= (${marks(table.key)})`;
    return this.tx.all(
      `SELECT tenant_id, ${table.columns.join(', ')} FROM ${table.name} WHERE ${from.sql}${until}${orderOf(table)}`,
      [...from.values, ...last],
    );
  }

  private async largeRow(table: MovedTable, key: Key): Promise<RowPage> {
    const where = this.whereKey(table, key);
    const lengths = await this.tx.get(
      `SELECT ${table.columns.map((column) => `coalesce(length(CAST(${column} AS text)), 0) AS ${column}`).join(', ')} FROM ${table.name} WHERE ${where.sql}`,
      where.values,
    );
    const long = table.columns.filter((column) => column !== table.sealed && Number(lengths?.[column]) > CUT);
    const row = await this.tx.get(
      `SELECT tenant_id, ${table.columns.map((column) => (long.includes(column) ? `substr(${column}, 1, ${CUT}) AS ${column}` : column)).join(', ')} FROM ${table.name} WHERE ${where.sql}`,
      where.values,
    );
    if (!row) throw fail('NOT_FOUND', {});
    const cut: CutText[] = long.map((column) => ({ column, from: CUT }));
    const values = this.opened(table, row).map((value, at) => {
      const column = table.columns[at] ?? '';
      if (column !== table.sealed || typeof value !== 'string' || value.length <= CUT) return value;
      const from = cutAt(value, CUT);
      cut.push({ column, from });
      return value.slice(0, from);
    });
    return { rows: [values], cut, after: key };
  }

  /** Deleted contracts are not found by the search. */
  private async indexContracts({ columns }: MovedTable, rows: readonly RowValues[]): Promise<void> {
    const { tenantId } = this.call;
    const all = rows.map((row): Row => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
    await removeTexts(
      this.tx,
      tenantId,
      all.map(({ id }) => String(id)),
    );
    const live = all.filter((row) => row['deleted_at'] === null).map((row) => searched.decode(row));
    await indexTexts(this.tx, tenantId, { rows: live, yieldIfDue: yielding() });
  }

  private async appendSealed(
    table: MovedTable,
    {
      where,
      column,
      from,
      text,
    }: { where: { sql: string; values: readonly Value[] }; column: string; from: number; text: string },
  ): Promise<void> {
    const row = await this.tx.get(
      `SELECT ${column}, ${idsOf(table)} FROM ${table.name} WHERE ${where.sql}`,
      where.values,
    );
    const before = row && this.open(table, row, String(row[column]));
    if (before?.length === from + text.length && before.endsWith(text)) return; // the reply was lost
    if (!row || before?.length !== from) throw fail('DATA_MOVE_REFUSED', { reason: 'piece' });
    await this.tx.run(`UPDATE ${table.name} SET ${column} = ? WHERE ${where.sql}`, [
      this.keyRing.seal(before + text, this.contextOf(table, row)),
      ...where.values,
    ]);
  }

  private whereAfter(table: MovedTable, after: Key | null): { sql: string; values: readonly Value[] } {
    if (after === null || table.key.length === 0) return { sql: 'tenant_id = ?', values: [this.call.tenantId] };
    return {
      sql: `tenant_id = ? AND (${table.key.join(', ')}) > (${marks(table.key)})`,
      values: [this.call.tenantId, ...after],
    };
  }

  private whereKey(table: MovedTable, key: Key): { sql: string; values: readonly Value[] } {
    return {
      sql: ['tenant_id = ?', ...table.key.map((column) => `${column} = ?`)].join(' AND '),
      values: [this.call.tenantId, ...key],
    };
  }

  private opened(table: MovedTable, row: Row): Value[] {
    return table.columns.map((column) => {
      const value = row[column] ?? null;
      return column === table.sealed && value !== null ? this.open(table, row, String(value)) : value;
    });
  }

  private open(table: MovedTable, row: Row, sealed: string): string {
    try {
      return this.keyRing.openText(sealed, this.contextOf(table, row));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      throw fail('DATA_MOVE_REFUSED', { reason: 'unreadable', table: table.name }, { cause: error });
    }
  }

  private sealed(table: MovedTable, values: readonly Value[]): Value[] {
    return table.columns.map((column, at) => {
      const value = values[at] ?? null;
      if (column !== table.sealed || value === null) return value;
      const row = Object.fromEntries(table.key.map((name) => [name, values[table.columns.indexOf(name)] ?? null]));
      return this.keyRing.seal(String(value), this.contextOf(table, row));
    });
  }

  /** As in `sealed-columns.ts`: table, column and what identifies the row. */
  private contextOf({ name, sealed, key }: MovedTable, row: Row): string {
    return [name, sealed, this.call.tenantId, ...key.map((column) => row[column] ?? '')].join('.');
  }
}

const searched = contracts.only('id', ...SEARCHED);

const marks = (columns: readonly string[]): string => columns.map(() => '?').join(', ');

const orderOf = ({ key }: MovedTable): string => (key.length === 0 ? '' : ` ORDER BY ${key.join(', ')}`);

const idsOf = ({ key }: MovedTable): string => ['tenant_id', ...key].join(', ');

/** As databases count them. */
const charactersOf = (text: string): number => text.length - (text.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0);

/** Not between the two halves of a character outside the basic plane. */
const cutAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at - 1);
  return at < text.length && code >= 0xd8_00 && code <= 0xdb_ff ? at - 1 : at;
};

const statements = new Map<string, string>();

function putSql({ name, key, columns }: MovedTable, rows: number): string {
  const known = statements.get(`${name}/${rows}`);
  if (known !== undefined) return known;
  const changed = columns.filter((column) => !key.includes(column));
  const sql = `INSERT INTO ${name} (${['tenant_id', ...columns].join(', ')}) VALUES ${Array.from({ length: rows }, () => `(?, ${marks(columns)})`).join(', ')} ON CONFLICT (${['tenant_id', ...key].join(', ')}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  statements.set(`${name}/${rows}`, sql);
  return sql;
}
