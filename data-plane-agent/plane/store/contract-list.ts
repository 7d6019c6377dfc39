import { mapYielding } from '../../base/yielding.js';
import type { RecordOf } from '../../base/database/columns.js';
import type { Dialect, Row, Transaction } from '../../base/database/database.js';
import type { Day } from '../../base/day.js';
import type { JsonText } from '../../base/json-text.js';
import type { Call } from '../contract/call.js';
import type { Receivable } from '../domain/payments/receivable.js';
import type { ContractCore } from '../contract/records/contracts.js';
import { STATE_COLUMNS } from '../domain/contracts/presenter.js';
import { contracts, type ContractRow } from '../tables/contracts.js';
import { contractsAdded, type CountFilter } from '../domain/analytics/contract-counts.js';
import type { ContractCores } from './contract-cores.js';
import type { FigureMemory } from './figure-memory.js';
import {
  counting,
  from,
  orderBy,
  placeOf,
  sortedBy,
  walking,
  type ContractOrder,
  type PagePosition,
  type Route,
} from './contract-order.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { hasState, OPEN } from './line-states.js';
import { withinScope } from './scope.js';
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

/**
 * Whether a line is not deleted, where lines are found by their contract. PostgreSQL, whose statistics may be of a book in
 * which fewer lines were due, or not be there yet, would otherwise look for these contracts among all lines of an index
 * that has only such lines.
 */
const IS_LIVE = { sqlite: 'deleted_at IS NULL', postgres: 'coalesce(deleted_at, 0) = 0' } as const;

/** The columns of a listed contract that are read for each page; the rest is in its core. */
const listed = contracts.only(
  'id',
  'version',
  'subjectId',
  'ownerId',
  'ownerSuperiorId',
  'createdBy',
  'updatedBy',
  'nextDueDate',
  ...STATE_COLUMNS,
);
export type ListedContract = RecordOf<typeof listed>;

/** What a filter selects if writes note all that it compares, so that its total is not counted again. */
function notedOf(filter: ContractFilter): CountFilter | undefined {
  if (isGiven(filter.q) || filter.dueWithin !== undefined) return undefined;
  const { type, typeCode, status, statusCode, ownerId, subjectId, dueBefore } = filter;
  const { payment: paymentStatus, workflow: stageCategory, lifecycleStageCode: stageCode } = filter;
  return { type, typeCode, status, statusCode, paymentStatus, stageCategory, stageCode, ownerId, subjectId, dueBefore };
}

/** A filter as an SQL condition, and the index to use. */
export interface Matching {
  readonly where: Fragment;
  /** The same, if the contracts with lines due on certain days are found by these lines and not one by one. */
  readonly byLines: Fragment;
  readonly route: Route;
}

/** A filter with its total, computed once and then used for counting and paging. */
export interface Selection extends Matching {
  readonly total: number;
}

/**
 * Up to this many matches are all fetched and sorted. With more matches, walking the index of the sort order fills a
 * page sooner.
 */
const RARE = 500;
/**
 * So are more matches, if a page is so far back that a good part of them comes before it: walking the index to there would
 * read most of the book.
 */
const RARE_EACH = 4;
const RARE_AT_MOST = 10_000;
/**
 * Up to this many matches, the open lines that are due on the days of a filter are all read, which takes some
 * milliseconds. Contracts that have such lines may be far apart in the order of the list, and reading the lines of each
 * overdue contract in between can take a second in a book of 100 000. With more matches a page is full sooner, unless it
 * is a distant one.
 */
const DUE_LINES = 5_000;
/** For the first page as for distant ones: how many matches for each that is passed over. */
const DUE_LINES_EACH = 40;
/**
 * Contracts that a walk along the index of an order passes over at most. The matches of some filters are all at one end of
 * an order, as paid contracts are among the oldest: walking there would read most of a large book row by row. All matches
 * are read instead, which takes a look at each entry of one index and sorts them.
 */
const WALKED = 20_000;
/** Or four times as many as are expected if the matches are spread evenly, but at least so many: that takes some milliseconds. */
const WALKED_AT_LEAST = 4_000;
/** From this offset on, the start of a page is cached; below it, skipping rows is cheaper. */
const NEAR = 1_000;

/** Bytes of a kept total, about. */
const TOTAL_BYTES = 100;

export interface ContractListParts {
  readonly totals: Totals;
  readonly cores: ContractCores;
  /** For transactions that only read. */
  readonly memory?: FigureMemory | undefined;
  /** `WALKED`; another one in tests. */
  readonly walked?: number | undefined;
}

/** The list of contracts within the caller's scope. */
export class ContractList {
  private readonly scope: Fragment;
  private readonly totals: Totals;
  private readonly cores: ContractCores;
  private readonly memory: FigureMemory | undefined;
  private readonly walked: number;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { totals, cores, memory, walked = WALKED }: ContractListParts,
  ) {
    this.totals = totals;
    this.cores = cores;
    this.memory = memory;
    this.walked = walked;
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  async select(filter: ContractFilter): Promise<Selection> {
    const { count, ...matching } = await this.matching(filter);
    const { where } = matching;
    const noted = notedOf(filter);
    const total = await (this.memory && noted
      ? this.keptTotal(this.memory, { filter: noted, where, count })
      : this.cachedTotal('contracts', where, () => this.counted(count)));
    this.totals.hasAtLeast(this.call.tenantId, total);
    return { ...matching, total };
  }

  /** A total that writes bring up to date: in a large book it takes tenths of a second to count it. */
  private async keptTotal(
    memory: FigureMemory,
    { filter, where, count }: { readonly filter: CountFilter; readonly where: Fragment; readonly count: Fragment },
  ): Promise<number> {
    const { total } = await memory.figures(this.tx, this.call.tenantId, {
      key: JSON.stringify(['contracts', where.sql, where.values]),
      read: async () => ({ total: await this.counted(count) }),
      add: (kept: { readonly total: number }, increments) => ({
        total: kept.total + contractsAdded(increments, { filter, scope: this.call }),
      }),
      bytes: () => TOTAL_BYTES,
    });
    return total;
  }

  /** A filter without its total; `count` is the statement that computes it. */
  async matching(filter: ContractFilter): Promise<Matching & { readonly count: Fragment }> {
    const own = conditionsOf(filter, dueWithinByRow);
    const isFiltered = own.length > 0 || this.call.subjectScope !== null || this.call.ownerScope !== null;
    const byText = filter.q ? await this.searchCondition(filter.q) : undefined;
    const whole = (conditions: readonly Fragment[]) =>
      allOf([this.scope, fragment('contracts.deleted_at IS NULL'), ...conditions, ...(byText ? [byText.where] : [])]);
    const where = whole(own);
    const byLines = whole(conditionsOf(filter, dueWithinByLines(this.call.tenantId, this.tx.dialect)));
    const route: Route = {
      byId: byText?.byId ?? false,
      ownerId: isGiven(filter.ownerId),
      subjectId: isGiven(filter.subjectId),
      isFiltered: isFiltered || byText !== undefined,
    };
    const count =
      byText && !byText.byId && !isFiltered
        ? byText.total
        : fragment(
            `SELECT count(*) AS total FROM contracts${counting(this.tx.dialect, route)} WHERE ${byLines.sql}`,
            ...byLines.values,
          );
    return { where, byLines, route, count };
  }

  /**
   * A page of a selection. The start and the end of a deep page are cached until the data changes, for readers of the
   * following pages.
   */
  async page(
    { where, byLines, route, total }: Selection,
    order: ContractOrder,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<ListedContract[]> {
    const places =
      offset + limit >= NEAR
        ? await this.totals.places(this.tx, this.call.tenantId, { where, order: orderBy(order) })
        : undefined;
    const place = places?.at(offset);
    const rows = await this.found({
      where: total <= Math.max(DUE_LINES, DUE_LINES_EACH * (offset + limit)) ? byLines : where,
      byLines,
      route,
      total,
      order,
      isRare: total <= RARE || (!place && total <= Math.min(RARE_EACH * (offset + limit), RARE_AT_MOST)),
      limit,
      ...(place ? { place, offset: 0 } : { offset }),
      expected: Math.min(limit, Math.max(0, total - offset)),
    });
    places?.keep(offset, placeOf(order, rows[0], { isIncluded: true }));
    places?.keep(offset + rows.length, placeOf(order, rows.at(-1), { isIncluded: false }));
    return mapYielding(rows, (row) => listed.decode(row)); // the custom values of each may take up to 256 KB
  }

  /** The cores of contracts of a page, by id. */
  coresOf(rows: readonly ListedContract[]): Promise<ReadonlyMap<string, JsonText<ContractCore>>> {
    return this.cores.of(this.tx, this.call.tenantId, rows);
  }

  /** The rows of a page, within the first contracts of its order if they are there. PostgreSQL estimates where they are. */
  private async found(page: PageOf): Promise<Row[]> {
    const { order, route, isRare, expected, total, offset, limit } = page;
    const size = this.totals.size(this.call.tenantId);
    const spread = Math.ceil(((offset + limit) * size) / Math.max(1, total));
    const walked = Math.min(this.walked, Math.max(WALKED_AT_LEAST, 4 * spread));
    const mayBeFar =
      this.tx.dialect === 'sqlite' &&
      !isRare &&
      !route.byId &&
      route.isFiltered &&
      // An index with all values of filters is walked in this order, without a look at the rows.
      order.sort !== 'createdAt' &&
      size > walked;
    if (!mayBeFar) return this.rows(page, this.inOrder(page));
    const near = await this.rows(page, this.amongFirst(page, walked));
    return near.length === expected
      ? near
      : this.rows(page, this.inOrder({ ...page, where: page.byLines, isRare: true }));
  }

  private inOrder({ where, route, order, isRare, place }: PageOf): Fragment {
    const wanted = place ? allOf([where, from(order, place)]) : where;
    return fragment(
      `contracts${walking(this.tx.dialect, { order, route, isRare })} WHERE ${wanted.sql} ORDER BY ${orderBy(order)}`,
      ...wanted.values,
    );
  }

  /** Without an order of its own: SQLite would sort all matches before the first, and takes the rows as they come. */
  private amongFirst({ where, route, order, isRare, place }: PageOf, walked: number): Fragment {
    const all = allOf([
      fragment('contracts.tenant_id = ?', this.call.tenantId),
      fragment('contracts.deleted_at IS NULL'),
      ...(place ? [from(order, place)] : []),
    ]);
    return fragment(
      `(SELECT ${COMPARED} FROM contracts${walking(this.tx.dialect, { order, route, isRare })} WHERE ${all.sql} ORDER BY ${orderBy(order)} LIMIT ?) AS contracts WHERE ${where.sql}`,
      ...all.values,
      walked,
      ...where.values,
    );
  }

  private rows({ order, offset, limit }: PageOf, { sql, values }: Fragment): Promise<Row[]> {
    // Rows before the page are skipped within the index; only rows of the page are fetched.
    return this.tx.all(
      `SELECT ${listed.columnNames}, ${sortedBy(order)} FROM (SELECT contracts.id FROM ${sql} LIMIT ? OFFSET ?) AS page
       JOIN contracts ON contracts.tenant_id = ? AND contracts.id = page.id ORDER BY ${orderBy(order)}`,
      [...values, limit, offset, this.call.tenantId],
    );
  }

  /** The open lines due until `horizon` of the given contracts: those that make a contract overdue or due soon. */
  async dueLines(
    among: readonly Pick<ContractRow, 'id' | 'nextDueDate'>[],
    horizon: Day,
  ): Promise<Map<string, Receivable[]>> {
    const byContract = new Map<string, Receivable[]>();
    const ids = among.filter(({ nextDueDate }) => nextDueDate !== null && nextDueDate <= horizon).map(({ id }) => id);
    if (ids.length === 0) return byContract;
    const ofThese = isOneOf(this.tx.dialect, 'contract_id', ids);
    const rows = await this.tx.all(
      `SELECT contract_id, amount_minor, received_minor, invoiced_minor, currency_code, due_date FROM payment_lines
       WHERE tenant_id = ? AND ${ofThese.sql} AND due_date <= ? AND ${IS_LIVE[this.tx.dialect]} AND outstanding_minor > 0`,
      [this.call.tenantId, ...ofThese.values, horizon],
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

  /** Few matches are fetched through the text index; many are found by walking the list in its order. */
  private async searchCondition(
    q: string,
  ): Promise<{ readonly where: Fragment; readonly byId: boolean; readonly total: Fragment }> {
    const search = await TextSearch.begin(this.tx, this.call.tenantId, q);
    const matches = await this.cachedTotal('matches', fragment(search.needle), () => search.few());
    const byId = matches < TextSearch.FEW;
    return { where: byId ? search.byIndex() : search.inOrder(), byId, total: search.total() };
  }

  private cachedTotal(subject: string, where: Fragment, count: () => Promise<number>): Promise<number> {
    return this.totals.total(this.tx, { tenantId: this.call.tenantId, subject, where }, count);
  }

  private async counted({ sql, values }: Fragment): Promise<number> {
    return Number((await this.tx.get(sql, values))?.['total']);
  }
}

interface PageOf extends Selection {
  readonly order: ContractOrder;
  readonly isRare: boolean;
  readonly place?: PagePosition;
  readonly offset: number;
  readonly limit: number;
  /** How many rows the page has. */
  readonly expected: number;
}

/** The columns that filters and scopes compare. */
const COMPARED = ['tenant_id', 'id', 'deleted_at', 'owner_superior_id', 'next_due_date', ...Object.values(EQUALS)].join(
  ', ',
);

const isGiven = (value: string | null | undefined): value is string => value !== undefined && value !== null;

type DueWithin = (days: readonly [first: Day, last: Day]) => Fragment;

function conditionsOf(filter: ContractFilter, dueWithin: DueWithin): Fragment[] {
  const equal = (Object.keys(EQUALS) as (keyof typeof EQUALS)[]).flatMap((name) => {
    const value = filter[name];
    return isGiven(value) ? [fragment(`contracts.${EQUALS[name]} = ?`, value)] : [];
  });
  return [
    ...equal,
    ...(filter.dueBefore === undefined ? [] : [fragment('contracts.next_due_date < ?', filter.dueBefore)]),
    ...(filter.dueWithin === undefined ? [] : [dueWithin(filter.dueWithin)]),
  ];
}

/**
 * The condition for one contract after the other: its row stores its earliest open due date, so only the lines of overdue
 * contracts, which may be due soon as well, must be read.
 */
const dueWithinByRow: DueWithin = ([first, last]) =>
  fragment(
    `contracts.next_due_date <= ? AND (contracts.next_due_date >= ? OR EXISTS (SELECT 1 FROM payment_lines l
     WHERE l.tenant_id = contracts.tenant_id AND l.contract_id = contracts.id AND l.deleted_at IS NULL AND l.outstanding_minor > 0 AND l.due_date BETWEEN ? AND ?))`,
    last,
    first,
    first,
    last,
  );

/**
 * The condition for counts, and for pages of few matches, where reading the lines of every overdue contract would cost
 * too much: it reads the open lines due on those days in one subquery.
 */
const dueWithinByLines =
  (tenantId: string, dialect: Dialect): DueWithin =>
  ([first, last]) =>
    fragment(
      `contracts.id IN (SELECT l.contract_id FROM payment_lines l${dialect === 'sqlite' ? ' INDEXED BY lines_by_state' : ''} WHERE l.tenant_id = ? AND l.deleted_at IS NULL AND ${hasState(OPEN, 'l').sql} AND l.due_date BETWEEN ? AND ?)`,
      tenantId,
      first,
      last,
    );
