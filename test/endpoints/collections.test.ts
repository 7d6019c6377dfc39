import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type {
  CollectionPage,
  ReminderDeliveryPage,
  Hold,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { HistoryPage } from '../../data-plane-agent/plane/contract/records/history.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import { namedFields, type Client, type DomainError, type FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

describe('collections over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      beforeEach('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
        const { status } = await owner.patch('/tenant-admin/settings', { timezone: 'Asia/Shanghai' });
        expect(status).to.equal(200);
      });

      const memberOf = async (roleCode: string, subjectScope: readonly string[] | null = null): Promise<Client> => {
        const member = await makeMember(server().services, made, { roleCode, subjectScope });
        return (await signIn(server().client, { tenant: made.tenant, member })).client;
      };
      const enter = async (
        lines: readonly Partial<PaymentLineInput>[],
        changes: Partial<ContractInput> = {},
      ): Promise<ContractDetail> => {
        const { status, body, text } = await owner.post<ContractDetail>(
          '/contracts',
          aContract({
            subjectId: made.subjectId,
            ownerId: made.owner.id,
            payments: lines.map((line) => aLine(line)),
            ...changes,
          }),
        );
        expect(status, text).to.equal(201);
        return body;
      };
      const listed = async (query: Readonly<Record<string, string>> = {}, client = owner) => {
        const { status, body, text } = await client.get<CollectionPage>('/collections', { query });
        expect(status, text).to.equal(200);
        return body;
      };
      const periods = ({ items }: CollectionPage) => items.map(({ period }) => period);

      it('lists open lines that are overdue or due soon, the earliest first', async () => {
        await enter([
          { period: 'in 8 days', dueDate: '2026-03-23' },
          { period: 'in 7 days', dueDate: '2026-03-22' },
          { period: 'today', dueDate: '2026-03-15' },
          { period: 'yesterday', dueDate: '2026-03-14' },
          { period: 'settled', dueDate: '2026-02-01', receivedAmount: 1_000 },
          { period: '91 days ago', dueDate: '2025-12-14' },
          { period: 'part paid', dueDate: '2026-02-13', receivedAmount: 400 },
        ]);
        const overdue = await listed();
        expect(periods(overdue)).to.deep.equal(['91 days ago', 'part paid', 'yesterday']);
        expect(periods(await listed({ tab: 'soon' }))).to.deep.equal(['today', 'in 7 days']);
        expect(periods(await listed({ tab: 'all', page: '2', pageSize: '2' }))).to.deep.equal(['yesterday', 'today']);
        expect(
          overdue.items.map(({ bucket, daysOverdue, outstandingAmount }) => [bucket, daysOverdue, outstandingAmount]),
        ).to.deep.equal([
          ['d90_plus', 91, 1_000],
          ['d1_30', 30, 600],
          ['d1_30', 1, 1_000],
        ]);
        expect(overdue.items[0]).to.deep.include({
          ownerName: made.owner.name,
          reminderLevel: null,
          reminderCount: 0,
          lastRemindedAt: null,
          lastChannelId: null,
          hold: null,
        });
      });

      it('shows from when the next reminder may be sent', async () => {
        await enter([
          { period: 'soon', dueDate: '2026-03-20' },
          { period: 'late', dueDate: '2026-03-01' },
        ]);
        // 01:00 in Shanghai on 15 March: the reminder hour of the day, 09:00, is at 01:00 UTC.
        const { items } = await listed({ tab: 'all' });
        expect(items.map(({ period, nextReminderAt }) => [period, nextReminderAt])).to.deep.equal([
          ['late', '2026-03-15T01:00:00.000Z'],
          ['soon', '2026-03-15T01:00:00.000Z'],
        ]);
      });

      it('holds a line, replaces the hold and removes it, and the history says so', async () => {
        const { id, version, payments } = await enter([{ period: 'March', dueDate: '2026-03-01' }]);
        const path = `/collections/${payments[0]?.id}/hold`;
        const promised = await owner.put<Hold>(path, { kind: 'promise', until: '2026-03-20', note: ' by phone ' });
        expect(promised.status, promised.text).to.equal(200);
        expect(promised.body).to.deep.include({
          paymentId: payments[0]?.id,
          kind: 'promise',
          until: '2026-03-20',
          note: 'by phone',
          isActive: true,
          createdBy: made.owner.id,
        });
        const [held] = (await listed()).items;
        expect(held?.hold).to.deep.equal(promised.body);
        expect(held?.nextReminderAt).to.equal('2026-03-21T01:00:00.000Z');

        expect((await owner.put<Hold>(path, { kind: 'dispute' })).body).to.deep.include({
          kind: 'dispute',
          until: null,
          note: null,
          createdAt: promised.body.createdAt,
        });
        expect((await listed()).items[0]?.nextReminderAt).to.equal(null);

        for (let i = 0; i < 2; i++) expect((await owner.delete(path)).status).to.equal(200);
        expect((await listed()).items[0]?.hold).to.equal(null);

        const { body: history } = await owner.get<HistoryPage>(`/contracts/${id}/history`);
        expect(
          history.items.flatMap(({ action, changes }) =>
            changes
              .filter(({ record }) => record === 'hold')
              .map(({ recordName, field, before, after }) => [action, recordName, field, before, after]),
          ),
        ).to.have.deep.members([
          ['setPaymentHold', 'March', 'kind', null, 'promise'],
          ['setPaymentHold', 'March', 'until', null, '2026-03-20'],
          ['setPaymentHold', 'March', 'note', null, 'by phone'],
          ['setPaymentHold', 'March', 'kind', 'promise', 'dispute'],
          ['setPaymentHold', 'March', 'until', '2026-03-20', null],
          ['setPaymentHold', 'March', 'note', 'by phone', null],
          ['deletePaymentHold', 'March', 'kind', 'dispute', null],
        ]);
        expect((await owner.get<ContractDetail>(`/contracts/${id}`)).body.version).to.equal(version);
      });

      it('refuses holds that would hold nothing', async () => {
        const { payments } = await enter([{ dueDate: '2026-03-01' }, { period: 'paid', receivedAmount: 1_000 }]);
        const paid = payments.find(({ period }) => period === 'paid');
        const open = payments.find(({ period }) => period !== 'paid');
        const path = `/collections/${open?.id}/hold`;
        const fields = async (body: object) => namedFields(await owner.put<FrameworkError>(path, body));
        expect(await fields({ kind: 'promise' })).to.deep.equal([400, ['until']]);
        expect(await fields({ kind: 'pause', until: '2026-03-14' })).to.deep.equal([400, ['until']]);
        expect(await fields({ kind: 'sleep', until: 'soon' })).to.deep.equal([400, ['kind', 'until']]);
        expect(await fields({})).to.deep.equal([400, ['kind']]);
        expect(await fields({ kind: 'promise', note: 7 })).to.deep.equal([400, ['note', 'until']]);
        expect((await owner.put(path, { kind: 'pause', until: '2026-03-15' })).status).to.equal(200);

        const settled = await owner.put<DomainError>(`/collections/${paid?.id}/hold`, { kind: 'pause' });
        expect([settled.status, settled.body.error.code]).to.deep.equal([409, 'NOTHING_OUTSTANDING']);
        expect((await owner.put(`/collections/${newId()}/hold`, { kind: 'pause' })).status).to.equal(404);
        expect((await owner.delete('/collections/nothing/hold')).status).to.equal(404);
      });

      it('shows a caller with a scope only its lines, and lets viewers change nothing', async () => {
        const subject = await owner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' });
        const { payments } = await enter([{ period: 'first', dueDate: '2026-03-01' }]);
        await enter([{ period: 'second', dueDate: '2026-03-02' }], { subjectId: subject.body.id });
        const scoped = await memberOf('finance', [subject.body.id]);
        expect(periods(await listed({}, scoped))).to.deep.equal(['second']);
        expect(periods(await listed({ subjectId: subject.body.id }))).to.deep.equal(['second']);
        const path = `/collections/${payments[0]?.id}/hold`;
        expect((await scoped.put(path, { kind: 'pause' })).status).to.equal(404);
        expect((await scoped.delete(path)).status).to.equal(404);
        expect((await scoped.get('/collections', { query: { subjectId: made.subjectId } })).status).to.equal(404);
        const deliveries = { query: { paymentId: payments[0]?.id ?? '' } };
        expect((await scoped.get('/collections/deliveries', deliveries)).status).to.equal(404);

        const viewer = await memberOf('viewer');
        expect((await viewer.put(path, { kind: 'pause' })).status).to.equal(403);
      });

      it('lists no deliveries before a reminder was decided on', async () => {
        const { id } = await enter([{ dueDate: '2026-03-01' }]);
        const all = await owner.get<ReminderDeliveryPage>('/collections/deliveries', { query: { contractId: id } });
        expect([all.status, all.body.items, all.body.total]).to.deep.equal([200, [], 0]);
        const query = { from: '2026-03-02', to: '2026-03-01' };
        expect(namedFields(await owner.get<FrameworkError>('/collections/deliveries', { query }))).to.deep.equal([
          400,
          ['to'],
        ]);
        expect((await owner.get('/collections/deliveries', { query: { contractId: newId() } })).status).to.equal(404);
      });
    },
    { clock: fakeClock('2026-03-14T17:00:00.000Z') },
  );
});
