import { SORTED, type Dialect } from './tables.js';

/** Whose answers are asked for. The raw program knows its readers by their tokens, and checks nothing. */
export interface Reader {
  readonly name: string;
  /** Subject companies whose contracts the reader sees; `null` for all. */
  readonly subjects: readonly string[] | null;
  /** The member to whose contracts the reader is limited. */
  readonly owner: string | null;
  /** Whether accounts are masked and some custom fields left out. */
  readonly isHidden: boolean;
}

export interface List {
  readonly filters: URLSearchParams;
  readonly reader: Reader;
  /** A constant: the raw program does not count. */
  readonly total: number;
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  readonly offset: number;
}

export const PAGE = 20;

const EQUAL: Readonly<Record<string, string>> = {
  type: 'type',
  typeCode: 'type_code',
  status: 'status',
  statusCode: 'status_code',
  payment: 'payment_status',
  ownerId: 'owner_id',
  subjectId: 'subject_id',
  workflow: 'stage_category',
  lifecycleStageCode: 'stage_code',
};

export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** `byIndex`: whether the matches of `q` are gathered from the text index, or each row is looked at. */
export function condition(
  { filters, reader }: Pick<List, 'filters' | 'reader'>,
  { dialect, byIndex }: { readonly dialect: Dialect; readonly byIndex: boolean },
): Condition {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, ...given: readonly (string | number)[]): void => {
    parts.push(sql);
    values.push(...given);
  };
  if (reader.subjects) add(`subject_id IN (${reader.subjects.map(() => '?').join(', ')})`, ...reader.subjects);
  if (reader.owner !== null) add('(owner_id = ? OR owner_superior_id = ?)', reader.owner, reader.owner);
  for (const [name, value] of filters) {
    const column = EQUAL[name];
    if (column !== undefined) add(`${column} = ?`, value);
    else if (name === 'overdue') add('is_overdue = 1');
    else if (name === 'dueSoon') add('is_due_soon = 1');
    else if (name === 'q' && dialect === 'postgres') add('search LIKE ?', `%${value.toLowerCase()}%`);
    else if (name === 'q' && byIndex)
      add('n IN (SELECT rowid FROM search WHERE search MATCH ?)', `"${value.toLowerCase()}"`);
    else if (name === 'q') add('instr(search, ?) > 0', value.toLowerCase());
  }
  return { sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
}

/** A missing date sorts as later than every date. */
export function orderBy({ sort, order }: Pick<List, 'sort' | 'order'>): string {
  const missing =
    sort === 'signDate' || sort === 'nextDueDate' ? (order === 'asc' ? ' NULLS LAST' : ' NULLS FIRST') : '';
  return `${SORTED[sort] ?? 'created_at'} ${order}${missing}, id ${order}`;
}

/** The part of a query string before `sort`: the filters. The benchmark writes them first. */
export const filtersOf = (query: string): string => query.slice(0, Math.max(0, query.indexOf('sort=')));
