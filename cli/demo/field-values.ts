import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { SubjectKey } from './cast.js';
import type { Desk } from './desk.js';
import { FIELDS, type DemoFields, type FieldKey } from './fields.js';
import type { Habit } from './lines.js';
import type { Random } from './random.js';
import type { Life } from './shapes.js';
import { SITES } from './sites.js';
import type { Industry } from './wares.js';

/**
 * What a contract holds in the demo's custom fields: a member by their key in the cast, options by their labels. Site
 * plans are files, and come with these.
 */
export type DemoCustom = Readonly<
  Record<Exclude<FieldKey, 'sitePlan'>, string | number | boolean | readonly string[] | null>
> & {
  readonly industry: Industry;
  readonly framework: boolean;
  /** In whole CNY. Not every role may see it, so it is set separately. */
  readonly creditLimit: number | null;
};

/** The values with which a contract is entered, by field. */
export function valuesOf(
  { creditLimit: _later, ...custom }: DemoCustom,
  fields: DemoFields,
  { ids }: Pick<Desk, 'ids'>,
): Record<string, unknown> {
  const kept = (key: Exclude<keyof DemoCustom, 'creditLimit'>) => {
    const value = custom[key];
    const optionId = (label: unknown) => fields[key].options.find((option) => option.label === label)?.id;
    if (FIELDS[key].type === 'user') return ids.member(String(value));
    if (FIELDS[key].type === 'select') return optionId(value);
    return Array.isArray(value) ? value.map(optionId) : value;
  };
  const keys = Object.keys(custom) as Exclude<keyof DemoCustom, 'creditLimit'>[]; // its own keys are those of its type
  return Object.fromEntries(keys.filter((key) => custom[key] !== null).map((key) => [fields[key].id, kept(key)]));
}

interface Surroundings {
  readonly random: Random;
  readonly seller: SubjectKey;
  readonly owner: string;
  readonly industry: Industry;
  readonly isDiscounted: boolean;
  readonly isTurnkey: boolean;
  readonly model: string;
  readonly startDate: Day;
  readonly warrantyUntil: Day;
  readonly habit: Habit;
  /** Makes values unique per contract. */
  readonly number: number;
}

export function customOf(
  { type, stage, endedMonthsAgo }: Life,
  {
    random,
    seller,
    owner,
    industry,
    isDiscounted,
    isTurnkey,
    model,
    startDate,
    warrantyUntil,
    habit,
    number,
  }: Surroundings,
): DemoCustom {
  const deputy = random.pick(DEPUTIES[seller]);
  const isRunning = stage === 'signed' || stage === 'active' || endedMonthsAgo === 0;
  const isDelivered = stage === 'active' || stage === 'completed' || stage === 'archived';
  const site = SITES[seller];
  const some = <T>(chance: number, value: T): T | null => (random.percent(chance) ? value : null);
  return {
    industry,
    deputy: deputy !== owner && random.percent(60) ? deputy : null,
    warrantyUntil: type === 'sale' && isRunning ? warrantyUntil : null,
    framework: isDiscounted || random.percent(10),
    creditLimit: stage === 'active' && random.percent(50) ? random.pick(LIMITS[habit]) : null,
    orderNo: isTurnkey ? `PO-${String(4_100 + number * 7)}` : null,
    siteAccess: some(30, random.pick(site.access)),
    connectedLoad: some(40, random.between(40, 900) / 10),
    retention: isTurnkey ? random.pick([5, 7.5, 10]) : null,
    handoverAt: isTurnkey && isDelivered ? `${addDays(startDate, 66)}T01:30:00.000Z` : null,
    certificates: some(60, random.percent(15) ? [...site.certificates, 'GS'] : site.certificates),
    manual: some(50, `https://docs.huayue.example/manuals/${model.toLowerCase()}`),
    invoiceEmail: some(40, `ap-${number}@customer.example`),
    sitePhone: some(40, `${site.phone} ${String(1_000 + number)}`),
    leadTime: some(35, String(random.between(4, 16))),
    region: endedMonthsAgo > 0 ? site.region : null,
  };
}

const DEPUTIES: Readonly<Record<SubjectKey, readonly [string, ...string[]]>> = {
  china: ['chen', 'zhang', 'zhou'],
  europe: ['devries', 'vermeulen', 'okafor'],
  japan: ['tanaka', 'vermeulen', 'okafor'],
};
const LIMITS: Readonly<Record<Habit, readonly [number, ...number[]]>> = {
  prompt: [2_000_000, 3_000_000, 5_000_000],
  slow: [800_000, 1_200_000],
  bad: [200_000, 300_000],
};
