import type { DayColumn, Entry, Figures, GroupColumn } from '../../tables/rollups.js';
import type { Compared, Counted } from './contract-counts.js';

/**
 * What a write adds to the figures of contracts with the same subject company, owner and superior. The keys of `days` are
 * currency and day; those of `groups` are currency, type, status, stage and payment status. `contracts` is not in the
 * rollups: by it the totals of lists are brought up to date.
 */
export interface Increments {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly superiorId: string | null;
  readonly days: readonly Entry<DayColumn>[];
  readonly groups: readonly Entry<GroupColumn>[];
  readonly contracts: readonly Counted[];
}

/** Whose figures are asked for. Subject companies outside `subjectScope` must not be asked for. */
export interface FigureScope {
  readonly subjectScope: readonly string[] | null;
  readonly ownerScope: string | null;
  /** The only subject company, if one was asked for. */
  readonly subjectId: string | null;
}

/** Whether a scope includes the contracts of some increments. */
export const includes = (
  { subjectScope, ownerScope, subjectId }: FigureScope,
  of: Pick<Increments, 'subjectId' | 'ownerId' | 'superiorId'>,
): boolean =>
  (subjectId === null ? (subjectScope?.includes(of.subjectId) ?? true) : of.subjectId === subjectId) &&
  (ownerScope === null || of.ownerId === ownerScope || of.superiorId === ownerScope);

/** A write with more entries is not worth adding: reading all figures anew takes about as long. */
const MOST_ENTRIES = 300;
/**
 * Of the text: what another release writes in another form is not added to kept figures, which are read anew. But what
 * waits to be added to the rollups must be understood, so a release with another form reads this one as well, and the
 * one before it already reads both.
 */
const FORM = 1;

/** What some writes add, as text, or `null` if it is too much. */
export function textOf(writes: readonly (readonly Increments[])[]): string | null {
  const increments = writes.flat();
  let entries = 0;
  for (const { days, groups, contracts } of increments) entries += days.length + groups.length + contracts.length;
  if (entries > writes.length * MOST_ENTRIES) return null;
  return JSON.stringify([
    FORM,
    ...increments.map(({ subjectId, ownerId, superiorId, days, groups, contracts }) => [
      subjectId,
      ownerId,
      superiorId,
      days.map(brief),
      groups.map(brief),
      contracts.map(briefCounted),
    ]),
  ]);
}

/** The increments of such a text; `undefined` if it has another form, or is of an earlier release, which noted no contracts. */
export function incrementsIn(text: string): Increments[] | undefined {
  const holders = holdersIn(text);
  return holders?.every(([, , , , , contracts]) => contracts !== undefined) ? holders.map(whole) : undefined;
}

/** What such a text adds to the rollups, also if it is of an earlier release. */
export const rollupsIn = (text: string): Increments[] | undefined => holdersIn(text)?.map(whole);

function holdersIn(text: string): readonly Brief[] | undefined {
  const [form, ...holders] = JSON.parse(text) as readonly [number, ...Brief[]]; // written by `textOf` of some release
  return form === FORM ? holders : undefined;
}

const whole = ([subjectId, ownerId, superiorId, days, groups, contracts = []]: Brief): Increments => ({
  subjectId,
  ownerId,
  superiorId,
  days: days.map(complete),
  groups: groups.map(complete),
  contracts: contracts.map(counted),
});

type BriefCounted = readonly [
  type: Compared['type'],
  typeCode: Compared['typeCode'],
  status: Compared['status'],
  statusCode: Compared['statusCode'],
  paymentStatus: Compared['paymentStatus'],
  stageCategory: Compared['stageCategory'],
  stageCode: Compared['stageCode'],
  nextDueDate: Compared['nextDueDate'],
  contracts: number,
];

const briefCounted = ({ of, contracts }: Counted): BriefCounted => [
  of.type,
  of.typeCode,
  of.status,
  of.statusCode,
  of.paymentStatus,
  of.stageCategory,
  of.stageCode,
  of.nextDueDate,
  contracts,
];

function counted(brief: BriefCounted): Counted {
  const [type, typeCode, status, statusCode, paymentStatus, stageCategory, stageCode, nextDueDate, contracts] = brief;
  return {
    of: { type, typeCode, status, statusCode, paymentStatus, stageCategory, stageCode, nextDueDate },
    contracts,
  };
}

type Brief = readonly [
  subjectId: string,
  ownerId: string,
  superiorId: string | null,
  days: readonly BriefEntry<DayColumn>[],
  groups: readonly BriefEntry<GroupColumn>[],
  contracts?: readonly BriefCounted[],
];
type BriefEntry<C extends string> = readonly [...key: string[], figures: Figures<C>];

/** Figures that do not change are left out. */
function brief<C extends string>({ key, figures }: Entry<C>): BriefEntry<C> {
  const moving: Partial<Record<C, number>> = {};
  for (const column in figures) if (figures[column] !== 0) moving[column] = figures[column] ?? 0;
  return [...key, moving];
}

const complete = <C extends string>(entry: BriefEntry<C>): Entry<C> => ({
  key: entry.slice(0, -1) as string[],
  figures: entry.at(-1) as Figures<C>,
});
