import type { Running } from '../support/process.js';
import type { LoadCase } from './cases.js';
import { loadRow, type Sides } from './measure.js';
import { table, type Row } from './report.js';
import { signIn, type MemberName } from './service.js';

/** What a part of the benchmark is given: where its rows go, and what is undone at the end, last first. */
export interface Run {
  readonly rows: Row[];
  readonly undo: (() => Promise<unknown>)[];
  /** Measures the cases, and shows each row at once. */
  measured(cases: readonly LoadCase[], sides: Sides): Promise<void>;
}

export function newRun(rows: Row[], undo: (() => Promise<unknown>)[]): Run {
  return {
    rows,
    undo,
    async measured(cases, sides) {
      for (const one of cases) {
        const row = await loadRow(one, sides);
        console.error(table([row]).split('\n')[1]);
        rows.push(row);
      }
    },
  };
}

export async function started(starting: Promise<Running>, undo: (() => Promise<unknown>)[]): Promise<Running> {
  const running = await starting;
  undo.push(running.stop);
  return running;
}

export async function tokensOn(origin: string): Promise<Readonly<Record<MemberName, string>>> {
  const of = async (member: MemberName) => (await signIn(origin, 'bench', member)).token;
  return { owner: await of('owner'), some: await of('some'), own: await of('own'), hidden: await of('hidden') };
}
