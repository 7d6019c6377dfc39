import { mapYielding } from '../../base/yielding.js';
import type { Row, Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { MAX_EXPORT_IDS } from '../contract/records/export.js';
import { SHEET_LINE_FIELDS, type SheetLine } from '../domain/sheet/columns.js';
import { lines } from '../tables/payment-lines.js';
import { terms, type TermRow } from '../tables/terms.js';
import { notes, type NoteRow } from '../tables/notes.js';
import { contracts, type ContractRow } from '../tables/contracts.js';
import type { ContractCores } from './contract-cores.js';
import { ContractList, type ContractFilter } from './contract-list.js';
import { from, orderBy, walking, type ContractOrder } from './contract-order.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';
import type { Totals } from './totals.js';

const sheetLines = lines.only('contractId', ...SHEET_LINE_FIELDS);

/** Reads many contracts in chunks, with their lines, terms and notes. */
export class ContractExport {
  private readonly list: ContractList;
  private readonly scope: Fragment;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    kept: { readonly totals: Totals; readonly cores: ContractCores },
  ) {
    this.list = new ContractList(tx, call, kept);
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /**
   * The ids of all matching contracts, in order, limited to those in `among` when it is given. `undefined` when there
   * are more than `MAX_EXPORT_IDS`.
   */
  async ids(
    filter: ContractFilter,
    order: ContractOrder,
    among: readonly string[] | undefined,
  ): Promise<string[] | undefined> {
    const { where, route, total } = await this.list.select(filter);
    if (!among && total > MAX_EXPORT_IDS) return undefined;
    const wanted = among ? allOf([where, isOneOf(this.tx.dialect, 'contracts.id', among)]) : where;
    const rows = await this.tx.all(
      `SELECT contracts.id FROM contracts${walking(this.tx.dialect, { order, route: among ? { ...route, byId: true } : route, isRare: true })} WHERE ${wanted.sql} ORDER BY ${orderBy(order)} LIMIT ?`,
      [...wanted.values, MAX_EXPORT_IDS],
    );
    return rows.map((row) => String(row['id']));
  }

  /** The contracts with these ids that still exist, in the order of the ids. */
  async byIds(ids: readonly string[]): Promise<ContractRow[]> {
    const among = isOneOf(this.tx.dialect, 'contracts.id', ids);
    const index = this.tx.dialect === 'sqlite' ? ' INDEXED BY sqlite_autoindex_contracts_1' : '';
    const rows = await this.tx.all(
      `SELECT ${contracts.columnNames} FROM contracts${index} WHERE ${this.scope.sql} AND ${among.sql} AND contracts.deleted_at IS NULL`,
      [...this.scope.values, ...among.values],
    );
    const byId = new Map(rows.map((row) => [String(row['id']), contracts.decode(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /**
   * The next matching contracts in the order of their creation. This order does not change while contracts are edited,
   * so none is returned twice.
   */
  async following(
    filter: ContractFilter,
    {
      direction,
      after,
      limit,
    }: {
      readonly direction: 'asc' | 'desc';
      readonly after: { readonly createdAt: number; readonly id: string } | null;
      readonly limit: number;
    },
  ): Promise<ContractRow[]> {
    const { where, route } = await this.list.matching(filter);
    const order: ContractOrder = { sort: 'createdAt', order: direction };
    const wanted = after
      ? allOf([where, from(order, { value: after.createdAt, id: after.id, isIncluded: false })])
      : where;
    const rows = await this.tx.all(
      `SELECT ${contracts.columnNames} FROM (SELECT contracts.id FROM contracts${walking(this.tx.dialect, { order, route, isRare: false })} WHERE ${wanted.sql} ORDER BY ${orderBy(order)} LIMIT ?) AS chunk
       JOIN contracts ON contracts.tenant_id = ? AND contracts.id = chunk.id ORDER BY ${orderBy(order)}`,
      [...wanted.values, limit, this.call.tenantId],
    );
    return mapYielding(rows, (row) => contracts.decode(row)); // the custom values of each may take up to 256 KB
  }

  /** How many lines, terms and notes each contract has, including deleted lines. Reads only indexes. */
  async sizes(ids: readonly string[]): Promise<Map<string, number>> {
    const among = isOneOf(this.tx.dialect, 'contract_id', ids);
    const of = (table: string) =>
      fragment(
        `SELECT contract_id FROM ${table} WHERE tenant_id = ? AND ${among.sql}`,
        this.call.tenantId,
        ...among.values,
      );
    const parts = [of('payment_lines'), of('contract_terms'), of('contract_notes')];
    const rows = await this.tx.all(
      `SELECT contract_id, count(*) AS size FROM (${parts.map(({ sql }) => sql).join(' UNION ALL ')}) AS parts GROUP BY contract_id`,
      parts.flatMap(({ values }) => values),
    );
    return new Map(rows.map((row) => [String(row['contract_id']), Number(row['size'])]));
  }

  /** The live lines of contracts, by due date. */
  lines(ids: readonly string[]): Promise<Map<string, SheetLine[]>> {
    return this.parts(
      ids,
      {
        table: 'payment_lines',
        columns: sheetLines.columnNames,
        where: ' AND deleted_at IS NULL',
        order: 'due_date, position, id',
      },
      (row) => sheetLines.decode(row),
    );
  }

  terms(ids: readonly string[]): Promise<Map<string, TermRow[]>> {
    return this.parts(
      ids,
      { table: 'contract_terms', columns: terms.columnNames, where: '', order: 'position, id' },
      (row) => terms.decode(row),
    );
  }

  notes(ids: readonly string[]): Promise<Map<string, NoteRow[]>> {
    return this.parts(
      ids,
      { table: 'contract_notes', columns: notes.columnNames, where: '', order: 'position, id' },
      (row) => notes.decode(row),
    );
  }

  /** The codes of lifecycle templates. */
  async templateCodes(ids: readonly string[]): Promise<Map<string, string>> {
    const among = isOneOf(this.tx.dialect, 'id', ids);
    const rows = await this.tx.all(`SELECT id, code FROM lifecycle_templates WHERE tenant_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      ...among.values,
    ]);
    return new Map(rows.map((row) => [String(row['id']), String(row['code'])]));
  }

  private async parts<T extends { contractId: string }>(
    ids: readonly string[],
    { table, columns, where, order }: Parts,
    decode: (row: Row) => T,
  ): Promise<Map<string, T[]>> {
    const among = isOneOf(this.tx.dialect, 'contract_id', ids);
    const rows = await this.tx.all(
      `SELECT ${columns} FROM ${table} WHERE tenant_id = ? AND ${among.sql}${where} ORDER BY contract_id, ${order}`,
      [this.call.tenantId, ...among.values],
    );
    const byContract = new Map<string, T[]>();
    for (const row of rows) {
      const part = decode(row);
      const known = byContract.get(part.contractId);
      if (known) known.push(part);
      else byContract.set(part.contractId, [part]);
    }
    return byContract;
  }
}

interface Parts {
  readonly table: 'payment_lines' | 'contract_terms' | 'contract_notes';
  readonly columns: string;
  readonly where: string;
  readonly order: string;
}
