import type { Dialect, Row, Value } from '../../base/database/database.js';
import type { ContractSort } from '../contract/records/contracts.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';

export interface ContractOrder {
  readonly sort: ContractSort;
  readonly order: 'asc' | 'desc';
}

/** The column that each sort key sorts by. Each has an index that ends with the id, which breaks ties. */
const SORTED: Readonly<Record<ContractSort, string>> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  contractNo: 'contract_no',
  archiveCode: 'archive_code',
  projectName: 'project_name',
  startDate: 'start_date',
  endDate: 'end_date',
  signDate: 'sign_date',
  totalAmount: 'total_amount',
  outstandingAmount: 'outstanding_amount',
  nextDueDate: 'next_due_date',
};
const NULLABLE: ReadonlySet<ContractSort> = new Set<ContractSort>(['signDate', 'nextDueDate']);

/** A missing date sorts as later than every date, on both databases and in both directions. Ties are broken by id. */
export function orderBy({ sort, order }: ContractOrder): string {
  const missing = NULLABLE.has(sort) ? (order === 'asc' ? ' NULLS LAST' : ' NULLS FIRST') : '';
  return `contracts.${SORTED[sort]} ${order}${missing}, contracts.id ${order}`;
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
  return fragment(`(contracts.${SORTED[sort]}, contracts.id) ${compare} (?, ?)`, value, id);
}

/** The column of an order in a page's rows. */
const SORTED_BY = 'sorted_by';
export const sortedBy = ({ sort }: ContractOrder): string => `contracts.${SORTED[sort]} AS ${SORTED_BY}`;

export function placeOf(
  { sort }: ContractOrder,
  row: Row | undefined,
  { isIncluded }: { readonly isIncluded: boolean },
): PagePosition | undefined {
  if (!row || NULLABLE.has(sort)) return undefined;
  const value = row[SORTED_BY];
  return typeof value === 'string' || typeof value === 'number'
    ? { value, id: String(row['id']), isIncluded }
    : undefined;
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
  return ` INDEXED BY ${isRare || sort === 'createdAt' ? gathering(route) : `contracts_by_${SORTED[sort]}`}`;
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
