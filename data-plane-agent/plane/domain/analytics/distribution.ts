import { ratio, sumToMajor } from '../../../base/money.js';
import {
  AGING_BUCKETS,
  MAX_SLICES,
  OTHER,
  type AnalyticsDistribution,
  type Facets,
  type Slice,
} from '../../contract/records/analytics.js';
import {
  CONTRACT_STATUSES,
  CONTRACT_TYPES,
  PAYMENT_STATUSES,
  WORKFLOW_STAGES,
  type ContractStatus,
  type ContractType,
  type PaymentStatus,
  type WorkflowStage,
} from '../../contract/vocabulary.js';
import { AGES, frameOf, type Asked } from './analytics.js';
import { labelsIn } from './labels.js';
import { currenciesOf, ofCurrency, total } from './figures.js';

export interface DistributionGroup {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly currencyCode: string;
  readonly type: ContractType;
  readonly status: ContractStatus;
  readonly stage: WorkflowStage;
  readonly paymentStatus: PaymentStatus;
  readonly contracts: number;
  readonly total: bigint;
  readonly outstanding: bigint;
}

/** Lines of one aging bucket in one currency. */
export const AGED_COUNTS = ['lines', 'paid'] as const;
export const AGED_SUMS = ['outstanding'] as const;
export interface AgedSegment {
  readonly currencyCode: string;
  readonly index: number;
  readonly figures: Readonly<Record<(typeof AGED_COUNTS)[number] | (typeof AGED_SUMS)[number], bigint>>;
}

/**
 * Contracts by each dimension, and open lines by age. Counts at the top level cover all currencies, amounts only one.
 * For an aging bucket, the amount equals the outstanding amount.
 */
export function analyticsDistribution({ groups, ages }: Figures, asked: Asked): AnalyticsDistribution {
  const live = groups.filter(({ contracts, outstanding }) => contracts > 0 || outstanding > 0n);
  const currencies = currenciesOf(
    live,
    ages.filter(({ figures }) => figures.lines > 0n),
  );
  return {
    ...frameOf(asked, currencies),
    ...facets({ groups: live, ages }, asked.displayCurrency, asked),
    byCurrency: currencies.map((code) => ({
      currencyCode: code,
      ...facets({ groups: ofCurrency(live, code), ages: ofCurrency(ages, code) }, code, asked),
    })),
  };
}

interface Figures {
  readonly groups: readonly DistributionGroup[];
  readonly ages: readonly AgedSegment[];
}

function facets({ groups, ages }: Figures, code: string, { language }: Asked): Facets {
  const labels = labelsIn(language);
  const closed = <K extends keyof typeof labels>(keys: readonly K[], of: (group: DistributionGroup) => K): Slice[] =>
    shared(
      keys.map((key) =>
        tally(
          key,
          groups.filter((group) => of(group) === key),
          code,
        ),
      ),
      code,
      (key) => labels[key],
    );
  const open = (of: (group: DistributionGroup) => string): Slice[] => {
    const all = [...byKey(groups, of)].map(([key, own]) => tally(key, own, code)).toSorted(byWeight);
    // The control plane replaces these ids by names.
    return shared(withOther(all), code, (key) => (key === OTHER ? labels.other : key));
  };
  return {
    byType: closed(CONTRACT_TYPES, ({ type }) => type),
    byStatus: closed(CONTRACT_STATUSES, ({ status }) => status),
    byStage: closed(WORKFLOW_STAGES, ({ stage }) => stage),
    byOwner: open(({ ownerId }) => ownerId),
    bySubject: open(({ subjectId }) => subjectId),
    byPaymentStatus: closed(PAYMENT_STATUSES, ({ paymentStatus }) => paymentStatus),
    byAging: shared(
      AGING_BUCKETS.map((key) => {
        const own = ages.filter(({ index }) => AGES[index] === key);
        const outstanding = total(ofCurrency(own, code), ({ figures }) => figures.outstanding);
        return {
          key,
          count: Number(total(own, ({ figures }) => figures.lines - figures.paid)),
          amount: outstanding,
          outstanding,
        };
      }),
      code,
      (key) => labels[key],
    ),
  };
}

function byKey(
  groups: readonly DistributionGroup[],
  of: (group: DistributionGroup) => string,
): Map<string, DistributionGroup[]> {
  const found = new Map<string, DistributionGroup[]>();
  for (const group of groups) {
    const own = found.get(of(group));
    if (own) own.push(group);
    else found.set(of(group), [group]);
  }
  return found;
}

interface Tally<K extends string = string> {
  readonly key: K;
  readonly count: number;
  readonly amount: bigint;
  readonly outstanding: bigint;
}

function tally<K extends string>(key: K, groups: readonly DistributionGroup[], code: string): Tally<K> {
  let [count, amount, outstanding] = [0, 0n, 0n];
  for (const group of groups) {
    count += group.contracts;
    if (group.currencyCode !== code) continue;
    amount += group.total;
    outstanding += group.outstanding;
  }
  return { key, count, amount, outstanding };
}

const byWeight = (a: Tally, b: Tally): number =>
  a.amount === b.amount ? b.count - a.count || (a.key < b.key ? -1 : 1) : a.amount < b.amount ? 1 : -1;

function withOther(all: readonly Tally[]): readonly Tally[] {
  const rest = all.slice(MAX_SLICES);
  if (rest.length === 0) return all;
  const other = {
    key: OTHER,
    count: rest.reduce((sum, { count }) => sum + count, 0),
    amount: total(rest, ({ amount }) => amount),
    outstanding: total(rest, ({ outstanding }) => outstanding),
  };
  return [...all.slice(0, MAX_SLICES), other];
}

function shared<K extends string>(tallies: readonly Tally<K>[], code: string, label: (key: K) => string): Slice[] {
  const amount = total(tallies, (one) => one.amount);
  const count = tallies.reduce((sum, one) => sum + one.count, 0);
  return tallies.map((one) => ({
    key: one.key,
    label: label(one.key),
    count: one.count,
    amount: sumToMajor(one.amount, code),
    outstandingAmount: sumToMajor(one.outstanding, code),
    share: amount > 0n ? ratio(one.amount, amount) : ratio(one.count, count),
  }));
}
