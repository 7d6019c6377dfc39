import { expect } from 'chai';
import type {
  AnalyticsCashflow,
  AnalyticsDistribution,
  AnalyticsSummary,
} from '../../data-plane-agent/plane/contract/records/analytics.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock } from '../support/clock.js';
import type { Client, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };
const ROUTES = ['/analytics/summary', '/analytics/cashflow', '/analytics/distribution'] as const;

describe('analytics over HTTP', () => {
  forEachServer(
    (server) => {
      let org: Administration;
      let second: string;
      before('a tenant with two subject companies', async () => {
        org = await administration(server());
        second = (await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' })).body.id;
        const enter = async (changes: Partial<ContractInput>) =>
          expect(
            (
              await org.asOwner.post(
                '/contracts',
                aContract({ subjectId: org.subjectId, ownerId: org.owner.id, ...changes }),
              )
            ).status,
          ).to.equal(201);
        await enter({
          totalAmount: 900,
          payments: [
            aLine({ dueDate: '2026-03-01', amount: 600, receivedAmount: 100 }),
            aLine({ dueDate: '2026-03-20', amount: 300 }),
          ],
        });
        await enter({
          subjectId: second,
          type: 'lease',
          totalAmount: 100,
          payments: [aLine({ dueDate: '2025-11-01', amount: 100 })],
        });
        await enter({ currencyCode: 'USD', totalAmount: 50, payments: [aLine({ dueDate: '2026-04-01', amount: 50 })] });
      });

      it('a DSO is not stated where little or nothing was billed in the last 90 days', async () => {
        const { asOwner, subjectId, owner } = await administration(server());
        const payments = [aLine({ dueDate: '2026-03-01', amount: 1 }), aLine({ dueDate: '2026-06-01', amount: 100 })];
        const dso = async () => (await asOwner.get<AnalyticsSummary>('/analytics/summary')).body.dso;
        expect(await dso()).to.equal(null);
        const entered = await asOwner.post('/contracts', aContract({ subjectId, ownerId: owner.id, payments }));
        expect([entered.status, await dso()]).to.deep.equal([201, null]);
      });

      it("a summary covers everything that the caller sees, in the tenant's display currency", async () => {
        const { status, body } = await org.asOwner.get<AnalyticsSummary>('/analytics/summary');
        expect(status).to.equal(200);
        expect(body).to.deep.include({
          asOf: '2026-03-15',
          timezone: 'UTC',
          subjectId: null,
          currencyCode: 'CNY',
          excludedCurrencies: ['USD'],
          contractCount: 3,
          activeContractCount: 3,
          contractAmount: 1_000,
          receivableAmount: 1_000,
          receivedAmount: 100,
          outstandingAmount: 900,
          overdueAmount: 600,
          overdueCount: 2,
          dueSoonAmount: 300,
          dueSoonCount: 1,
          atRiskAmount: 100,
          collectionRate: 0.1429,
        });
        expect(
          body.byCurrency.map(({ currencyCode, contractCount, outstandingAmount }) => [
            currencyCode,
            contractCount,
            outstandingAmount,
          ]),
        ).to.deep.equal([
          ['CNY', 2, 900],
          ['USD', 1, 50],
        ]);
        expect(Object.keys(body.byCurrency[0] ?? {}).toSorted()).to.deep.equal(
          Object.keys(body)
            .filter((key) => !['asOf', 'timezone', 'subjectId', 'excludedCurrencies', 'byCurrency'].includes(key))
            .toSorted(),
        );
      });

      it('a distribution names owners and subject companies', async () => {
        const { body } = await org.asOwner.get<AnalyticsDistribution>('/analytics/distribution');
        expect(body.byOwner).to.deep.equal([
          { key: org.owner.id, label: 'Olive Owner', count: 3, amount: 1_000, outstandingAmount: 900, share: 1 },
        ]);
        expect(body.bySubject[1]).to.deep.equal({
          key: second,
          label: 'Second Ltd',
          count: 1,
          amount: 100,
          outstandingAmount: 100,
          share: 0.1,
        });
        expect(body.byType.map(({ key, count, share }) => [key, count, share])).to.deep.equal([
          ['sale', 2, 0.9],
          ['lease', 1, 0.1],
        ]);
        expect(body.byCurrency[1]?.byOwner[0]?.label).to.equal('Olive Owner');
      });

      it('another display currency changes the headline amounts, and a subject company filters them', async () => {
        expect((await org.asOwner.patch('/tenant-admin/settings', { displayCurrency: 'USD' })).status).to.equal(200);
        expect((await org.asOwner.get<AnalyticsSummary>('/analytics/summary')).body).to.deep.include({
          currencyCode: 'USD',
          excludedCurrencies: ['CNY'],
          contractCount: 3,
          outstandingAmount: 50,
        });
        await org.asOwner.patch('/tenant-admin/settings', { displayCurrency: 'CNY' });
        const query = { subjectId: second };
        expect((await org.asOwner.get<AnalyticsSummary>('/analytics/summary', { query })).body).to.deep.include({
          subjectId: second,
          contractCount: 1,
          outstandingAmount: 100,
          excludedCurrencies: [],
        });
        const { series, from, to } = (await org.asOwner.get<AnalyticsCashflow>('/analytics/cashflow', { query })).body;
        expect([from, to, series[1]]).to.deep.equal([
          '2025-10-01',
          '2026-09-30',
          {
            period: '2025-11',
            expectedAmount: 100,
            receivedAmount: 0,
            invoicedAmount: 0,
            outstandingAmount: 100,
            overdueAmount: 100,
          },
        ]);
      });

      it('a member sees only their scope, and nothing of other subject companies', async () => {
        const { client } = await org.join({ roleCode: 'finance', subjectScope: [second] });
        expect((await client.get<AnalyticsSummary>('/analytics/summary')).body).to.include({
          contractCount: 1,
          outstandingAmount: 100,
        });
        expect(
          (await client.get<AnalyticsDistribution>('/analytics/distribution')).body.bySubject.map(({ key }) => key),
        ).to.deep.equal([second]);
        const otherTenant = await administration(server());
        for (const route of ROUTES) {
          for (const [caller, subjectId] of [
            [client, org.subjectId],
            [client, newId()],
            [client, 'no-id'],
            [otherTenant.asOwner, second],
          ] as const) {
            const { status, body } = await caller.get(route, { query: { subjectId } });
            expect([status, body], `${route} ${subjectId}`).to.deep.equal([404, NOT_FOUND]);
          }
          expect((await otherTenant.asOwner.get<Record<string, unknown>>(route)).body['byCurrency']).to.deep.equal([]);
        }
      });

      it('callers without access to sensitive data are refused, and unknown or repeated parameters are 400', async () => {
        const refused: Client = (await org.join({ roleCode: 'viewer' })).client;
        for (const route of ROUTES) {
          expect((await refused.get<FrameworkError>(route)).body).to.deep.equal({
            statusCode: 403,
            message: 'sensitive_data (view) is required; your role "viewer" has sensitive_data (none)',
            error: 'Forbidden',
          });
          expect(
            (await org.asOwner.get<FrameworkError>(route, { query: { from: '2026-01-01' } })).body.message,
          ).to.deep.equal(['from is not a known parameter']);
          expect((await org.asOwner.get(`${route}?subjectId=${second}&subjectId=${second}`)).status).to.equal(400);
        }
      });

      it('every plan includes them', async () => {
        const free = await administration(server(), { planCode: 'free' });
        for (const route of ROUTES) expect((await free.asOwner.get(route)).status, route).to.equal(200);
      });
    },
    { clock: fakeClock() },
  );
});
