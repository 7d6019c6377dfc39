import { addDays } from '../../base/day.js';
import type { Dialect, Row, Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { PaymentTab } from '../contract/vocabulary.js';
import { lines, type PaymentRow } from '../tables/payment-lines.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { ANY, byDueDate, hasState, isAfter, OPEN, TO_INVOICE, type LinePlace, type LineState } from './line-states.js';
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
    const { source, where } = counted(tx.dialect, call, filter);
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
    filter: PaymentFilter & { readonly tab: Exclude<PaymentFilter['tab'], 'reconcile'> },
    { after, limit }: { readonly after: LinePlace | null; readonly limit: number },
  ): Promise<(LinePlace & Pick<PaymentRow, 'contractId'>)[]> {
    const { tx, call } = this;
    const { sql, values } = ordered(tx.dialect, call, {
      filter: { ...filter, walk: true },
      columns: 'payment_lines.contract_id',
      after,
      limit,
    });
    const found = await tx.all(sql, values);
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
  const chosen = ordered(dialect, call, {
    filter: { ...filter, walk: (offset + limit) * EARLY < total },
    columns: 'payment_lines.tenant_id',
    limit,
    offset,
  });
  return fragment(
    `SELECT ${lines.columnNames}, ${OF_CONTRACT}
     FROM (${chosen.sql}) AS chosen
     JOIN payment_lines ON payment_lines.tenant_id = chosen.tenant_id AND payment_lines.id = chosen.id
     JOIN ${CONTRACTS_OF_LINES}
     ORDER BY ${orderOf(filter.tab)}`,
    ...chosen.values,
  );
}

/**
 * A page in the first third of the lines in scope is found by walking the tab in its order and checking the contract of
 * each line. For deeper pages or narrower scopes SQLite may start from the contracts and sort their lines.
 */
const EARLY = 3;

const CONTRACTS_OF_LINES =
  'contracts ON contracts.tenant_id = payment_lines.tenant_id AND contracts.id = payment_lines.contract_id';

type Walked = PaymentFilter & { readonly walk?: boolean };

/** Lines within the caller's scope. The contracts are joined only where their columns are needed. */
function selected(
  dialect: Dialect,
  call: Call,
  { tab, contractId, subjectId, includeDeleted, walk = false }: Walked,
): Selected {
  const { states, days } = onTab(tab, call);
  const isJoined = subjectId !== null || call.subjectScope !== null || call.ownerScope !== null;
  const inScope = linesInScope(dialect, call, { joined: isJoined, walk });
  const where = allOf([
    inScope.where,
    ...(includeDeleted ? [] : [LIVE]),
    ...days,
    ...(contractId === null ? [] : [fragment('payment_lines.contract_id = ?', contractId)]),
    ...(subjectId === null ? [] : [fragment('contracts.subject_id = ?', subjectId)]),
  ]);
  // The lines of a contract have an index of their own, and deleted ones are in none by date.
  const isByDate = contractId === null && !includeDeleted;
  return { source: inScope.source, where, states, isByDate };
}

interface Selected {
  readonly source: string;
  /** Without the states. */
  readonly where: Fragment;
  /** The states that the lines may have; `null` where the tab is not one of states. */
  readonly states: readonly LineState[] | null;
  /** Whether the lines are read by walking along their due dates. */
  readonly isByDate: boolean;
}

function counted(dialect: Dialect, call: Call, filter: PaymentFilter): Pick<Selected, 'source' | 'where'> {
  const { source, where, states } = selected(dialect, call, filter);
  return { source, where: withStates(where, states) };
}

const withStates = (where: Fragment, states: Selected['states']): Fragment =>
  states === null || states === ANY ? where : allOf([where, hasState(states)]);

interface Ordered {
  readonly filter: Walked;
  readonly columns: string;
  readonly after?: LinePlace | null;
  readonly limit: number;
  readonly offset?: number;
}

/** The ids and some more columns of lines in the order of their tab, and the due dates if that is the order. */
function ordered(
  dialect: Dialect,
  call: Call,
  { filter, columns, after = null, limit, offset = 0 }: Ordered,
): Fragment {
  const { source, where, states, isByDate } = selected(dialect, call, filter);
  const rest = after === null ? where : allOf([where, isAfter(after)]);
  if (isByDate && states !== null) return byDueDate({ dialect, states, columns, source, where: rest, limit, offset });
  const all = withStates(rest, states);
  return fragment(
    `SELECT payment_lines.id, ${filter.tab === 'reconcile' ? '' : 'payment_lines.due_date, '}${columns} FROM ${source} WHERE ${all.sql} ORDER BY ${orderOf(filter.tab)} LIMIT ? OFFSET ?`,
    ...all.values,
    limit,
    offset,
  );
}

const orderOf = (tab: PaymentFilter['tab']): string =>
  tab === 'reconcile'
    ? 'payment_lines.received_date DESC, payment_lines.id DESC'
    : 'payment_lines.due_date, payment_lines.id';

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

/** What makes a line one of the tab. `due` and `overdue` divide the open lines between them. */
function onTab(
  tab: PaymentFilter['tab'],
  { today, reminderLeadDays }: Pick<Call, 'today' | 'reminderLeadDays'>,
): { readonly states: readonly LineState[] | null; readonly days: readonly Fragment[] } {
  const from = fragment('payment_lines.due_date >= ?', today);
  const until = fragment('payment_lines.due_date <= ?', addDays(today, reminderLeadDays));
  switch (tab) {
    case 'due':
      return { states: OPEN, days: [from] };
    case 'overdue':
      return { states: OPEN, days: [fragment('payment_lines.due_date < ?', today)] };
    case 'due_soon':
      return { states: OPEN, days: [from, until] };
    case 'overdue_or_due_soon':
      return { states: OPEN, days: [until] };
    case 'reconcile':
      return { states: null, days: [RECONCILABLE] };
    case 'invoice':
      return { states: TO_INVOICE, days: [] };
    case 'all':
      return { states: ANY, days: [] };
  }
}

/** Must equal the condition of the index `lines_to_reconcile`. */
const RECONCILABLE = fragment("payment_lines.received_minor > 0 AND payment_lines.reconciliation_status <> 'matched'");
