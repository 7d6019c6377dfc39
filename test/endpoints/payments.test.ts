import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type {
  PaymentLineInput,
  PaymentLineResult,
  PaymentPage,
  PaymentStats,
  ReceiptPage,
} from '../../data-plane-agent/plane/contract/records/lines.js';
import { makeMember, makeTenant, OPERATOR, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };
type NamedPage = PaymentPage & {
  readonly items: readonly { readonly subjectName: string | null; readonly ownerName: string | null }[];
};

describe('payments over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      before('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
      });

      const memberOf = async (roleCode: string, subjectScope: readonly string[] | null = null): Promise<Client> => {
        const member = await makeMember(server().services, made, { roleCode, subjectScope });
        return (await signIn(server().client, { tenant: made.tenant, member })).client;
      };
      const enter = async (
        line: Partial<PaymentLineInput> = {},
        changes: Partial<ContractInput> = {},
      ): Promise<{ contract: ContractDetail; paymentId: string }> => {
        const { status, body, text } = await owner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: made.subjectId, ownerId: made.owner.id, payments: [aLine(line)], ...changes }),
        );
        expect(status, text).to.equal(201);
        return { contract: body, paymentId: body.payments[0]?.id ?? '' };
      };

      it('a line is added, changed, paid, invoiced, listed, counted and removed', async () => {
        const { contract } = await enter();
        const added = await owner.post<PaymentLineResult>(`/contracts/${contract.id}/payments`, {
          period: '2026-05',
          dueDate: '2026-03-01T23:30:00-11:00',
          amount: 99.5,
          currencyCode: 'eur',
        });
        expect(added.status).to.equal(201);
        expect(added.body).to.include({
          period: '2026-05',
          dueDate: '2026-03-01',
          amount: 99.5,
          currencyCode: 'EUR',
          contractId: contract.id,
        });
        const path = `/payments/${added.body.id}`;
        expect((await owner.patch<PaymentLineResult>(path, { amount: 100, period: '  May  ' })).body).to.include({
          amount: 100,
          period: 'May',
        });
        const receipt = await owner.patch<PaymentLineResult>(`${path}/receipt`, {
          receivedAmount: 40,
          reconciliationNote: 'paid in euro',
        });
        expect(receipt.status).to.equal(200);
        expect(receipt.body).to.include({
          receivedAmount: 40,
          outstandingAmount: 60,
          reconciliationStatus: 'exception',
          receivedDate: '2026-03-15',
        });
        expect(
          (await owner.patch<PaymentLineResult>(`${path}/invoice`, { invoiceNo: 'F-7', invoiceAmount: 100 })).body,
        ).to.include({ invoiceNo: 'F-7', uninvoicedAmount: 0 });
        const { items } = (
          await owner.get<NamedPage>('/payments', { query: { tab: 'overdue', contractId: contract.id } })
        ).body;
        expect(items).to.have.length(1);
        expect(items[0]).to.include({
          id: added.body.id,
          contractNo: contract.contractNo,
          subjectId: made.subjectId,
          ownerName: 'Olive Owner',
          daysOverdue: 14,
        });
        expect(items[0]?.subjectName).to.be.a('string');
        expect((await owner.get<ReceiptPage>(`${path}/receipts`)).body.items.map(({ delta }) => delta)).to.deep.equal([
          40,
        ]);
        expect(
          (await owner.get<PaymentStats>('/payments/stats')).body.byCurrency.find(
            ({ currencyCode }) => currencyCode === 'EUR',
          ),
        ).to.include({ outstanding: 60, overdue: 60 });

        const refused = await owner.delete<DomainError>(path);
        expect(refused.status).to.equal(409);
        expect(refused.body).to.deep.equal({
          error: {
            code: 'LINE_HAS_MONEY',
            message:
              'The payment line has a receipt or an invoice, so it cannot be deleted; or money was matched to it, so its invoice cannot be voided: set the invoice to `red_letter` instead.',
            details: { paymentIds: [added.body.id] },
          },
        });
        await owner.patch(path, { receivedAmount: 0, invoiceNo: null, invoiceAmount: null });
        expect((await owner.delete(path)).body).to.have.nested.property('warnings[0].code', 'PLAN_DIFFERS_FROM_TOTAL');
        expect(
          await owner.get<NamedPage>('/payments', { query: { tab: 'overdue', contractId: contract.id } }),
        ).to.have.nested.property('body.total', 0);
        expect(
          await owner.get<NamedPage>('/payments', {
            query: { tab: 'overdue', contractId: contract.id, includeDeleted: true },
          }),
        ).to.have.nested.property('body.total', 1);
      });

      it('lines of a deleted contract are found by its id on request, on every tab, and only by callers who saw it', async () => {
        const { contract } = await enter({ dueDate: '2020-01-01', amount: 100, receivedAmount: 40 });
        await owner.delete(`/contracts/${contract.id}`);
        const asked = async (client: Client, query: Record<string, string | boolean>) =>
          client.get<NamedPage>('/payments', { query: { contractId: contract.id, ...query } });
        const bySubject = await memberOf('finance', [made.subjectId]);
        for (const client of [owner, bySubject])
          for (const tab of ['all', 'overdue', 'reconcile', 'invoice'])
            for (const more of [{}, { subjectId: made.subjectId }]) {
              const { status, body } = await asked(client, { tab, includeDeleted: true, ...more });
              expect(
                [status, body.items.map(({ contractId, deletedAt }) => [contractId, deletedAt === null])],
                tab,
              ).to.deep.equal([200, [[contract.id, false]]]);
            }
        expect((await asked(owner, { includeDeleted: true })).body.total, 'no amount of it is due').to.equal(0);
        expect((await asked(owner, {})).body).to.deep.equal(NOT_FOUND);
        expect((await asked(owner, { includeDeleted: false })).body).to.deep.equal(NOT_FOUND);
        expect((await asked(await memberOf('finance', []), { tab: 'all', includeDeleted: true })).body).to.deep.equal(
          NOT_FOUND,
        );
      });

      it("each change increases the contract's version, and ignores If-Match of the contract", async () => {
        const { contract, paymentId } = await enter();
        expect(
          (
            await owner.patch(
              `/payments/${paymentId}/receipt`,
              { receivedAmount: 1 },
              { headers: { 'If-Match': '"77"' } },
            )
          ).status,
        ).to.equal(200);
        expect((await owner.get(`/contracts/${contract.id}`)).headers.get('etag')).to.equal('"2"');
      });

      it('a receipt sent twice under one key is recorded once', async () => {
        const { paymentId } = await enter();
        const send = () =>
          owner.patch<PaymentLineResult>(
            `/payments/${paymentId}/receipt`,
            { receivedAmount: 5 },
            { headers: { 'Idempotency-Key': `receipt-${paymentId}` } },
          );
        const [first, second] = [await send(), await send()];
        expect(second.headers.get('idempotency-replayed')).to.equal('true');
        expect(second.body).to.deep.equal(first.body);
      });

      it('a refusal is repeated under its key, and marked as replayed', async () => {
        const { paymentId } = await enter();
        const send = () =>
          owner.patch(
            `/payments/${paymentId}/receipt`,
            { reconciliationStatus: 'matched' },
            { headers: { 'Idempotency-Key': `refused-${paymentId}` } },
          );
        const first = await send();
        expect([first.status, first.headers.get('idempotency-replayed')]).to.deep.equal([422, null]);
        await owner.patch(`/payments/${paymentId}/receipt`, { receivedAmount: 5 });
        const second = await send();
        expect([second.status, second.headers.get('idempotency-replayed')]).to.deep.equal([422, 'true']);
        expect(second.body).to.deep.equal(first.body);
      });

      it('the right to read payments does not include recording them, and without it the missing right is reported', async () => {
        const { contract, paymentId } = await enter();
        const writes = {
          'payment_entry (edit)': [
            ['post', `/contracts/${contract.id}/payments`],
            ['patch', `/payments/${paymentId}`],
            ['delete', `/payments/${paymentId}`],
            ['patch', `/payments/${paymentId}/receipt`],
          ],
          'invoice (edit)': [['patch', `/payments/${paymentId}/invoice`]],
        } as const;
        for (const role of ['sales', 'manager', 'legal', 'viewer']) {
          const member = await memberOf(role);
          for (const path of ['/payments', '/payments/stats', `/payments/${paymentId}/receipts`])
            expect((await member.get(path)).status, `${role} ${path}`).to.equal(200);
          for (const [need, calls] of Object.entries(writes)) {
            for (const [method, path] of calls) {
              const answer = await member[method]<FrameworkError>(path, { nonsense: true });
              expect(answer.status, `${role} ${path}`).to.equal(403);
              const held = need.replace('edit', 'view');
              expect(answer.body.message).to.equal(`${need} is required; your role "${role}" has ${held}`);
            }
          }
        }
        const finance = await memberOf('finance');
        expect((await finance.patch(`/payments/${paymentId}/receipt`, { receivedAmount: 3 })).status).to.equal(200);
        expect((await finance.patch(`/payments/${paymentId}`, { invoiceNo: 'F-1' })).status).to.equal(200);
        expect((await server().client.get('/payments')).status).to.equal(401);
      });

      it('the right to create contracts does not include receipts and invoices', async () => {
        const sales = await memberOf('sales');
        const contract = (line: Partial<PaymentLineInput>) =>
          aContract({ subjectId: made.subjectId, ownerId: made.owner.id, payments: [aLine(line)] });
        expect((await sales.post<FrameworkError>('/contracts', contract({ receivedAmount: 1 }))).body).to.include({
          statusCode: 403,
          message: 'payment_entry (edit) is required; your role "sales" has payment_entry (view)',
        });
        expect((await sales.post<FrameworkError>('/contracts', contract({ invoiceNo: 'F-1' }))).body).to.include({
          statusCode: 403,
          message: 'invoice (edit) is required; your role "sales" has invoice (view)',
        });
        expect((await sales.post('/contracts', contract({ receivedAmount: 0, invoiceNo: '' }))).status).to.equal(201);
      });

      it('a line of another tenant or out of scope is answered with the same bytes as a missing one', async () => {
        const { contract, paymentId } = await enter({ receivedAmount: 1 });
        const other = await makeTenant(server().services);
        const otherCallers: Client[] = [
          (await signIn(server().client, { tenant: other.tenant, member: other.owner })).client,
          await memberOf('finance', []),
          await memberOf('finance', [
            (await server().services.tenants.subjects.add({ tenantId: made.tenant.id, name: `S ${newId()}` }, OPERATOR))
              .id,
          ]),
        ];
        for (const otherCaller of otherCallers) {
          for (const [id, contractId] of [
            [paymentId, contract.id],
            [newId(), newId()],
            ['nonsense', 'nonsense'],
          ]) {
            const answers = [
              await otherCaller.patch(`/payments/${id}`, { amount: 1 }),
              await otherCaller.delete(`/payments/${id}`),
              await otherCaller.patch(`/payments/${id}/receipt`, { receivedAmount: 2 }),
              await otherCaller.patch(`/payments/${id}/invoice`, { invoiceNo: 'F' }),
              await otherCaller.get(`/payments/${id}/receipts`),
              await otherCaller.post(`/contracts/${contractId}/payments`, aLine()),
              await otherCaller.get('/payments', { query: { contractId: contractId ?? '' } }),
            ];
            for (const { status, text } of answers)
              expect({ status, text }).to.deep.equal({ status: 404, text: JSON.stringify(NOT_FOUND) });
          }
          expect((await otherCaller.get<PaymentPage>('/payments', { query: { tab: 'all' } })).body.total).to.equal(0);
          expect((await otherCaller.get<PaymentStats>('/payments/stats')).body.counts.all).to.equal(0);
        }
        for (const subjectId of [newId(), 'nonsense'])
          expect((await owner.get('/payments', { query: { subjectId } })).body).to.deep.equal(NOT_FOUND);
        expect((await otherCallers[1]?.get('/payments', { query: { subjectId: made.subjectId } }))?.body).to.deep.equal(
          NOT_FOUND,
        );
      });

      it('with owner scope, sales sees the lines of their own contracts only', async () => {
        const tenant = await makeTenant(server().services);
        await server().services.tenants.updateSettings(
          { tenantId: tenant.tenant.id, settings: { ownerScopeEnabled: true } },
          OPERATOR,
        );
        const seller = await makeMember(server().services, tenant, { roleCode: 'sales' });
        const boss = (await signIn(server().client, { tenant: tenant.tenant, member: tenant.owner })).client;
        const sales = (await signIn(server().client, { tenant: tenant.tenant, member: seller, password: PASSWORD }))
          .client;
        for (const ownerId of [seller.id, tenant.owner.id])
          await boss.post(
            '/contracts',
            aContract({ subjectId: tenant.subjectId, ownerId, payments: [aLine({ amount: 10 })] }),
          );
        expect((await boss.get<PaymentStats>('/payments/stats')).body).to.include({ amount: 20 });
        expect((await sales.get<PaymentStats>('/payments/stats')).body).to.include({ amount: 10 });
        expect((await sales.get<PaymentPage>('/payments')).body.items.map(({ ownerId }) => ownerId)).to.deep.equal([
          seller.id,
        ]);
      });

      describe('bad input is refused by field, and stores nothing', () => {
        const text500 = 'x'.repeat(501);
        const cases: readonly (readonly [field: string, bad: readonly unknown[]])[] = [
          ['period', [5, null, '', '   ', text500, 'a\u0000b', '\ud800']],
          ['dueDate', [20_260_101, null, '', '2026-02-30', '2026/3/1', 'tomorrow']],
          ['amount', ['5', null, -1, 9_000_000_000_001, 1.005, [], {}]],
          ['currencyCode', ['XXX', 'yuan', 5]],
          ['receivedAmount', ['5', -0.01, 1.005, 9_000_000_000_001, true]],
          ['receivedDate', ['2026-13-01', 5, false]],
          ['method', [5, text500, 'a\u0007']],
          ['payerName', [{}, text500]],
          ['receiptAccount', [[], text500]],
          ['bankSerialNo', [5, text500]],
          ['reconciliationStatus', ['done', 5]],
          ['reconciliationNote', [5, 'x'.repeat(10_001)]],
          ['invoiceAmount', ['5', -1, 0.001]],
          ['invoiceDate', ['2026-00-10', 5]],
          ['invoiceNo', [5, text500]],
          ['invoiceAttachment', [5, 'x'.repeat(101)]],
          ['proof', [5, {}]],
          ['contractId', ['x']],
          ['__proto__', [{}]],
        ];
        for (const [field, bad] of cases) {
          it(field, async () => {
            const { contract, paymentId } = await enter();
            for (const value of bad) {
              const line = `{"period":"p","dueDate":"2026-04-01","amount":5,${JSON.stringify(field)}:${JSON.stringify(value)}}`;
              for (const [method, path] of [
                ['POST', `/contracts/${contract.id}/payments`],
                ['PATCH', `/payments/${paymentId}`],
              ] as const) {
                const answer = await owner.raw<FrameworkError>(`/api/v1${path}`, {
                  method,
                  body: line,
                  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await token()}` },
                });
                expect(answer.status, `${method} ${line}: ${answer.text}`).to.equal(400);
                const { message } = answer.body;
                expect(message, line).to.be.an('array').with.length(1);
                expect(message[0]).to.match(new RegExp(`^${field} `));
              }
            }
            expect((await owner.get<ContractDetail>(`/contracts/${contract.id}`)).body).to.include({ version: 1 });
          });
        }

        let kept: string | undefined;
        const token = async (): Promise<string> =>
          (kept ??= (await signIn(server().client, { tenant: made.tenant, member: made.owner })).result.accessToken);

        it('in queries, too', async () => {
          const bad = { tab: 'soon', page: 0, pageSize: 201, includeDeleted: 'yes', nonsense: 1 };
          for (const [key, value] of Object.entries(bad)) {
            const { status, body } = await owner.get<FrameworkError>('/payments', { query: { [key]: value } });
            expect(status, key).to.equal(400);
            expect(body.message[0]).to.match(new RegExp(`^${key} `));
          }
          expect(
            (await owner.get('/payments/stats', { query: { subjectId: made.subjectId } })).status,
            'stats take no parameters',
          ).to.equal(400);
        });
      });
    },
    { clock: fakeClock('2026-03-15T08:00:00.000Z') },
  );
});
