import {
  CONTRACT_STATUSES,
  CONTRACT_TYPES,
  PAYMENT_STATUSES,
  WORKFLOW_STAGES,
} from '../../data-plane-agent/plane/contract/vocabulary.js';
import { CONTRACT_SORTS } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { contractNo, STATUS_CODES, WORDS } from './contract-input.js';
import type { Tenant } from './dataset.js';
import { drawn, randomFrom } from './random.js';
import { PAGE, type List, type Reader } from './raw/lists.js';

/** A list that was drawn by the seed: it has rows on its page. */
export interface DrawnList {
  readonly path: string;
  readonly reader: Reader;
  readonly total: number;
}

const LISTS = 40;
const MOST_PAGES = 50;
/** How often each number of filters is drawn. */
const FILTERS = [0, 1, 1, 1, 2, 2, 3] as const;

export type Count = (of: Pick<List, 'filters' | 'reader'>) => number | Promise<number>;

/** Every documented filter, with the values that it may be given. */
function valuesOf({ subjects, owners, typeCodes, contracts }: Tenant): Readonly<Record<string, readonly string[]>> {
  const number = (share: number): string => contractNo(Math.floor(contracts * share)).slice(0, -2);
  return {
    q: [...Object.values(WORDS), 'crane', 'meridian', '远东机', 'gate 4', number(0.1), number(0.7)],
    type: CONTRACT_TYPES,
    typeCode: typeCodes,
    status: CONTRACT_STATUSES,
    statusCode: STATUS_CODES,
    payment: PAYMENT_STATUSES,
    ownerId: owners.map(({ id }) => id),
    subjectId: subjects.map(({ id }) => id),
    workflow: WORKFLOW_STAGES,
    lifecycleStageCode: WORKFLOW_STAGES,
    overdue: ['true'],
    dueSoon: ['true'],
  };
}

/**
 * Lists from all filters × all sort keys × pages 1 to 50, the same for the same seed and data. A list without rows is
 * drawn again.
 */
export async function drawLists(
  tenant: Tenant,
  {
    seed,
    reader,
    count,
    lists = LISTS,
  }: { readonly seed: number; readonly reader: Reader; readonly count: Count; readonly lists?: number },
): Promise<readonly DrawnList[]> {
  const random = randomFrom(seed);
  const values = valuesOf(tenant);
  const found: DrawnList[] = [];
  for (let attempt = 0; found.length < lists; attempt++) {
    if (attempt > 50 * lists) throw new Error('the data set has too few contracts to draw lists from');
    const filters = drawnFilters(values, random);
    const [sort, order, luck] = [drawn(CONTRACT_SORTS, random), drawn(['asc', 'desc'], random), random()];
    if (filters.has('subjectId') && reader.subjects && !reader.subjects.includes(filters.get('subjectId') ?? ''))
      continue;
    const total = await count({ filters, reader });
    if (total === 0) continue;
    const page = 1 + Math.floor(luck * Math.min(MOST_PAGES, Math.ceil(total / PAGE)));
    found.push({ path: pathOf(filters, { sort, order, page }), reader, total });
  }
  return found;
}

function drawnFilters(values: Readonly<Record<string, readonly string[]>>, random: () => number): URLSearchParams {
  const names = Object.keys(values);
  const chosen = new Set(Array.from({ length: drawn(FILTERS, random) }, () => drawn(names, random)));
  return new URLSearchParams([...chosen].map((name): [string, string] => [name, drawn(values[name] ?? [], random)]));
}

/** The filters first: the raw program has a total for what comes before `sort`. */
export function pathOf(
  filters: URLSearchParams,
  { sort, order, page }: { readonly sort: string; readonly order: string; readonly page: number },
): string {
  const rest = `sort=${sort}&order=${order}&page=${page}&pageSize=${PAGE}`;
  return `/api/v1/contracts?${filters.size === 0 ? '' : `${filters.toString()}&`}${rest}`;
}
