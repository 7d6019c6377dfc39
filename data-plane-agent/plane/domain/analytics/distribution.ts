import { ratio, sumToMajor } from '../../../base/money.js';
import {
  AGING_BUCKETS,
  MAX_SLICES,
  OTHER,
  type AnalyticsDistribution,
  type Facets,
  type Slice,
} from '../../contract/records/analytics.js';
import { CONTRACT_STATUSES, CONTRACT_TYPES, PAYMENT_STATUSES, WORKFLOW_STAGES } from '../../contract/vocabulary.js';
import { AGES, frameOf, type Asked } from './analytics.js';
import { labelsIn } from './labels.js';
import { currenciesOf, ofCurrency, total } from './figures.js';
import { isLeft, type Dimension, type Tallies, type Tally } from './tallies.js';

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
export function analyticsDistribution({ tallies, ages }: Figures, asked: Asked): AnalyticsDistribution {
  // Each contract is in one tally of each dimension, so those of any of them have all currencies.
  const currencies = currenciesOf(
    tallies.status.filter(isLeft),
    ages.filter(({ figures }) => figures.lines > 0n),
  );
  return {
    ...frameOf(asked, currencies),
    ...facets((dimension) => tallies[dimension].filter(isLeft), { ages, code: asked.displayCurrency, ...asked }),
    byCurrency: currencies.map((code) => ({
      currencyCode: code,
      ...facets((dimension) => ofCurrency(tallies[dimension], code).filter(isLeft), {
        ...asked,
        ages: ofCurrency(ages, code),
        code,
      }),
    })),
  };
}

interface Figures {
  readonly tallies: Tallies;
  readonly ages: readonly AgedSegment[];
}

function facets(
  talliesOf: (dimension: Dimension) => readonly Tally[],
  { ages, code, language }: { readonly ages: readonly AgedSegment[]; readonly code: string; readonly language: string },
): Facets {
  const labels = labelsIn(language);
  const closed = <K extends keyof typeof labels>(keys: readonly K[], dimension: Dimension): Slice[] => {
    const found = partsOf(talliesOf(dimension), code);
    return shared(
      keys.map((key): Part<K> => ({ ...(found.get(key) ?? NONE), key })),
      code,
      (key) => labels[key],
    );
  };
  const open = (dimension: Dimension): Slice[] => {
    const all = [...partsOf(talliesOf(dimension), code).values()].toSorted(byWeight);
    // The control plane replaces these ids by names.
    return shared(withOther(all), code, (key) => (key === OTHER ? labels.other : key));
  };
  return {
    byType: closed(CONTRACT_TYPES, 'type'),
    byStatus: closed(CONTRACT_STATUSES, 'status'),
    byStage: closed(WORKFLOW_STAGES, 'stage'),
    byOwner: open('owner'),
    bySubject: open('subject'),
    byPaymentStatus: closed(PAYMENT_STATUSES, 'paymentStatus'),
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

/** A value of a dimension: contracts of the given tallies, and amounts of one currency. */
interface Part<K extends string = string> {
  readonly key: K;
  readonly count: number;
  readonly amount: bigint;
  readonly outstanding: bigint;
}

const NONE = { count: 0, amount: 0n, outstanding: 0n } as const;

function partsOf(tallies: readonly Tally[], code: string): Map<string, Part> {
  const found = new Map<string, Part>();
  for (const { key, currencyCode, contracts, total: sum, outstanding } of tallies) {
    const { count, ...amounts } = found.get(key) ?? NONE;
    found.set(key, {
      key,
      count: count + contracts,
      ...(currencyCode === code ? { amount: sum, outstanding } : amounts), // there is one tally of each currency
    });
  }
  return found;
}

const byWeight = (a: Part, b: Part): number =>
  a.amount === b.amount ? b.count - a.count || (a.key < b.key ? -1 : 1) : a.amount < b.amount ? 1 : -1;

function withOther(all: readonly Part[]): readonly Part[] {
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

function shared<K extends string>(parts: readonly Part<K>[], code: string, label: (key: K) => string): Slice[] {
  const amount = total(parts, (one) => one.amount);
  const count = parts.reduce((sum, one) => sum + one.count, 0);
  return parts.map((one) => ({
    key: one.key,
    label: label(one.key),
    count: one.count,
    amount: sumToMajor(one.amount, code),
    outstandingAmount: sumToMajor(one.outstanding, code),
    share: amount > 0n ? ratio(one.amount, amount) : ratio(one.count, count),
  }));
}
