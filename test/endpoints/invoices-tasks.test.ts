import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoiceResult } from '../../data-plane-agent/plane/contract/records/invoices.js';
import type { TaskResult } from '../../data-plane-agent/plane/contract/records/tasks.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

let made = 0;
const number = () => `F-${++made}`;
const messagesOf = ({ message }: FrameworkError): readonly string[] => [message].flat();

describe('invoices and fulfillment tasks over HTTP', () => {
  forEachServer(
    (server) => {
      let org: Administration;
      let contract: ContractDetail;
      let path: string;
      before(async () => {
        org = await administration(server());
      });
      beforeEach(async () => {
        contract = (
          await org.asOwner.post<ContractDetail>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id, invoicePoints: 13, payments: [aLine()] }),
          )
        ).body;
        path = `/contracts/${contract.id}`;
      });
      const detail = async () => (await org.asOwner.get<ContractDetail>(path)).body;
      const invoice = async (body: object = {}, client: Client = org.asOwner) =>
        client.post<InvoiceResult>(`${path}/invoices`, { invoiceNo: number(), invoiceAmount: 113, ...body });
      const task = async (body: object = {}, client: Client = org.asOwner) =>
        client.post<TaskResult>(`${path}/fulfillment-tasks`, { code: number(), title: 'Deliver', ...body });

      it('an invoice is drafted, issued, reversed, and read with its contract', async () => {
        const drafted = await invoice({ receivablePlanId: contract.payments[0]?.id, attachment: 'drawer 3' });
        expect([drafted.status, drafted.body.status, drafted.body.taxAmount, drafted.body.netAmount]).to.deep.equal([
          201,
          'draft',
          13,
          100,
        ]);
        const one = `${path}/invoices/${drafted.body.id}`;
        const issued = await org.asOwner.patch<InvoiceResult>(
          one,
          { status: 'issued' },
          { headers: { 'If-Match': `"${drafted.body.contractVersion}"` } },
        );
        expect([issued.status, issued.body.status]).to.deep.equal([200, 'issued']);
        expect(
          (
            await org.asOwner.patch<DomainError>(
              one,
              { status: 'red_letter' },
              { headers: { 'If-Match': `"${drafted.body.contractVersion}"` } },
            )
          ).status,
        ).to.equal(412);
        expect(await detail()).to.include({ invoicedAmount: 113, version: issued.body.contractVersion });
        expect(
          (await org.asOwner.patch<InvoiceResult>(one, { status: 'red_letter' })).body.reversedByInvoiceId,
        ).to.be.a('string');
        const { invoices, invoicedAmount } = await detail();
        expect([invoices.map(({ status }) => status), invoicedAmount]).to.deep.equal([['issued', 'red_letter'], 0]);
        const refused = await org.asOwner.patch<DomainError>(one, { status: 'void' });
        expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
          409,
          'INVALID_TRANSITION',
          { field: 'status', from: 'issued', to: 'void', allowed: [] },
        ]);
      });

      it('each bad field of an invoice is reported once', async () => {
        const { status, body } = await org.asOwner.post<FrameworkError>(`${path}/invoices`, {
          invoiceAmount: -1,
          status: 'paid',
          taxRate: 101,
          invoiceDate: '2026-02-30',
          extra: 1,
          attachment: 'x'.repeat(501),
        });
        expect(status).to.equal(400);
        expect(body.message).to.have.length(7);
        for (const field of ['invoiceNo', 'invoiceAmount', 'status', 'taxRate', 'invoiceDate', 'extra', 'attachment'])
          expect(
            messagesOf(body).filter((message) => message.startsWith(`${field} `)),
            field,
          ).to.have.length(1);
        const decimals = await org.asOwner.post<FrameworkError>(`${path}/invoices`, {
          invoiceNo: 'x',
          invoiceAmount: 1.005,
          taxRate: 0.1234567,
        });
        expect([decimals.status, decimals.body.message]).to.deep.equal([
          400,
          ['invoiceAmount must have at most 2 decimals in CNY', 'taxRate must have at most 6 decimals'],
        ]);
        expect((await invoice({ invoiceAmount: 0, taxRate: 0.123456 })).body).to.include({
          taxRate: 0.123456,
          taxAmount: 0,
        });
        for (const [sent, messages] of [
          [{ invoiceNo: null }, 1],
          [{ invoiceAmount: null, invoiceNo: ' ' }, 2],
        ] as const) {
          const answer = await org.asOwner.patch<FrameworkError>(`${path}/invoices/${(await invoice()).body.id}`, sent);
          expect([answer.status, messagesOf(answer.body).length]).to.deep.equal([400, messages]);
        }
      });

      it('an invoice sent twice under one key is one, and a refusal is repeated', async () => {
        const headers = { 'Idempotency-Key': `invoice-${contract.id}` };
        const body = { invoiceNo: number(), invoiceAmount: 5 };
        const [first, second] = [
          await org.asOwner.post(`${path}/invoices`, body, { headers }),
          await org.asOwner.post(`${path}/invoices`, body, { headers }),
        ];
        expect([second.status, second.text, second.headers.get('idempotency-replayed')]).to.deep.equal([
          201,
          first.text,
          'true',
        ]);
        expect((await detail()).invoices).to.have.length(1);
        const again = await org.asOwner.post<DomainError>(`${path}/invoices`, body);
        expect([again.status, again.body.error.code, again.body.error.details]).to.deep.equal([
          409,
          'DUPLICATE_CODE',
          { field: 'invoiceNo', value: body.invoiceNo },
        ]);
      });

      it('invoice data on a line is one record, by whichever operation it is set', async () => {
        const paymentId = contract.payments[0]?.id ?? '';
        const invoiceNo = number();
        await org.asOwner.patch(`/payments/${paymentId}/invoice`, { invoiceNo, invoiceAmount: 400 });
        await org.asOwner.patch(`/payments/${paymentId}`, { invoiceAmount: 500 });
        const { invoices, invoicedAmount } = await detail();
        expect(
          invoices.map((one) => [one.invoiceNo, one.invoiceAmount, one.status, one.receivablePlanId]),
        ).to.deep.equal([[invoiceNo, 500, 'issued', paymentId]]);
        expect(invoicedAmount).to.equal(500);
        const refused = await org.asOwner.patch<DomainError>(`/payments/${paymentId}/invoice`, {
          invoiceAmount: 1,
          invoiceNo: (await invoice()).body.invoiceNo,
        });
        expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'DUPLICATE_CODE']);
      });

      it('a task is added, started, accepted and counted', async () => {
        const worker = await org.join({ roleCode: 'sales' });
        const added = await task({
          kind: 'delivery',
          ownerId: worker.id,
          dueDate: '2026-03-14',
          metadata: { truck: 7 },
        });
        expect([added.status, added.body.status, added.body.isOverdue, added.body.daysOverdue]).to.deep.equal([
          201,
          'pending',
          true,
          1,
        ]);
        const one = `${path}/fulfillment-tasks/${added.body.id}`;
        expect((await detail()).fulfillmentStatus).to.equal('lapsed');
        expect((await org.asOwner.patch<TaskResult>(one, { status: 'completed' })).body.completedAt).to.be.a('string');
        expect((await org.asOwner.patch<TaskResult>(one, { status: 'accepted' })).body).to.include({
          acceptedBy: org.owner.id,
        });
        expect(
          (await org.asOwner.get<{ items: ContractDetail[] }>('/contracts', { query: { q: contract.contractNo } })).body
            .items[0]?.fulfillmentStatus,
        ).to.equal('fulfilled');
        const denied = await worker.client.patch<DomainError>(one, { status: 'in_progress' });
        expect([denied.status, denied.body.error.code, denied.body.error.details]).to.deep.equal([
          403,
          'WORKFLOW_CONTROL_REQUIRED',
          { control: 'admin', stage: 'draft', has: 'edit', role: 'sales' },
        ]);
        expect((await org.asOwner.patch<TaskResult>(one, { status: 'in_progress' })).body).to.include({
          status: 'in_progress',
          acceptedBy: null,
        });
        const refused = await org.asOwner.patch<DomainError>(one, { status: 'accepted' });
        expect([refused.status, refused.body.error.details]).to.deep.equal([
          409,
          {
            field: 'status',
            from: 'in_progress',
            to: 'accepted',
            allowed: ['pending', 'completed', 'blocked', 'canceled', 'overdue'],
          },
        ]);
      });

      it('a task is owned by an active member; a member who left stays its owner until another one is set', async () => {
        const [leaver, otherTenant] = [await org.join({ roleCode: 'sales' }), await administration(server())];
        const added = await task({ ownerId: leaver.id });
        await org.asOwner.patch(`/tenant-admin/members/${leaver.id}`, { status: 'disabled' });
        for (const ownerId of [otherTenant.owner.id, newId(), 'nobody', leaver.id]) {
          const refused = await org.asOwner.post<DomainError>(`${path}/fulfillment-tasks`, {
            code: number(),
            title: 'x',
            ownerId,
          });
          expect([refused.status, refused.body.error.code, refused.body.error.details], ownerId).to.deep.equal([
            422,
            'REFERENCE_INVALID',
            { field: 'ownerId', value: ownerId },
          ]);
        }
        const one = `${path}/fulfillment-tasks/${added.body.id}`;
        expect(
          (await org.asOwner.patch<TaskResult>(one, { ownerId: leaver.id, title: 'Deliver soon' })).body,
        ).to.include({ title: 'Deliver soon', ownerId: leaver.id });
        expect((await org.asOwner.patch(one, { ownerId: otherTenant.owner.id })).status).to.equal(422);
        expect((await org.asOwner.patch<TaskResult>(one, { ownerId: null })).body.ownerId).to.equal(null);
        expect(
          (
            await org.asOwner.post(`/contracts/${newId()}/fulfillment-tasks`, {
              code: 'x',
              title: 'x',
              ownerId: 'nobody',
            })
          ).status,
          'a missing contract is reported first',
        ).to.equal(404);
      });

      it('each bad field of a task is reported once', async () => {
        const { status, body } = await org.asOwner.post<FrameworkError>(`${path}/fulfillment-tasks`, {
          title: '  ',
          status: 'done',
          dueDate: '2026/3/1',
          metadata: { big: 'x'.repeat(17_000) },
          isOverdue: true,
        });
        expect(status).to.equal(400);
        expect(messagesOf(body).map((message) => message.split(' ')[0])).to.have.members([
          'code',
          'dueDate',
          'isOverdue',
          'metadata',
          'status',
          'title',
        ]);
        const { id } = (await task()).body;
        const patched = await org.asOwner.patch<FrameworkError>(`${path}/fulfillment-tasks/${id}`, {
          code: null,
          metadata: [],
        });
        expect([patched.status, messagesOf(patched.body).length]).to.deep.equal([400, 2]);
      });

      it("each operation requires its right, on every plan, within the caller's scope", async () => {
        const free = await administration(server(), { planCode: 'free' });
        const { body } = await free.asOwner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: free.subjectId, ownerId: free.owner.id }),
        );
        expect(
          (await free.asOwner.post(`/contracts/${body.id}/invoices`, { invoiceNo: 'x', invoiceAmount: 1 })).status,
        ).to.equal(201);
        expect(
          (await free.asOwner.post(`/contracts/${body.id}/fulfillment-tasks`, { code: 'x', title: 'x' })).status,
        ).to.equal(201);

        const [finance, sales, viewer, outOfScope] = [
          await org.join({ roleCode: 'finance' }),
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'viewer' }),
          await org.join({ roleCode: 'admin', subjectScope: [] }),
        ];
        const statuses = async (work: (client: Client) => Promise<{ status: number }>) =>
          Promise.all([finance, sales, viewer, outOfScope].map(async ({ client }) => (await work(client)).status));
        expect(await statuses((client) => invoice({}, client))).to.deep.equal([201, 403, 403, 404]);
        expect(await statuses((client) => task({}, client))).to.deep.equal([403, 201, 403, 404]);
        const read = (await viewer.client.get<ContractDetail>(path)).body;
        expect(
          [read.invoices.length, read.fulfillmentTasks.length],
          'any caller who sees the contract sees both',
        ).to.deep.equal([1, 1]);
      });
    },
    { clock: fakeClock() },
  );
});
