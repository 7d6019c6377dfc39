import { addDays } from '../../base/day.js';
import type { Dialect, Row, Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { PaymentTab } from '../contract/vocabulary.js';
import { lines, type PaymentRow } from '../tables/payment-lines.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';
import type { Totals } from './totals.js';

/** Which lines to list. The scope is not a filter: it comes from the call. */
export interface PaymentFilter {
  readonly tab: PaymentTab | CollectedTab;
  readonly contractId: string | null;
  readonly subjectId: string | null;
  readonly includeDeleted: boolean;
}

/** Open lines that are due within the reminder lead days, and these together with those that are overdue. */
export type CollectedTab = 'due_soon' | 'overdue_or_due_soon';

/** A place between two lines in the order of due dates. */
export type LinePlace = Pick<PaymentRow, 'id' | 'dueDate'>;

/** Payment lines across all contracts, by tab. */
export class PaymentList {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly totals: Totals,
  ) {}

  async page(
    filter: PaymentFilter,
    { page, pageSize }: { page: number; pageSize: number },
  ): Promise<{ rows: PaymentRow[]; total: number }> {
    const { tx, call } = this;
    const { source, where } = selected(tx.dialect, call, filter);
    const total = await this.totals.total(
      tx,
      { tenantId: call.tenantId, subject: `payments ${source}`, where },
      async () => {
        const row = await tx.get(`SELECT count(*) AS total FROM ${source} WHERE ${where.sql}`, where.values);
        return Number(row?.['total']);
      },
    );
    const offset = (page - 1) * pageSize;
    if (offset >= total) return { rows: [], total };
    const statement = pageStatement({ dialect: tx.dialect, call, filter, limit: pageSize, offset, total });
    const found = await tx.all(statement.sql, statement.values);
    return { rows: found.map(rowOf), total };
  }

  /** The open lines in scope with an id above the given one, by id. */
  async open({ after, limit }: { after: string | null; limit: number }): Promise<PaymentRow[]> {
    const { tx, call } = this;
    const { source, where } = linesInScope(tx.dialect, call, { joined: true, walk: true });
    const found = await tx.all(
      `SELECT ${lines.columnNames}, ${OF_CONTRACT} FROM ${source}
       WHERE ${where.sql} AND ${LIVE.sql} AND payment_lines.outstanding_minor > 0${after === null ? '' : ' AND payment_lines.id > ?'}
       ORDER BY payment_lines.id LIMIT ?`,
      [...where.values, ...(after === null ? [] : [after]), limit],
    );
    return found.map(rowOf);
  }

  /** The first lines of the tab after a place in the order of due dates. */
  async following(
    filter: PaymentFilter,
    { after, limit }: { readonly after: LinePlace | null; readonly limit: number },
  ): Promise<(LinePlace & Pick<PaymentRow, 'contractId'>)[]> {
    const { tx, call } = this;
    const { source, where } = selected(tx.dialect, call, { ...filter, walk: true });
    const rest = allOf([
      where,
      ...(after === null
        ? []
        : [fragment('(payment_lines.due_date, payment_lines.id) > (?, ?)', after.dueDate, after.id)]),
    ]);
    const found = await tx.all(
      `SELECT payment_lines.id, payment_lines.contract_id, payment_lines.due_date FROM ${source}
       WHERE ${rest.sql} ORDER BY payment_lines.due_date, payment_lines.id LIMIT ?`,
      [...rest.values, limit],
    );
    return found.map((row) => ({
      id: String(row['id']),
      contractId: String(row['contract_id']),
      dueDate: String(row['due_date']),
    }));
  }

  /** Those of the lines that are in scope and not deleted, in no particular order. */
  async live(ids: readonly string[]): Promise<PaymentRow[]> {
    if (ids.length === 0) return [];
    const { tx, call } = this;
    const { source, where } = linesInScope(tx.dialect, call, { joined: true, walk: false });
    const among = isOneOf(tx.dialect, 'payment_lines.id', ids);
    const found = await tx.all(
      `SELECT ${lines.columnNames}, ${OF_CONTRACT} FROM ${source} WHERE ${where.sql} AND ${LIVE.sql} AND ${among.sql}`,
      [...where.values, ...among.values],
    );
    return found.map(rowOf);
  }
}

const OF_CONTRACT =
  'contracts.contract_no, contracts.project_name, contracts.party_a, contracts.party_b, contracts.subject_id, contracts.owner_id, contracts.owner_superior_id';

const rowOf = (row: Row): PaymentRow => ({
  ...lines.decode(row),
  contractNo: String(row['contract_no']),
  projectName: String(row['project_name']),
  partyA: String(row['party_a']),
  partyB: String(row['party_b']),
  subjectId: String(row['subject_id']),
  ownerId: String(row['owner_id']),
  ownerSuperiorId: row['owner_superior_id'] === null ? null : String(row['owner_superior_id']),
});

/**
 * The statement of a page. The inner query walks an index for the ids, so that rows before a deep page are not read.
 */
export function pageStatement({
  dialect,
  call,
  filter,
  limit,
  offset,
  total,
}: {
  dialect: Dialect;
  call: Call;
  filter: PaymentFilter;
  limit: number;
  offset: number;
  total: number;
}): Fragment {
  const { source, where } = selected(dialect, call, { ...filter, walk: (offset + limit) * EARLY < total });
  const order =
    filter.tab === 'reconcile'
      ? 'payment_lines.received_date DESC, payment_lines.id DESC'
      : 'payment_lines.due_date, payment_lines.id';
  return fragment(
    `SELECT ${lines.columnNames}, ${OF_CONTRACT}
     FROM (SELECT payment_lines.tenant_id, payment_lines.id FROM ${source} WHERE ${where.sql} ORDER BY ${order} LIMIT ? OFFSET ?) AS chosen
     JOIN payment_lines ON payment_lines.tenant_id = chosen.tenant_id AND payment_lines.id = chosen.id
     JOIN ${CONTRACTS_OF_LINES}
     ORDER BY ${order}`,
    ...where.values,
    limit,
    offset,
  );
}

/**
 * A page in the first third of the lines in scope is found by walking the tab in its order and checking the contract of
 * each line. For deeper pages or narrower scopes SQLite may start from the contracts and sort their lines.
 */
const EARLY = 3;

const CONTRACTS_OF_LINES =
  'contracts ON contracts.tenant_id = payment_lines.tenant_id AND contracts.id = payment_lines.contract_id';

/** Lines within the caller's scope. The contracts are joined only where their columns are needed. */
function selected(
  dialect: Dialect,
  call: Call,
  { tab, contractId, subjectId, includeDeleted, walk = false }: PaymentFilter & { readonly walk?: boolean },
): { source: string; where: Fragment } {
  const inScope = linesInScope(dialect, call, { joined: subjectId !== null, walk });
  const where = allOf([
    inScope.where,
    ...(includeDeleted ? [] : [LIVE]),
    ...(tab === 'all' ? [] : [onTab(tab, call)]),
    ...(contractId === null ? [] : [fragment('payment_lines.contract_id = ?', contractId)]),
    ...(subjectId === null ? [] : [fragment('contracts.subject_id = ?', subjectId)]),
  ]);
  return { source: inScope.source, where };
}

/** A line is deleted with its contract, so a live line has a live contract. */
const LIVE = fragment('payment_lines.deleted_at IS NULL');

/**
 * The start of every query over lines of many contracts: the tenant and, where the caller has a scope, the contracts in
 * it. `walk` keeps SQLite from starting with the contracts; PostgreSQL decides by its statistics.
 */
export function linesInScope(
  dialect: Dialect,
  call: Call,
  { joined = false, walk = false } = {},
): { source: string; where: Fragment } {
  const own = fragment('payment_lines.tenant_id = ?', call.tenantId);
  if (!joined && call.subjectScope === null && call.ownerScope === null) return { source: 'payment_lines', where: own };
  return {
    source: `payment_lines ${walk && dialect === 'sqlite' ? 'CROSS ' : ''}JOIN ${CONTRACTS_OF_LINES}`,
    where: allOf([own, withinScope(call, dialect, 'contracts')]),
  };
}

/**
 * `due` and `overdue` divide the open lines between them. The texts must equal the conditions of the partial indexes.
 */
export function onTab(
  tab: Exclude<PaymentFilter['tab'], 'all'>,
  { today, reminderLeadDays }: Pick<Call, 'today' | 'reminderLeadDays'>,
): Fragment {
  switch (tab) {
    case 'due':
      return fragment('payment_lines.outstanding_minor > 0 AND payment_lines.due_date >= ?', today);
    case 'overdue':
      return fragment('payment_lines.outstanding_minor > 0 AND payment_lines.due_date < ?', today);
    case 'due_soon':
      return fragment(
        'payment_lines.outstanding_minor > 0 AND payment_lines.due_date >= ? AND payment_lines.due_date <= ?',
        today,
        addDays(today, reminderLeadDays),
      );
    case 'overdue_or_due_soon':
      return fragment(
        'payment_lines.outstanding_minor > 0 AND payment_lines.due_date <= ?',
        addDays(today, reminderLeadDays),
      );
    case 'reconcile':
      return fragment("payment_lines.received_minor > 0 AND payment_lines.reconciliation_status <> 'matched'");
    case 'invoice':
      return fragment('payment_lines.uninvoiced_minor > 0');
  }
}
