import { addDays, daysBetween, type Day } from '../../data-plane-agent/base/day.js';
import { decimalsOf, toMinor } from '../../data-plane-agent/base/money.js';
import type {
  AnalyticsCashflow,
  AnalyticsDistribution,
  AnalyticsSummary,
} from '../../data-plane-agent/plane/contract/records/analytics.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentStats, Receipt } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { TestPlane } from './plane.js';

type Plane = TestPlane['plane'];
type Line = ContractDetail['payments'][number];

/** The conditions of a query for figures. */
export interface Question {
  readonly today: Day;
  readonly lead: number;
  readonly timeZone: string;
  readonly subjectId: string | null;
  readonly displayCurrency: string;
}

/** All contract data that the API shows to a caller, line by line. */
export interface Shown {
  readonly contracts: readonly ContractDetail[];
  readonly receipts: readonly Receipt[];
}

export async function shownTo(plane: Plane, subjectId: string | null = null): Promise<Shown> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { items, pageCount } = await plane.listContracts({
      page,
      pageSize: 200,
      ...(subjectId === null ? {} : { subjectId }),
    });
    ids.push(...items.map(({ id }) => id));
    if (page >= pageCount) break;
  }
  const contracts: ContractDetail[] = [];
  for (const contractId of ids) contracts.push(await plane.getContract({ contractId }));
  const receipts: Receipt[] = [];
  for (const { id } of contracts.flatMap(({ payments }) => payments))
    receipts.push(...(await plane.listReceipts({ paymentId: id, pageSize: 200 })).items);
  return { contracts, receipts };
}

const minor = (amount: number, code: string): bigint => {
  const found = toMinor(Math.abs(amount), code);
  if (typeof found !== 'number') throw new Error(found.message);
  return amount < 0 ? -BigInt(found) : BigInt(found);
};
const major = (amount: bigint, code: string): number => Number(`${amount}e-${decimalsOf(code)}`);
const added = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, one) => sum + one, 0n);
const left = (line: Line): bigint => {
  const open = minor(line.amount, line.currencyCode) - minor(line.receivedAmount, line.currencyCode);
  return open > 0n ? open : 0n;
};

/** Four decimals, half away from zero. */
function rounded(a: bigint, b: bigint): number | null {
  if (b <= 0n) return null;
  const size = ((a < 0n ? -a : a) * 20_000n + b) / (2n * b);
  return Number(a < 0n ? -size : size) / 10_000;
}

const linesOf = ({ contracts }: Shown): Line[] => contracts.flatMap(({ payments }) => payments);
const currenciesIn = (shown: Shown): string[] =>
  [
    ...new Set([
      ...shown.contracts.map(({ currencyCode }) => currencyCode),
      ...linesOf(shown).map(({ currencyCode }) => currencyCode),
    ]),
  ].toSorted();

export function naiveStats(
  shown: Shown,
  { today, lead, currency }: { today: Day; lead: number; currency: string },
): PaymentStats {
  const lines = linesOf(shown);
  const soon = addDays(today, lead);
  const count = (which: (line: Line) => boolean) => lines.filter(which).length;
  const sums = (code: string) => {
    const own = lines.filter(({ currencyCode }) => currencyCode === code);
    const sum = (of: (line: Line) => bigint) => major(added(own.map(of)), code);
    const amount = (line: Line) => minor(line.amount, code);
    return {
      amount: sum(amount),
      received: sum((line) => minor(line.receivedAmount, code)),
      outstanding: sum(left),
      overdue: sum((line) => (line.dueDate < today ? left(line) : 0n)),
      dueSoon: sum((line) => (line.dueDate >= today && line.dueDate <= soon ? left(line) : 0n)),
      uninvoiced: sum((line) =>
        line.invoicedAmount < line.amount ? amount(line) - minor(line.invoicedAmount, code) : 0n,
      ),
    };
  };
  return {
    asOf: today,
    counts: {
      due: count((line) => left(line) > 0n && line.dueDate >= today),
      overdue: count((line) => left(line) > 0n && line.dueDate < today),
      dueSoon: count((line) => left(line) > 0n && line.dueDate >= today && line.dueDate <= soon),
      reconcile: count((line) => line.receivedAmount > 0 && line.reconciliationStatus !== 'matched'),
      invoice: count((line) => line.invoicedAmount < line.amount),
      paid: count((line) => line.receivedAmount >= line.amount),
      partial: count((line) => line.receivedAmount > 0 && line.receivedAmount < line.amount),
      unpaid: count((line) => line.receivedAmount === 0 && line.amount > 0),
      all: lines.length,
    },
    byCurrency: [...new Set(lines.map(({ currencyCode }) => currencyCode))]
      .toSorted()
      .map((currencyCode) => ({ currencyCode, ...sums(currencyCode) })),
    ...sums(currency),
  };
}

const AGES: readonly (readonly [bucket: AnalyticsSummary['aging'][number]['bucket'], from: number, to: number])[] = [
  ['not_due', -Infinity, 0],
  ['d1_30', 1, 30],
  ['d31_60', 31, 60],
  ['d61_90', 61, 90],
  ['d90_plus', 91, Infinity],
];

/** The invoices that count, by date: records, and invoice numbers on lines without a record. */
function invoicedIn({ contracts }: Shown, code: string): { date: Day; amount: bigint }[] {
  return contracts.flatMap(({ payments, invoices }) => {
    const named = new Set(invoices.map(({ receivablePlanId }) => receivablePlanId));
    return [
      ...invoices
        .filter(({ currencyCode }) => currencyCode === code)
        .flatMap(({ status, invoiceDate, invoiceAmount }) => {
          const sign = status === 'issued' ? 1n : status === 'red_letter' ? -1n : 0n;
          return sign === 0n ? [] : [{ date: invoiceDate ?? '', amount: sign * minor(invoiceAmount, code) }];
        }),
      ...payments
        .filter((line) => line.currencyCode === code && !named.has(line.id) && (line.invoiceAmount ?? 0) !== 0)
        .map((line) => ({ date: line.invoiceDate ?? line.dueDate, amount: minor(line.invoiceAmount ?? 0, code) })),
    ];
  });
}

/** `code` is the currency of the amounts, `counted` are the currencies whose records are counted. */
function headline(shown: Shown, { today, lead }: Question, code: string, counted: readonly string[]) {
  const contracts = shown.contracts.filter(({ currencyCode }) => counted.includes(currencyCode));
  const tallied = linesOf(shown).filter(({ currencyCode }) => counted.includes(currencyCode));
  const own = linesOf(shown).filter(({ currencyCode }) => currencyCode === code);
  const amount = (line: Line) => minor(line.amount, code);
  const sum = (lines: readonly Line[], of: (line: Line) => bigint) => added(lines.map(of));
  const isSoon = ({ dueDate }: Line) => dueDate >= today && dueDate <= addDays(today, lead);
  const isOverdue = ({ dueDate }: Line) => dueDate < today;
  const open = (line: Line) => left(line) > 0n;
  const from = addDays(today, -89);
  const inPeriod = (day: Day | null) => day !== null && day >= from && day <= today;
  const invoices = invoicedIn(shown, code);
  const invoicedLately = added(invoices.filter(({ date }) => inPeriod(date)).map((one) => one.amount));
  const billed =
    invoicedLately > 0n
      ? invoicedLately
      : sum(
          own.filter(({ dueDate }) => inPeriod(dueDate)),
          amount,
        );
  const came = added(
    shown.receipts
      .filter((receipt) => receipt.currencyCode === code && inPeriod(receipt.receivedDate))
      .map(({ delta }) => minor(delta, code)),
  );
  const outstanding = sum(own, left);
  const overdue = sum(own.filter(isOverdue), left);
  const opening = outstanding + came - billed;
  const due = own.filter(({ dueDate }) => dueDate <= today);
  const settled = own.filter((line) => line.receivedAmount >= line.amount);
  const late = sum(settled, (line) =>
    line.receivedDate === null ? 0n : BigInt(Math.max(0, daysBetween(line.dueDate, line.receivedDate))) * amount(line),
  );
  const aged = (lines: readonly Line[], [, least, most]: (typeof AGES)[number]) =>
    lines.filter(
      (line) => open(line) && daysBetween(line.dueDate, today) >= least && daysBetween(line.dueDate, today) <= most,
    );
  const aging = AGES.map((age) => ({
    bucket: age[0],
    count: aged(tallied, age).length,
    amount: major(sum(aged(own, age), left), code),
  }));
  return {
    contractCount: contracts.length,
    activeContractCount: contracts.filter(({ status }) => status === 'in_progress').length,
    completedContractCount: contracts.filter(({ status }) => status === 'completed').length,
    contractAmount: major(
      added(
        shown.contracts
          .filter(({ currencyCode }) => currencyCode === code)
          .map(({ totalAmount }) => minor(totalAmount, code)),
      ),
      code,
    ),
    receivableAmount: major(sum(own, amount), code),
    receivedAmount: major(
      sum(own, (line) => minor(line.receivedAmount, code)),
      code,
    ),
    outstandingAmount: major(outstanding, code),
    overdueAmount: major(overdue, code),
    overdueCount: tallied.filter((line) => open(line) && isOverdue(line)).length,
    dueSoonAmount: major(sum(own.filter(isSoon), left), code),
    dueSoonCount: tallied.filter((line) => open(line) && isSoon(line)).length,
    invoicedAmount: major(added(invoices.map((one) => one.amount)), code),
    uninvoicedAmount: major(
      sum(own, (line) => (line.invoicedAmount < line.amount ? amount(line) - minor(line.invoicedAmount, code) : 0n)),
      code,
    ),
    collectionRate: rounded(
      sum(due, (line) => (line.receivedAmount < line.amount ? minor(line.receivedAmount, code) : amount(line))),
      sum(due, amount),
    ),
    dso: outstanding * 90n > billed * 999n ? null : rounded(outstanding * 90n, billed),
    cei: rounded((opening + billed - outstanding) * 100n, opening + billed - (outstanding - overdue)),
    avgDaysLate: rounded(late, sum(settled, amount)),
    atRiskAmount: aging[4]?.amount ?? 0,
    aging,
  };
}

const frame = (currencies: readonly string[], { today, timeZone, subjectId, displayCurrency }: Question) => ({
  asOf: today,
  timezone: timeZone,
  subjectId,
  currencyCode: displayCurrency,
  excludedCurrencies: currencies.filter((code) => code !== displayCurrency),
});

export function naiveSummary(shown: Shown, question: Question): AnalyticsSummary {
  const currencies = currenciesIn(shown);
  return {
    ...frame(currencies, question),
    ...headline(shown, question, question.displayCurrency, currencies),
    byCurrency: currencies.map((currencyCode) => ({
      currencyCode,
      ...headline(shown, question, currencyCode, [currencyCode]),
    })),
  };
}

export function naiveCashflow(shown: Shown, question: Question): AnalyticsCashflow {
  const { today } = question;
  const [year, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))];
  const periods = Array.from({ length: 12 }, (_, n) => {
    const months = year * 12 + (month - 1) + n - 5;
    return `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}`;
  });
  const series = (code: string) => {
    const own = linesOf(shown).filter(({ currencyCode }) => currencyCode === code);
    const invoices = invoicedIn(shown, code);
    return periods.map((period) => {
      const within = (day: Day | null) => day?.startsWith(period) ?? false;
      const due = own.filter(({ dueDate }) => within(dueDate));
      return {
        period,
        expectedAmount: major(added(due.map((line) => minor(line.amount, code))), code),
        receivedAmount: major(
          added(
            shown.receipts
              .filter((receipt) => receipt.currencyCode === code && within(receipt.receivedDate))
              .map(({ delta }) => minor(delta, code)),
          ),
          code,
        ),
        invoicedAmount: major(added(invoices.filter(({ date }) => within(date)).map(({ amount }) => amount)), code),
        outstandingAmount: major(added(due.map(left)), code),
        overdueAmount: major(added(due.filter(({ dueDate }) => dueDate < today).map(left)), code),
      };
    });
  };
  const lastDay = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const last = periods[11] ?? '';
  const [lastYear, lastMonth] = [Number(last.slice(0, 4)), Number(last.slice(5, 7))];
  const isLeap = lastYear % 4 === 0 && (lastYear % 100 !== 0 || lastYear % 400 === 0);
  const to = `${last}-${lastMonth === 2 && isLeap ? 29 : lastDay[lastMonth - 1]}`;
  const currencies = [...new Set(linesOf(shown).map(({ currencyCode }) => currencyCode))].toSorted();
  return {
    ...frame(currencies, question),
    granularity: 'month',
    from: `${periods[0]}-01`,
    to,
    series: series(question.displayCurrency),
    byCurrency: currencies.map((currencyCode) => ({ currencyCode, series: series(currencyCode) })),
  };
}

/** Labels are omitted. */
export function naiveDistribution(shown: Shown, question: Question) {
  const currencies = currenciesIn(shown);
  const { today } = question;
  const facets = (code: string, counted: readonly string[]) => {
    const slice = (key: string, contracts: readonly ContractDetail[]) => {
      const outstanding = added(
        contracts
          .flatMap(({ payments }) => payments)
          .filter(({ currencyCode }) => currencyCode === code)
          .map(left),
      );
      return {
        key,
        count: contracts.filter(({ currencyCode }) => counted.includes(currencyCode)).length,
        amount: added(
          contracts
            .filter(({ currencyCode }) => currencyCode === code)
            .map(({ totalAmount }) => minor(totalAmount, code)),
        ),
        outstanding,
      };
    };
    const shared = (slices: readonly ReturnType<typeof slice>[]) => {
      const [amount, count] = [added(slices.map((one) => one.amount)), slices.reduce((sum, one) => sum + one.count, 0)];
      return slices.map((one) => ({
        key: one.key,
        count: one.count,
        amount: major(one.amount, code),
        outstandingAmount: major(one.outstanding, code),
        share: amount > 0n ? rounded(one.amount, amount) : rounded(BigInt(one.count), BigInt(count)),
      }));
    };
    const by = (keys: readonly string[], of: (contract: ContractDetail) => string) =>
      shared(
        keys.map((key) =>
          slice(
            key,
            shown.contracts.filter((contract) => of(contract) === key),
          ),
        ),
      );
    const found = (of: (contract: ContractDetail) => string) => {
      const involved = shown.contracts.filter(
        ({ currencyCode, payments }) =>
          counted.includes(currencyCode) ||
          payments.some((line) => counted.includes(line.currencyCode) && left(line) > 0n),
      );
      const slices = [...new Set(involved.map(of))].map((key) =>
        slice(
          key,
          shown.contracts.filter((contract) => of(contract) === key),
        ),
      );
      return shared(
        slices.toSorted((a, b) =>
          a.amount === b.amount ? b.count - a.count || (a.key < b.key ? -1 : 1) : a.amount < b.amount ? 1 : -1,
        ),
      );
    };
    const lines = linesOf(shown);
    const ages = AGES.map(([key, least, most]) => {
      const aged = lines.filter(
        (line) =>
          left(line) > 0n && daysBetween(line.dueDate, today) >= least && daysBetween(line.dueDate, today) <= most,
      );
      const outstanding = added(aged.filter(({ currencyCode }) => currencyCode === code).map(left));
      return {
        key,
        count: aged.filter(({ currencyCode }) => counted.includes(currencyCode)).length,
        amount: outstanding,
        outstanding,
      };
    });
    return {
      byType: by(['sale', 'lease'], ({ type }) => type),
      byStatus: by(['in_progress', 'completed'], ({ status }) => status),
      byStage: by(
        ['draft', 'extracted', 'review', 'approved', 'signed', 'active', 'completed', 'archived'],
        ({ workflowStage }) => workflowStage,
      ),
      byOwner: found(({ ownerId }) => ownerId),
      bySubject: found(({ subjectId }) => subjectId),
      byPaymentStatus: by(['unpaid', 'partial', 'paid'], ({ paymentStatus }) => paymentStatus),
      byAging: shared(ages),
    };
  };
  return {
    ...frame(currencies, question),
    ...facets(question.displayCurrency, currencies),
    byCurrency: currencies.map((currencyCode) => ({ currencyCode, ...facets(currencyCode, [currencyCode]) })),
  };
}

export const withoutLabels = ({ byCurrency, ...found }: AnalyticsDistribution) => ({
  ...bare(found),
  byCurrency: byCurrency.map(bare),
});

const FACETS = ['byType', 'byStatus', 'byStage', 'byOwner', 'bySubject', 'byPaymentStatus', 'byAging'] as const;

function bare<T extends Omit<AnalyticsDistribution['byCurrency'][number], 'currencyCode'>>(found: T) {
  return {
    ...found,
    ...Object.fromEntries(FACETS.map((facet) => [facet, found[facet].map(({ label: _label, ...slice }) => slice)])),
  };
}
