import type { Dialect, Value } from '../../base/database/database.js';
import type { ContractSort } from '../contract/records/contracts.js';
import type { ContractRow } from '../tables/contracts.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';

export interface ContractOrder {
  readonly sort: ContractSort;
  readonly order: 'asc' | 'desc';
}

/** The column that each sort key sorts by. Each has an index that ends with the id, which breaks ties. */
const SORTED: Readonly<Record<ContractSort, readonly [column: string, field: keyof ContractRow]>> = {
  createdAt: ['created_at', 'createdAt'],
  updatedAt: ['updated_at', 'updatedAt'],
  contractNo: ['contract_no', 'contractNo'],
  archiveCode: ['archive_code', 'archiveCode'],
  projectName: ['project_name', 'projectName'],
  startDate: ['start_date', 'startDate'],
  endDate: ['end_date', 'endDate'],
  signDate: ['sign_date', 'signDate'],
  totalAmount: ['total_amount', 'totalAmount'],
  outstandingAmount: ['outstanding_amount', 'outstandingAmount'],
  nextDueDate: ['next_due_date', 'nextDueDate'],
};
const NULLABLE: ReadonlySet<ContractSort> = new Set<ContractSort>(['signDate', 'nextDueDate']);

/** A missing date sorts as later than every date, on both databases and in both directions. Ties are broken by id. */
export function orderBy({ sort, order }: ContractOrder): string {
  const missing = NULLABLE.has(sort) ? (order === 'asc' ? ' NULLS LAST' : ' NULLS FIRST') : '';
  return `contracts.${SORTED[sort][0]} ${order}${missing}, contracts.id ${order}`;
}

/** The start of a page in a sort order: at a row, or after one. */
export interface PagePosition {
  readonly value: Value;
  readonly id: string;
  readonly isIncluded: boolean;
}

/** The rows from a position on. Orders by nullable dates have no positions, since `NULL` cannot be compared. */
export function from({ sort, order }: ContractOrder, { value, id, isIncluded }: PagePosition): Fragment {
  const compare = `${order === 'asc' ? '>' : '<'}${isIncluded ? '=' : ''}`;
  return fragment(`(contracts.${SORTED[sort][0]}, contracts.id) ${compare} (?, ?)`, value, id);
}

export function placeOf(
  { sort }: ContractOrder,
  row: ContractRow | undefined,
  { isIncluded }: { readonly isIncluded: boolean },
): PagePosition | undefined {
  if (!row || NULLABLE.has(sort)) return undefined;
  const value = row[SORTED[sort][1]];
  return typeof value === 'string' || typeof value === 'number' ? { value, id: row.id, isIncluded } : undefined;
}

/** Determines which index finds the matching contracts. */
export interface Route {
  /** The matches of `q` are given as ids. */
  readonly byId: boolean;
  /** Filters that have their own index. */
  readonly ownerId: boolean;
  readonly subjectId: boolean;
  /** Whether any filter or scope narrows the list. */
  readonly isFiltered: boolean;
}

/**
 * The index to use on SQLite, whose planner has no statistics here: walking the sort order finds a page soonest, unless
 * there are so few matches that nearly all rows would be read. PostgreSQL chooses by its own statistics.
 */
export function walking(
  dialect: Dialect,
  {
    order: { sort },
    route,
    isRare,
  }: { readonly order: ContractOrder; readonly route: Route; readonly isRare: boolean },
): string {
  if (dialect !== 'sqlite') return '';
  if (route.byId) return ' INDEXED BY sqlite_autoindex_contracts_1';
  return ` INDEXED BY ${isRare || sort === 'createdAt' ? gathering(route) : `contracts_by_${SORTED[sort][0]}`}`;
}

/** The index for reading all matches, to count them or to sort them when they are few. */
export function counting(dialect: Dialect, route: Route): string {
  if (dialect !== 'sqlite') return '';
  return ` INDEXED BY ${route.byId ? 'sqlite_autoindex_contracts_1' : gathering(route)}`;
}

function gathering({ ownerId, subjectId, isFiltered }: Route): string {
  if (ownerId) return 'contracts_by_owner';
  if (subjectId) return 'contracts_by_subject';
  return isFiltered ? 'contracts_filtered' : 'contracts_by_created_at';
}
