import { expect } from 'chai';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type {
  PaymentLineResult,
  PaymentPage,
  PaymentStats,
} from '../../data-plane-agent/plane/contract/records/lines.js';
import { signIn } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError } from '../support/http.js';
import { LANDED, landedContract, openLandedPlatform, openLandedTenants } from '../support/landed-schema.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

const { one, two, trashed, four, five, harbour, quay } = LANDED.named;

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a server that is started on ${kind} databases from before there were invoice records`, () => {
    if (kind === 'postgres') needsPostgres();
    const undo: (() => Promise<void>)[] = [];
    let server: TestServer;
    let owner: Client;
    let neighbour: Client;
    let manager: Client;
    before('starts, and people sign in', async () => {
      const [platform, tenants] = [await openLandedPlatform(kind), await openLandedTenants(kind)];
      undo.push(platform.close, tenants.close);
      server = await startServer({
        clock: fakeClock(LANDED.at + 60_000),
        env: { SECRET_KEYS: LANDED.secretKeys, PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenants.url },
      });
      undo.push(server.stop);
      const signedIn = async (slug: string, email: string) =>
        (await signIn(server.client, { tenant: { slug }, member: { email } })).client;
      [owner, manager, neighbour] = [
        await signedIn('harbour', harbour.email),
        await signedIn('harbour', 'scoped@harbour.test'),
        await signedIn('quay', quay.email),
      ];
    });
    after(async () => {
      for (const step of undo.toReversed()) await step();
    });

    const ok = <T>({ status, body, text }: { readonly status: number; readonly body: T; readonly text: string }): T => {
      expect(status, text).to.be.within(200, 299);
      return body;
    };

    it('returns contracts as they were, with members, parts and invoices', async () => {
      for (const [client, id] of [
        [owner, one],
        [owner, two],
        [owner, four],
        [neighbour, five],
      ] as const) {
        const { payments, dynamicFields: _free, ...was } = landedContract(id);
        const is = ok(await client.get<ContractDetail>(`/contracts/${id}`));
        expect(is).to.deep.include(was);
        expect(is.payments.map(({ id: line }) => line)).to.deep.equal(payments.map(({ id: line }) => line));
        expect(is.invoices.length).to.equal(payments.filter(({ invoiceNo }) => invoiceNo !== null).length);
      }
    });

    it('lists, counts and sums as before', async () => {
      for (const [client, slug] of [
        [owner, 'harbour'],
        [neighbour, 'quay'],
      ] as const) {
        expect(ok(await client.get('/payments/stats'))).to.deep.include(
          LANDED.answers[`stats ${slug}`] as PaymentStats,
        );
        for (const tab of ['due', 'overdue', 'reconcile', 'invoice', 'all']) {
          expect(
            ok(await client.get<PaymentPage>('/payments', { query: { tab } })).items.map(({ id }) => id),
            tab,
          ).to.deep.equal(LANDED.answers[`${tab} ${slug}`]);
        }
      }
      expect(ok(await owner.get<{ total: number }>('/contracts', { query: { q: '远东机械' } })).total).to.equal(3);
    });

    it('isolates organisations', async () => {
      for (const path of [`/contracts/${one}`, `/contracts/${trashed}/history`])
        expect((await neighbour.get(path)).status).to.equal(404);
      const [invoice] = ok(await owner.get<ContractDetail>(`/contracts/${one}`)).invoices;
      expect((await neighbour.patch(`/contracts/${one}/invoices/${invoice?.id}`, { note: 'mine' })).status).to.equal(
        404,
      );
    });

    it('changes, voids and exports the invoices found on lines', async () => {
      const { payments, invoices } = ok(await owner.get<ContractDetail>(`/contracts/${one}`));
      const line = payments.find(({ period }) => period === '2026-02');
      const invoice = invoices.find(({ receivablePlanId }) => receivablePlanId === line?.id);
      const path = `/contracts/${one}/invoices/${invoice?.id}`;
      expect((await manager.patch(path, { note: 'seen' })).status).to.equal(403);
      expect(ok(await owner.patch<{ note: string }>(path, { note: 'seen' }))).to.include({
        note: 'seen',
        invoiceNo: 'RÉF-Ä2',
        invoiceAmount: 2_500,
        taxRate: 13,
      });
      const again = await owner.post<DomainError>(`/contracts/${one}/invoices`, {
        invoiceNo: 'réf-ä2',
        invoiceAmount: 1,
      });
      expect([again.status, again.body.error.code]).to.deep.equal([409, 'DUPLICATE_CODE']);
      const receipt = { receivedAmount: 3_000 };
      const send = () =>
        owner.patch<PaymentLineResult>(`/payments/${line?.id}/receipt`, receipt, {
          headers: { 'Idempotency-Key': 'after-upgrade' },
        });
      expect([ok(await send()).outstandingAmount, (await send()).headers.get('idempotency-replayed')]).to.deep.equal([
        0,
        'true',
      ]);
      ok(await owner.patch(path, { status: 'void' }));
      expect(
        ok(await owner.get<ContractDetail>(`/contracts/${one}`)).payments.find(({ period }) => period === '2026-02'),
      ).to.include({ invoiceNo: null, invoicedAmount: 0, receivedAmount: 3_000 });
      const { text } = await owner.get('/contracts/export', { query: { profile: 'full' } });
      for (const reported of ['INV-A-1', 'JP-1', '上海远东机械有限公司']) expect(text).to.contain(reported);
    });

    it('moves a contract, and restores one from the trash', async () => {
      expect(
        ok(
          await owner.post<ContractDetail>(`/contracts/${two}/workflow/transition`, {
            transitionCode: 'submit_review',
          }),
        ),
      ).to.include({ workflowStage: 'review' });
      const restored = ok(await owner.post<ContractDetail>(`/contracts/${trashed}/restore`, {}));
      expect(restored.payments.map(({ period }) => period)).to.deep.equal(['first', 'second', 'third']);
      expect(restored.invoices.map(({ invoiceNo }) => invoiceNo)).to.have.members(['INV-A-1-4', 'T-1', 't-1-2']);
    });

    it('logs no error', () => {
      expect(server.logged.filter(({ level }) => level === 'error' || Number(level) >= 50)).to.deep.equal([]);
    });
  });
}
