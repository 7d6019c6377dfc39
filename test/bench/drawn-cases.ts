import type { Subject } from './cases.js';
import { drawLists, type Count, type DrawnList } from './drawn-lists.js';
import { listPath, LIST_FILTER } from './cases.js';
import { drawnRow } from './drawn-rows.js';
import type { Sides } from './measure.js';
import { readersOf } from './raw-program.js';
import { table, type Row } from './report.js';
import { SEED } from './settings.js';

/** Drawn lists of each member, and the one list that has a case of its own. */
export interface Drawn {
  readonly all: readonly DrawnList[];
  readonly owner: readonly DrawnList[];
  /** Of members with a scope, or with hidden fields. */
  readonly members: Readonly<Record<'some' | 'own' | 'hidden', readonly DrawnList[]>>;
}

const OF_A_MEMBER = 10;
const MEMBERS = {
  some: 'of a member with some subject companies',
  own: 'of a member with contracts of their own',
  hidden: 'of a role with hidden fields',
} as const;

export async function drawnOf({ tenant }: Subject, count: Count): Promise<Drawn> {
  const readers = readersOf(tenant);
  const drawn = (name: keyof typeof MEMBERS) =>
    drawLists(tenant, { seed: SEED, reader: readers[name], count, lists: OF_A_MEMBER });
  const owner = await drawLists(tenant, { seed: SEED, reader: readers.owner, count });
  const members = { some: await drawn('some'), own: await drawn('own'), hidden: await drawn('hidden') };
  const fixed: DrawnList = {
    path: listPath(1),
    reader: readers.owner,
    total: await count({ filters: LIST_FILTER, reader: readers.owner }),
  };
  return { all: [fixed, ...owner, ...Object.values(members).flat()], owner, members };
}

/** `isBusy`: only the lists while receipts come in, which change the data of both sides. */
export async function drawnCases(
  { owner, members }: Drawn,
  sides: Sides,
  {
    rows,
    isWanted,
    subject,
    isBusy = false,
    prefix = '',
    atLeast = 0.7,
  }: {
    readonly rows: Row[];
    isWanted(key: string): boolean;
    readonly subject: Subject;
    readonly isBusy?: boolean;
    readonly prefix?: string;
    readonly atLeast?: number;
  },
): Promise<void> {
  const show = (row: Row): void => {
    console.error(table([row]).split('\n')[1]);
    rows.push(row);
  };
  const name = `${prefix}${owner.length} lists drawn by seed ${SEED}`;
  if (isBusy) {
    const busy = `${name}, with 20 receipts/s`;
    show(await drawnRow({ key: 'lists-busy', name: busy, lists: owner, receipts: subject }, sides, { atLeast }));
    return;
  }
  if (isWanted('lists')) show(await drawnRow({ key: 'lists', name, lists: owner }, sides, { atLeast }));
  if (!isWanted('members')) return;
  for (const [member, what] of Object.entries(MEMBERS)) {
    const lists = members[member as keyof typeof MEMBERS];
    show(await drawnRow({ key: 'members', name: `${prefix}lists ${what}`, lists }, sides, { atLeast }));
  }
}
