import type { Transaction, Value } from '../../base/database/database.js';
import type { Day } from '../../base/day.js';
import type { Call } from '../contract/call.js';
import type { ContractSort } from '../contract/records/contracts.js';
import type { Receivable } from '../domain/receivable.js';
import { contracts, type ContractRow } from '../domain/rows.js';
import { allOf, fragment, isOneOf, withinScope, type Fragment } from './scope.js';
import { TextSearch } from './search-index.js';
import type { Totals } from './totals.js';

/** Columns that a filter compares with one value. */
const EQUALS = {
  type: 'type',
  typeCode: 'type_code',
  status: 'status',
  statusCode: 'status_code',
  payment: 'payment_status',
  ownerId: 'owner_id',
  subjectId: 'subject_id',
  workflow: 'stage_category',
  lifecycleStageCode: 'stage_code',
} as const;
export type ContractFilter = { readonly [K in keyof typeof EQUALS]?: string | null | undefined } & {
  readonly q?: string | null | undefined;
  /** With an open line that was due before this day. */
  readonly dueBefore?: Day;
  /** With an open line due from the first to the last of these days, both included. */
  readonly dueWithin?: readonly [first: Day, last: Day];
};

export interface ContractOrder {
  readonly sort: ContractSort;
  readonly order: 'asc' | 'desc';
}

const SORT_COLUMNS: Readonly<Record<ContractSort, string>> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  contractNo: 'contract_no',
  archiveCode: 'archive_code',
  projectName: 'project_name',
  startDate: 'start_date',
  endDate: 'end_date',
  signDate: 'sign_date',
  totalAmount: 'total_minor',
  outstandingAmount: 'outstanding_minor',
  nextDueDate: 'next_due_date',
};
const NULLABLE: ReadonlySet<ContractSort> = new Set<ContractSort>(['signDate', 'nextDueDate']);

/** Which contracts are listed: decided once, and then counted and paged. */
export interface Selection {
  readonly where: Fragment;
  readonly total: number;
}

/** The list of contracts within the caller's scope. */
export class ContractList {
  private readonly scope: Fragment;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly totals: Totals,
  ) {
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  async select(filter: ContractFilter): Promise<Selection> {
    const conditions = [this.scope, fragment('contracts.deleted_at IS NULL'), ...this.conditions(filter)];
    const known = allOf(conditions);
    if (!filter.q) return { where: known, total: await this.count(known) };
    const search = new TextSearch(this.tx, this.call.tenantId, filter.q);
    const total = (where: Fragment, count: () => Promise<number>) => this.totals.total(this.tx, this.call.tenantId, { subject: 'contracts', where }, count);
    const matches = (await total(fragment('few', search.needle), () => search.few())) < TextSearch.FEW ? search.byIndex() : search.inOrder();
    const where = allOf([...conditions, matches]);
    return { where, total: await this.count(where) };
  }

  /** A page of a selection. A missing date counts as later than every date; ties break on the id, in the same direction. */
  async page({ where }: Selection, { sort, order }: ContractOrder, { offset, limit }: { readonly offset: number; readonly limit: number }): Promise<ContractRow[]> {
    const column = SORT_COLUMNS[sort];
    const missing = NULLABLE.has(sort) ? (order === 'asc' ? ' NULLS LAST' : ' NULLS FIRST') : '';
    const inOrder = `contracts.${column} ${order}${missing}, contracts.id ${order}`;
    // What lies before the page is skipped within the index alone; only the page's own rows are fetched.
    const rows = await this.tx.all(
      `SELECT ${contracts.columnNames} FROM (SELECT contracts.id FROM contracts WHERE ${where.sql} ORDER BY ${inOrder} LIMIT ? OFFSET ?) AS page
       JOIN contracts ON contracts.tenant_id = ? AND contracts.id = page.id ORDER BY ${inOrder}`,
      [...where.values, limit, offset, this.call.tenantId],
    );
    return rows.map((row) => contracts.decode(row));
  }

  /** The open lines, due until `horizon`, of contracts that were just listed: those that make one overdue or due soon. */
  async dueLines(listed: readonly ContractRow[], horizon: Day): Promise<Map<string, Receivable[]>> {
    const byContract = new Map<string, Receivable[]>();
    const ids = listed.filter(({ nextDueDate }) => nextDueDate !== null && nextDueDate <= horizon).map(({ id }) => id);
    if (ids.length === 0) return byContract;
    const among = isOneOf(this.tx.dialect, 'contract_id', ids);
    const rows = await this.tx.all(
      `SELECT contract_id, amount_minor, received_minor, invoiced_minor, currency_code, due_date FROM payment_lines
       WHERE tenant_id = ? AND ${among.sql} AND due_date <= ? AND deleted_at IS NULL AND outstanding_minor > 0`,
      [this.call.tenantId, ...among.values, horizon],
    );
    for (const row of rows) {
      const id = String(row['contract_id']);
      const lines = byContract.get(id) ?? [];
      if (lines.length === 0) byContract.set(id, lines);
      lines.push({
        amountMinor: Number(row['amount_minor']),
        receivedMinor: Number(row['received_minor']),
        invoicedMinor: Number(row['invoiced_minor']),
        currencyCode: String(row['currency_code']),
        dueDate: String(row['due_date']),
      });
    }
    return byContract;
  }

  private count(where: Fragment): Promise<number> {
    return this.totals.total(this.tx, this.call.tenantId, { subject: 'contracts', where }, async () => {
      const row = await this.tx.get(`SELECT count(*) AS total FROM contracts WHERE ${where.sql}`, where.values);
      return Number(row?.['total']);
    });
  }

  private conditions(filter: ContractFilter): Fragment[] {
    const conditions: Fragment[] = [];
    for (const [name, column] of Object.entries(EQUALS) as [keyof typeof EQUALS, string][]) {
      const value: Value | undefined = filter[name];
      if (value !== undefined && value !== null) conditions.push(fragment(`contracts.${column} = ?`, value));
    }
    // The row keeps its earliest open due date, which answers both questions but for a contract that is overdue and may be due soon as well.
    if (filter.dueBefore !== undefined) conditions.push(fragment('contracts.next_due_date < ?', filter.dueBefore));
    if (filter.dueWithin !== undefined) conditions.push(dueWithin(filter.dueWithin));
    return conditions;
  }
}

const dueWithin = ([first, last]: readonly [Day, Day]): Fragment =>
  fragment(
    `contracts.next_due_date <= ? AND (contracts.next_due_date >= ? OR EXISTS (SELECT 1 FROM payment_lines l
     WHERE l.tenant_id = contracts.tenant_id AND l.contract_id = contracts.id AND l.deleted_at IS NULL AND l.outstanding_minor > 0 AND l.due_date BETWEEN ? AND ?))`,
    last, first, first, last,
  );
