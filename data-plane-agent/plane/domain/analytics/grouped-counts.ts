import { includes, type FigureScope, type Increments } from './increments.js';

/** What contracts are counted: those with all given values, by which the rollups group them. */
export interface Grouped {
  readonly type?: string | null | undefined;
  readonly status?: string | null | undefined;
  /** The category of the stage. */
  readonly stage?: string | null | undefined;
  readonly paymentStatus?: string | null | undefined;
  readonly ownerId?: string | null | undefined;
  readonly subjectId?: string | null | undefined;
}

/** How many more of these contracts there are after some increments, within the scope of a caller. */
export function contractsAdded(
  increments: readonly Increments[],
  { grouped, scope }: { readonly grouped: Grouped; readonly scope: Omit<FigureScope, 'subjectId'> },
): number {
  const { type, status, stage, paymentStatus, ownerId, subjectId } = grouped;
  let added = 0;
  for (const of of increments) {
    if (!includes({ ...scope, subjectId: null }, of) || !isAs(ownerId, of.ownerId) || !isAs(subjectId, of.subjectId))
      continue;
    for (const { key, figures } of of.groups) {
      const [, itsType, itsStatus, itsStage, itsPayment] = key;
      if (isAs(type, itsType) && isAs(status, itsStatus) && isAs(stage, itsStage) && isAs(paymentStatus, itsPayment))
        added += figures.contracts ?? 0;
    }
  }
  return added;
}

const isAs = (given: string | null | undefined, value: string | undefined): boolean =>
  given === undefined || given === null || given === value;
