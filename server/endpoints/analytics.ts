import { fail } from '../../data-plane-agent/base/failures.js';
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
import type { TenantDirectory } from '../tenants/directory.js';

const MONEY =
  "Amounts at the top are those in the tenant's `displayCurrency`: two currencies are never added, and `excludedCurrencies` lists the others, whose figures are in `byCurrency` under the same keys. Counts at the top go over all currencies. " +
  "What is overdue is judged by today in the tenant's time zone. Deleted contracts and removed lines count nowhere. A `subjectId` outside the caller's scope is answered like one that is not there; without one the scope applies by itself.";

const getAnalyticsSummary = endpoint('GET /analytics/summary', {
  summary: 'Read headline totals',
  description:
    `${MONEY} ` +
    'Every line is in one age of `aging` by what is open on it, so the ages add up to `outstandingAmount`; a line due today is `not_due`, and `d90_plus` (`atRiskAmount`) begins on the ninety-first day. ' +
    '`dueSoon` counts lines due from today to the end of the reminder lead days. The period of `dso` and `cei` is the 90 days that end today. *Billed* is what was invoiced in it less red letters, or, where that is nothing, the amounts of lines due in it. ' +
    '`dso` = outstanding ÷ billed × 90: over all that is open today, whenever it falls due and whether or not it was invoiced, so that a plan that reaches far ahead raises it. `cei` = (opening + billed − closing total) ÷ (opening + billed − closing current) × 100, where closing total is what is outstanding, closing current what of that is not overdue, ' +
    'and opening the roll-forward backwards: closing total + received in the period − billed. `avgDaysLate` = Σ (days from due date to the last receipt, none if in time, × amount) ÷ Σ amount over all lines paid in full. ' +
    '`collectionRate` = received on lines due up to today, each capped at its amount, ÷ their amount. Ratios have 4 decimals, and are `null` where the divisor is not above 0.',
  needs: view('sensitive_data'),
  query: AnalyticsQuery,
  returns: AnalyticsSummary,
  calls: ['getAnalyticsSummary'],
  fails: [],
  run: async ({ query, plane, principal, services }) =>
    plane.getAnalyticsSummary(asked(query, principal, await services.directory.of(principal.tenant.id))),
});

const getAnalyticsCashflow = endpoint('GET /analytics/cashflow', {
  summary: 'Read the cash flow, month by month',
  description:
    `${MONEY} ` +
    'Twelve months, from five back to six ahead, those without anything included; `from` and `to` are the first and the last day. A line is expected in the month of its due date. Money counts in the month in which it was received, ' +
    'and a correction in the month in which it was made; a day of receipt that is corrected alone takes its money along. Invoices count in the month of their date, red letters in theirs; an amount that a line itself names as invoiced, without an invoice record, by its invoice date, or by the due date where it has none. ' +
    "`outstandingAmount` and `overdueAmount` are today's, of the lines due in the month.",
  needs: view('sensitive_data'),
  query: AnalyticsQuery,
  returns: AnalyticsCashflow,
  calls: ['getAnalyticsCashflow'],
  fails: [],
  run: async ({ query, plane, principal, services }) =>
    plane.getAnalyticsCashflow(asked(query, principal, await services.directory.of(principal.tenant.id))),
});

const getAnalyticsDistribution = endpoint('GET /analytics/distribution', {
  summary: 'Break contracts down by what they are',
  description:
    `${MONEY} ` +
    "`amount` adds up contracts' `totalAmount`, `outstandingAmount` what is open on their lines; a line in another currency than its contract is open in its own. `byAging` counts open lines, and its `amount` is what is open on them. `byStage` goes by `workflowStage`. " +
    "`share` is a part of the list's amount, or of its count where every amount is 0. Types, statuses, stages and ages are all listed, in their order; owners and subject companies by amount, the hundred first, and what is left under the key `other`. " +
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
  if (subjectId && !directory.hasSubject(subjectId)) throw fail('NOT_FOUND', {});
  return { subjectId: subjectId ?? null, displayCurrency: settings.displayCurrency };
}

/** The data plane knows members and subject companies by their ids. */
const labelled = (slices: readonly Slice[], nameOf: (id: string) => string | null): Slice[] =>
  slices.map((slice) => (slice.key === OTHER ? slice : { ...slice, label: nameOf(slice.key) ?? slice.label }));

export const analyticsEndpoints = { getAnalyticsSummary, getAnalyticsCashflow, getAnalyticsDistribution };
