import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type {
  CollectionPage,
  ReminderDeliveryPage,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { BulkReminderResult, ReminderResult } from '../../server/collections/reminders.schemas.js';
import { fakeClock } from '../support/clock.js';
import { namedFields, type Client, type DomainError, type FrameworkError } from '../support/http.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { CHANNELS, remindingOrganisation, type RemindingOrganisation } from '../support/reminded.js';
import { forEachServer } from '../support/server.js';

/** 17:00 in Shanghai on 15 March. */
const clock = fakeClock('2026-03-15T09:00:00.000Z');
const MINUTE_MS = 60_000;

interface WebhookBody {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('reminders by hand over HTTP', () => {
  forEachServer(
    (server) => {
      let org: RemindingOrganisation;
      let receiver: Receiver;
      before(async () => {
        receiver = await startReceiver();
        await server().schedules.stop(); // they would send what other tests leave in the queue
      });
      after(() => receiver.stop());
      beforeEach(async () => {
        org = await remindingOrganisation(server());
        receiver.answers({ body: 'ok' });
      });

      const addWebhook = (body: object = {}) =>
        org.addChannel({ kind: 'webhook', name: 'Ledger', target: `${receiver.url}/${newId()}`, ...body });
      const remind = (body: object, headers: Record<string, string> = {}) =>
        org.asOwner.post<ReminderResult>('/collections/remind', body, { headers });
      const remindAll = (body: object = {}, headers: Record<string, string> = {}) =>
        org.asOwner.post<BulkReminderResult>('/collections/remind-bulk', body, { headers });
      const deliveries = async (query: Record<string, string> = {}) =>
        (await org.asOwner.get<ReminderDeliveryPage>('/collections/deliveries', { query })).body.items;
      const received = () => receiver.requests.length;
      const bodies = (from: number) => receiver.requests.slice(from).map(({ body }) => JSON.parse(body) as WebhookBody);
      const refusal = async (answer: Promise<{ status: number; body: unknown }>) => {
        const { status, body } = await answer;
        const { code, details } = (body as DomainError).error;
        return [status, code, details];
      };

      describe('one reminder', () => {
        it('is sent now through the default channel, and listed', async () => {
          const channelId = await addWebhook();
          const { line, contractNo } = await org.enter([{ dueDate: '2026-03-01', receivedAmount: 400 }]);
          const before = received();
          const { status, body } = await remind(line);
          expect(status).to.equal(200);
          expect(body).to.deep.equal({
            deliveryId: body.deliveryId,
            status: 'sent',
            channelId,
            renderedSubject: `14 days overdue: ${contractNo}, 600.00 CNY from Harbour Logistics Ltd`,
            sentAt: new Date(clock.now()).toISOString(),
            error: null,
          });
          const [message] = bodies(before);
          expect(received()).to.equal(before + 1);
          expect(message?.type).to.equal('reminder');
          expect(message?.data).to.deep.include({
            ...line,
            contractNo,
            period: '2026-04',
            dueDate: '2026-03-01',
            amount: 1_000,
            receivedAmount: 400,
            outstandingAmount: 600,
            currencyCode: 'CNY',
            daysOverdue: 14,
            step: 'manual',
          });
          const [delivery] = await deliveries(line);
          expect(delivery).to.deep.include({
            id: body.deliveryId,
            ...line,
            step: 'manual',
            occurrence: 1,
            channelId,
            kind: 'webhook',
            status: 'sent',
            attempts: 1,
            subject: body.renderedSubject,
            runId: null,
            sentAt: body.sentAt,
          });
          expect(delivery?.recipients).to.have.length(1);
          const { body: list } = await org.asOwner.get<CollectionPage>('/collections');
          expect(list.items[0]).to.deep.include({
            reminderLevel: 'manual',
            reminderCount: 1,
            lastRemindedAt: body.sentAt,
            lastChannelId: channelId,
          });
        });

        it('goes through the given channel, also before the due date', async () => {
          await addWebhook();
          const other = await addWebhook({ name: 'Other' });
          const { line } = await org.enter([{ dueDate: '2026-06-01' }]);
          const { body } = await remind({ ...line, channelId: other });
          expect(body).to.include({ status: 'sent', channelId: other });
          expect(body.renderedSubject).to.match(/^Due in 78 days: /);
        });

        it('answers 200 when the receiver refuses it: queued when it is tried again, failed when it is not', async () => {
          const channelId = await addWebhook();
          const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
          receiver.answers({ status: 500, body: 'database is down' });
          const queued = await remind(line);
          expect([queued.status, queued.body.status, queued.body.sentAt, queued.body.error]).to.deep.equal([
            200,
            'queued',
            null,
            'the receiver answered 500: database is down',
          ]);
          expect(queued.body.renderedSubject).to.match(/^14 days overdue: /);
          const [waiting] = await deliveries(line);
          expect(waiting).to.deep.include({ status: 'queued', attempts: 1, lastError: queued.body.error });
          expect(waiting?.nextAttemptAt).not.to.equal(null);

          clock.advance(MINUTE_MS);
          receiver.answers({ status: 410 });
          const failed = await remind(line);
          expect([failed.status, failed.body.status, failed.body.sentAt]).to.deep.equal([200, 'failed', null]);
          expect(failed.body.error).to.contain('410');
          expect(await refusal(remind(line))).to.deep.equal([409, 'CHANNEL_DISABLED', { channelId }]);
        });

        it('waits for the pace of the channel, and says that it is queued', async () => {
          await addWebhook();
          const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
          expect((await remind(line)).body.status).to.equal('sent');
          const { status, body } = await remind(line); // the clock stands still
          expect([status, body.status, body.error, body.sentAt]).to.deep.equal([200, 'queued', null, null]);
          expect(body.renderedSubject).to.match(/^14 days overdue: /);
        });

        it('is refused for settled and held lines', async () => {
          await addWebhook();
          const settled = await org.enter([{ dueDate: '2026-03-01', receivedAmount: 1_000 }]);
          const held = await org.enter([{ dueDate: '2026-03-01' }]);
          const before = received();
          const { paymentId } = held.line;
          await org.asOwner.put(`/collections/${paymentId}/hold`, { kind: 'promise', until: '2026-03-15' });
          expect(await refusal(remind(settled.line))).to.deep.equal([
            409,
            'NOTHING_OUTSTANDING',
            { paymentId: settled.line.paymentId },
          ]);
          expect(await refusal(remind(held.line))).to.deep.equal([
            409,
            'LINE_HELD',
            { paymentId, kind: 'promise', until: '2026-03-15' },
          ]);
          expect(received()).to.equal(before);
          expect(await deliveries()).to.deep.equal([]);
        });

        it('names the channel that is missing, disabled or unknown', async () => {
          const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
          expect(await refusal(remind(line))).to.deep.equal([409, 'NO_DEFAULT_CHANNEL', {}]);
          const channelId = await addWebhook();
          await org.asOwner.patch(`${CHANNELS}/${channelId}`, { enabled: false });
          for (const body of [line, { ...line, channelId }])
            expect(await refusal(remind(body))).to.deep.equal([409, 'CHANNEL_DISABLED', { channelId }]);
          const foreign = await (await remindingOrganisation(server())).addChannel({ kind: 'email' });
          for (const unknown of [newId(), 'x', foreign])
            expect(await refusal(remind({ ...line, channelId: unknown }))).to.deep.equal([
              422,
              'REFERENCE_INVALID',
              { field: 'channelId', value: unknown },
            ]);
        });

        it('refuses unknown lines, wrong fields and callers without the right', async () => {
          await addWebhook();
          const { line, id } = await org.enter([{ dueDate: '2026-03-01' }]);
          const other = await org.enter([{ dueDate: '2026-03-01' }]);
          const before = received();
          for (const [body, field] of [
            [{ ...line, contractId: newId() }, 'contractId'],
            [{ ...line, contractId: 'x' }, 'contractId'],
            [{ ...line, paymentId: newId() }, 'paymentId'],
            [{ contractId: id, paymentId: other.line.paymentId }, 'paymentId'],
          ] as const) {
            const [status, code, details] = await refusal(remind(body));
            expect([status, code]).to.deep.equal([422, 'REFERENCE_INVALID']);
            expect(details).to.include({ field });
          }
          const fields = async (body: object) =>
            namedFields(await org.asOwner.post<FrameworkError>('/collections/remind', body));
          expect(await fields({})).to.deep.equal([400, ['contractId', 'paymentId']]);
          expect(await fields({ ...line, paymentId: 7, channel: 'x' })).to.deep.equal([400, ['channel', 'paymentId']]);
          const subject = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' });
          const { client: scoped } = await org.join({ roleCode: 'finance', subjectScope: [subject.body.id] });
          expect((await scoped.post('/collections/remind', line)).status).to.equal(422);
          const { client: viewer } = await org.join({ roleCode: 'viewer' });
          expect((await viewer.post('/collections/remind', line)).status).to.equal(403);
          expect(received()).to.equal(before);
        });

        it('that is repeated with its key is answered also when its line and channel were deleted since', async () => {
          const channelId = await addWebhook();
          const { line, id } = await org.enter([{ dueDate: '2026-03-01' }]);
          await remind(line);
          const key = { 'idempotency-key': newId() };
          expect((await remind(line, key)).body).to.include({ status: 'queued', channelId }); // the clock stands still
          await org.asOwner.delete(`/contracts/${id}`);
          await org.asOwner.delete(`${CHANNELS}/${channelId}`);
          const { status, body } = await remind(line, key);
          expect([status, body.status, body.renderedSubject]).to.deep.equal([200, 'queued', null]);
        });

        it('is sent once for an idempotency key, whatever became of the channel', async () => {
          await addWebhook();
          const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
          const before = received();
          const key = { 'idempotency-key': newId() };
          receiver.answers({ status: 410 });
          const first = await remind(line, key);
          const repeated = await remind(line, key);
          expect([repeated.status, repeated.text]).to.deep.equal([200, first.text]);
          expect(repeated.headers.get('idempotency-replayed')).to.equal('true');
          expect(received()).to.equal(before + 1);
          const { line: another } = await org.enter([{ dueDate: '2026-03-01' }]);
          expect((await refusal(remind(another, key)))[1]).to.equal('IDEMPOTENCY_KEY_REUSED');
        });
      });

      describe('reminders of all lines', () => {
        /** Each message arrives a second after the one before it. */
        const atItsPace = () =>
          receiver.answers(() => {
            clock.advance(1_000);
            return { body: 'ok' };
          });

        it('are sent for each line of the tab; held lines are skipped', async () => {
          const channelId = await addWebhook();
          const { payments, id: contractId } = await org.enter([
            { period: 'late', dueDate: '2026-03-01' },
            { period: 'held', dueDate: '2026-03-02' },
            { period: 'settled', dueDate: '2026-03-03', receivedAmount: 1_000 },
            { period: 'later', dueDate: '2026-03-14' },
            { period: 'soon', dueDate: '2026-03-20' },
          ]);
          const idOf = (period: string) => payments.find((line) => line.period === period)?.id ?? '';
          await org.asOwner.put(`/collections/${idOf('held')}/hold`, { kind: 'dispute' });
          const before = received();
          atItsPace();
          const { status, body } = await remindAll();
          expect(status).to.equal(200);
          const { runId, results, ...counts } = body;
          expect(counts).to.deep.equal({ matched: 3, sent: 2, queued: 0, failed: 0, skipped: 1 });
          expect(
            results.map(({ deliveryId: _deliveryId, recipients: _recipients, ...result }) => result),
          ).to.deep.equal([
            { paymentId: idOf('late'), contractId, status: 'sent', reason: null, channelId },
            { paymentId: idOf('held'), contractId, status: 'skipped', reason: 'HELD', channelId },
            { paymentId: idOf('later'), contractId, status: 'sent', reason: null, channelId },
          ]);
          expect(results.map(({ recipients }) => recipients.length)).to.deep.equal([1, 0, 1]);
          expect(bodies(before).map(({ data }) => data['period'])).to.have.members(['late', 'later']);
          const listed = await deliveries();
          expect(listed.map(({ id }) => id)).to.have.members(results.map(({ deliveryId }) => deliveryId));
          expect(new Set(listed.map((item) => item.runId))).to.deep.equal(new Set([runId]));
          clock.advance(MINUTE_MS);
          expect((await remindAll({ tab: 'soon', channelId })).body).to.include({ matched: 1, sent: 1 });
        });

        it('go to a chat as digests of up to 20 lines', async () => {
          await org.addChannel({ kind: 'slack', name: 'Team', target: `${receiver.url}/${newId()}` });
          await org.enter(Array.from({ length: 23 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-01' })));
          const before = received();
          receiver.answers(() => {
            clock.advance(10_000);
            return { body: 'ok' };
          });
          const { body } = await remindAll();
          expect(body).to.include({ matched: 23, sent: 23, queued: 0 });
          expect(received()).to.equal(before + 2);
          expect(receiver.requests.at(before)?.body).to.contain('20 open payments');
        });

        it('that cannot be sent within the request are queued', async () => {
          await addWebhook();
          await org.enter(Array.from({ length: 4 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-01' })));
          const { body } = await remindAll(); // the clock stands still, so the pace of the channel allows one
          expect(body).to.include({ matched: 4, sent: 1, queued: 3, failed: 0, skipped: 0 });
          expect((await deliveries({ status: 'queued' })).length).to.equal(3);
        });

        it('are sent again by another request, but not by the same one', async () => {
          await addWebhook();
          await org.enter([{ dueDate: '2026-03-01' }]);
          const key = { 'idempotency-key': newId() };
          const before = received();
          atItsPace();
          const first = await remindAll({}, key);
          await org.enter([{ dueDate: '2026-03-01' }]);
          const repeated = await remindAll({}, key);
          expect([repeated.text, repeated.headers.get('idempotency-replayed')]).to.deep.equal([first.text, 'true']);
          expect(received()).to.equal(before + 1);
          expect((await refusal(remindAll({ tab: 'all' }, key)))[1]).to.equal('IDEMPOTENCY_KEY_REUSED');
          clock.advance(MINUTE_MS);
          expect((await remindAll()).body).to.include({ matched: 2, sent: 2 });
          const { body: list } = await org.asOwner.get<CollectionPage>('/collections');
          expect(list.items.map(({ reminderCount }) => reminderCount)).to.have.members([1, 2]);
        });

        it('are limited to a subject company and to the scope of the caller', async () => {
          const channelId = await addWebhook();
          const { body: subject } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', {
            name: 'Second',
          });
          await org.enter([{ period: 'first', dueDate: '2026-03-01' }]);
          await org.enter([{ period: 'second', dueDate: '2026-03-01' }], { subjectId: subject.id });
          const { client: scoped } = await org.join({ roleCode: 'finance', subjectScope: [subject.id] });
          const periods = async (client: Client, body: object) => {
            clock.advance(MINUTE_MS);
            const before = received();
            const { status } = await client.post('/collections/remind-bulk', body);
            return [status, bodies(before).map(({ data }) => data['period'])];
          };
          atItsPace();
          expect(await periods(org.asOwner, { subjectId: subject.id })).to.deep.equal([200, ['second']]);
          expect(await periods(scoped, { channelId })).to.deep.equal([200, ['second']]);
          expect(await periods(scoped, { subjectId: org.subjectId })).to.deep.equal([422, []]);
          expect(await periods(org.asOwner, { subjectId: newId() })).to.deep.equal([422, []]);
        });

        it('answer with no lines, and refuse what one reminder refuses', async () => {
          expect(await refusal(remindAll())).to.deep.equal([409, 'NO_DEFAULT_CHANNEL', {}]);
          const channelId = await addWebhook();
          const { body } = await remindAll();
          expect(body).to.deep.include({ matched: 0, sent: 0, queued: 0, failed: 0, skipped: 0, results: [] });
          expect((await refusal(remindAll({ channelId: newId() })))[1]).to.equal('REFERENCE_INVALID');
          await org.asOwner.patch(`${CHANNELS}/${channelId}`, { enabled: false });
          expect((await refusal(remindAll()))[1]).to.equal('CHANNEL_DISABLED');
          const fields = async (sent: object) =>
            namedFields(await org.asOwner.post<FrameworkError>('/collections/remind-bulk', sent));
          expect(await fields({ tab: 'due', contractId: newId() })).to.deep.equal([400, ['contractId', 'tab']]);
          const { client: viewer } = await org.join({ roleCode: 'viewer' });
          expect((await viewer.post('/collections/remind-bulk', {})).status).to.equal(403);
        });
      });
    },
    { clock, env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } },
  );
});
