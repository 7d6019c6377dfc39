import {
  AnalyticsCashflow,
  AnalyticsDistribution,
  AnalyticsQuery,
  AnalyticsSummary,
  OTHER,
  type AnalyticsInput,
  type Slice,
} from '../../data-plane-agent/plane/contract/records/analytics.js';
import type { Principal } from '../access/principal.js';
import { view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { checkFilter } from './named.js';
import type { TenantDirectory } from '../tenants/directory.js';

const MONEY =
  "Amounts at the top level are those in the tenant's `displayCurrency`: amounts in different currencies are never added. `excludedCurrencies` lists the other currencies, whose figures are in `byCurrency` under the same keys. Counts at the top level cover all currencies. " +
  "Whether a line is overdue depends on today's date in the tenant's time zone. Deleted contracts and removed lines are not counted. A `subjectId` outside the caller's scope returns 404, like one that does not exist; without `subjectId`, all subject companies in the caller's scope are included.";

const getAnalyticsSummary = endpoint('GET /analytics/summary', {
  summary: 'Read headline totals',
  description:
    `${MONEY} ` +
    'Each line is counted in one age of `aging` by its outstanding amount, so the ages add up to `outstandingAmount`; a line due today is `not_due`, and `d90_plus` (`atRiskAmount`) begins on the ninety-first day. ' +
    '`dueSoon` counts lines due from today to the end of the reminder lead days. The period of `dso` and `cei` is the 90 days that end today. *Billed* is the amount invoiced in the period less red letters or, if that is zero, the amounts of the lines due in it. ' +
    '`dso` = outstanding ÷ billed × 90. It covers everything outstanding today, whatever its due date and whether or not it was invoiced, so a plan that extends far into the future raises it; above 999 days it is `null`, because too little was billed for it to be meaningful. `cei` = (opening + billed − closing total) ÷ (opening + billed − closing current) × 100. Closing total is the outstanding amount, closing current the part of it that is not overdue, ' +
    'and opening is computed backwards: closing total + received in the period − billed. `avgDaysLate` = Σ (days from due date to the last receipt, 0 if paid in time, × amount) ÷ Σ amount over all lines paid in full. ' +
    '`collectionRate` = amount received on lines due up to today, each capped at its amount, ÷ their amount. Ratios have 4 decimals and are `null` if the divisor is not above 0.',
  needs: view('sensitive_data'),
  query: AnalyticsQuery,
  returns: AnalyticsSummary,
  calls: ['getAnalyticsSummary'],
  fails: [],
  run: async ({ query, plane, principal, services }) =>
    plane.getAnalyticsSummary(asked(query, principal, await services.directory.of(principal.tenant.id))),
});

const getAnalyticsCashflow = endpoint('GET /analytics/cashflow', {
  summary: 'Read the cash flow by month',
  description:
    `${MONEY} ` +
    'Covers twelve months, from five months ago to six months ahead, including months without amounts; `from` and `to` are the first and the last day. A line is expected in the month of its due date. A receipt counts in the month in which it was received, ' +
    "and a correction in the month in which it was made; if only the date of a receipt is corrected, its amount moves to the new date. Invoices and red letters count in the month of their own date. An amount recorded as invoiced on the line itself, without an invoice record, counts by the line's invoice date or, if it has none, its due date. " +
    '`outstandingAmount` and `overdueAmount` are as of today, for the lines due in the month.',
  needs: view('sensitive_data'),
  query: AnalyticsQuery,
  returns: AnalyticsCashflow,
  calls: ['getAnalyticsCashflow'],
  fails: [],
  run: async ({ query, plane, principal, services }) =>
    plane.getAnalyticsCashflow(asked(query, principal, await services.directory.of(principal.tenant.id))),
});

const getAnalyticsDistribution = endpoint('GET /analytics/distribution', {
  summary: 'Break down contracts by type, status, stage and other properties',
  description:
    `${MONEY} ` +
    "`amount` is the sum of the contracts' `totalAmount`, `outstandingAmount` the sum outstanding on their lines; a line in another currency than its contract is outstanding in its own currency. `byAging` counts outstanding lines, and its `amount` is their outstanding amount. `byStage` groups by `workflowStage`. " +
    "`share` is the share of the list's total amount, or of its count if every amount is 0. All types, statuses, stages and ages are listed, in their defined order. Owners and subject companies are listed by amount: the first hundred, and the rest under the key `other`. " +
    "Labels are in the tenant's default language.",
  needs: view('sensitive_data'),
  query: AnalyticsQuery,
  returns: AnalyticsDistribution,
  calls: ['getAnalyticsDistribution'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    const found = await plane.getAnalyticsDistribution(asked(query, principal, directory));
    const named = <F extends { byOwner: Slice[]; bySubject: Slice[] }>(facets: F): F => ({
      ...facets,
      byOwner: labelled(facets.byOwner, (id) => directory.memberName(id)),
      bySubject: labelled(facets.bySubject, (id) => directory.subjectName(id)),
    });
    return { ...named(found), byCurrency: found.byCurrency.map(named) };
  },
});

function asked(
  { subjectId }: { readonly subjectId?: string | null },
  { settings }: Principal,
  directory: TenantDirectory,
): AnalyticsInput {
  checkFilter({ subjectId }, directory);
  return { subjectId: subjectId ?? null, displayCurrency: settings.displayCurrency };
}

/** The data plane knows only the ids of members and subject companies; their names are added here. */
const labelled = (slices: readonly Slice[], nameOf: (id: string) => string | null): Slice[] =>
  slices.map((slice) => (slice.key === OTHER ? slice : { ...slice, label: nameOf(slice.key) ?? slice.label }));

export const analyticsEndpoints = { getAnalyticsSummary, getAnalyticsCashflow, getAnalyticsDistribution };
