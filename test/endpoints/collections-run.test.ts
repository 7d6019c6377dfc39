import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ReminderDeliveryPage } from '../../data-plane-agent/plane/contract/records/collections.js';
import type { HistoryPage } from '../../data-plane-agent/plane/contract/records/history.js';
import { makeMember, signIn } from '../support/accounts.js';
import { runningClock } from '../support/clock.js';
import type { Client } from '../support/http.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { reminding, shownDelivery, type Reminding } from '../support/reminding.js';
import { forEachServer } from '../support/server.js';

interface Webhook {
  readonly type: string;
  readonly data: { readonly paymentId: string; readonly step: string };
}

describe('automatic reminders that are run now', () => {
  forEachServer(
    (server, kind) => {
      let org: Reminding;
      let owner: Client;
      let receiver: Receiver;
      before(async () => {
        receiver = await startReceiver();
      });
      after(() => receiver.stop());
      beforeEach(async () => {
        receiver.answers({ body: 'ok' });
        org = await reminding(server());
        owner = await org.owner();
      });
      const webhook = (path = newId()) =>
        org.addChannel({ kind: 'webhook', name: 'Receivables', target: `${receiver.url}/${path}` });
      const received = (path: string) =>
        receiver.requests
          .filter((request) => request.path === `/${path}`)
          .map(({ body }) => JSON.parse(body) as Webhook);

      it('decides on each open line and sends, and when repeated does nothing more', async () => {
        const path = newId();
        const channel = await webhook(path);
        const { payments } = await org.enter([
          { period: 'today', dueDate: '2026-03-15' },
          { period: 'late', dueDate: '2026-02-15' },
          { period: 'far', dueDate: '2026-06-15' },
        ]);
        const { status, body, text } = await org.run(owner);
        expect(status, text).to.equal(200);
        const counts = { sent: 2, queued: 0, skipped: 0, superseded: 0, failed: 0 };
        expect(body).to.deep.include({ localDate: '2026-03-15', evaluated: 2, ...counts });
        expect(body.results.map(shownDelivery)).to.deep.equal(['escalated 4 sent', 'due_day sent']);
        const [late] = body.results;
        expect(late).to.deep.include({
          paymentId: payments.find(({ period }) => period === 'late')?.id,
          channelId: channel.id,
          reason: null,
        });
        expect(late?.recipients).to.have.length(1);
        expect(received(path).map(({ type, data }) => [type, data.step])).to.have.deep.members([
          ['reminder', 'escalated'],
          ['reminder', 'due_day'],
        ]);
        expect((await org.deliveries({ runId: body.runId })).map(({ id }) => id)).to.deep.equal(
          body.results.map(({ deliveryId }) => deliveryId),
        );

        const again = await org.run(owner);
        expect(again.body).to.deep.include({ evaluated: 2, ...counts, sent: 0, results: [] });
        expect(again.body.runId).not.to.equal(body.runId);
        expect(await org.deliveries({ runId: again.body.runId })).to.deep.equal([]);
        expect(received(path)).to.have.length(2);
      });

      it('gives the same answer again under the same key, and sends nothing', async () => {
        const path = newId();
        await webhook(path);
        await org.enter([{ dueDate: '2026-03-15' }]);
        const headers = { 'Idempotency-Key': newId() };
        const first = await org.run(owner, headers);
        const second = await org.run(owner, headers);
        expect(second.headers.get('Idempotency-Replayed')).to.equal('true');
        expect(second.body).to.deep.equal(first.body);
        expect(second.body.sent).to.equal(1);
        expect(received(path)).to.have.length(1);
      });

      it('shows what is tried again, and the history shows each step of it', async () => {
        await webhook();
        receiver.answers({ status: 500, body: 'database is down' });
        const { id } = await org.enter([{ dueDate: '2026-03-15' }]);
        const { body } = await org.run(owner);
        expect(body).to.include({ sent: 0, queued: 1 });
        const [delivery] = await org.deliveries({ runId: body.runId });
        expect(delivery).to.deep.include({
          id: body.results[0]?.deliveryId,
          status: 'queued',
          attempts: 1,
          lastError: 'the receiver answered 500: database is down',
        });
        const { items } = (await owner.get<HistoryPage>(`/contracts/${id}/history`)).body;
        expect(items.slice(0, 2).map(({ action }) => action)).to.deep.equal(['settleReminders', 'decideReminders']);
        const changed = (at: number) =>
          items[at]?.changes.map(({ recordName, field, before, after: is }) => [recordName, field, before, is]);
        expect(changed(0)).to.deep.include(['due_day', 'lastError', null, delivery?.lastError]);
        expect(changed(1)).to.deep.include(['due_day', 'status', null, 'queued']);
      });

      it('says why lines are not reminded of: without a channel, with a disabled one, and on hold', async () => {
        const { payments } = await org.enter([{ dueDate: '2026-03-15' }]);
        const none = (await org.run(owner)).body;
        expect(none).to.include({ skipped: 1, sent: 0, queued: 0 });
        expect(none.results.map(({ reason, channelId }) => [reason, channelId])).to.deep.equal([['NO_CHANNEL', null]]);

        const { id } = await webhook();
        await owner.patch(`/tenant-admin/notification-channels/${id}`, { enabled: false });
        await org.enter([{ dueDate: '2026-03-14' }]);
        expect((await org.run(owner)).body.results.map(shownDelivery)).to.deep.equal([
          'overdue_1 skipped CHANNEL_DISABLED',
        ]);
        await owner.patch(`/tenant-admin/notification-channels/${id}`, { enabled: true });
        await owner.put(`/collections/${payments[0]?.id}/hold`, { kind: 'pause' });
        expect((await org.run(owner)).body.results.map(shownDelivery)).to.deep.equal(['overdue_1 sent']);
      });

      it('covers the scope of the caller, of which others see nothing', async () => {
        await webhook();
        const subject = (await owner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' })).body;
        await org.enter([{ dueDate: '2026-03-15' }]);
        const second = await org.enter([{ dueDate: '2026-03-15' }], { subjectId: subject.id });
        const memberOf = async (roleCode: string, subjectScope: readonly string[] | null) => {
          const member = await makeMember(server().services, org.made, { roleCode, subjectScope });
          return (await signIn(server().client, { tenant: org.made.tenant, member })).client;
        };
        const mine = await org.run(await memberOf('finance', [subject.id]));
        expect(mine.body).to.include({ evaluated: 1, sent: 1 });
        expect(mine.body.results.map(({ contractId }) => contractId)).to.deep.equal([second.id]);
        expect((await org.run(owner)).body).to.include({ evaluated: 2, sent: 1 });

        const others = await memberOf('finance', [org.made.subjectId]);
        const query = { runId: mine.body.runId };
        expect((await others.get<ReminderDeliveryPage>('/collections/deliveries', { query })).body.total).to.equal(0);
        expect((await org.run(await memberOf('viewer', null))).status).to.equal(403);
        expect((await owner.post('/collections/run-due-reminders', { force: true })).status).to.equal(400);
        expect((await owner.get('/collections/deliveries', { query: { runId: 'none' } })).status).to.equal(404);
      });

      if (kind !== 'postgres')
        it('sends the lines of a chat channel as digests', async () => {
          const path = newId();
          await org.addChannel({ kind: 'slack', name: 'Team', target: `${receiver.url}/${path}` });
          await org.enter(Array.from({ length: 25 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-14' })));
          const { evaluated, sent, queued } = (await org.run(owner)).body;
          expect([evaluated, sent + queued]).to.deep.equal([25, 25]);
          expect(sent).to.be.at.least(20);
          expect(receiver.requests.filter((request) => request.path === `/${path}`)).to.have.length.below(3);
        });

      it('answers the first 200 of many', async () => {
        await org.enter(Array.from({ length: 220 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-14' })));
        const { body } = await org.run(owner);
        expect([body.evaluated, body.skipped, body.results.length]).to.deep.equal([220, 220, 200]);
      });

      it('decides once on each line however many members run it at the same time', async () => {
        const path = newId();
        await webhook(path);
        await org.enter(Array.from({ length: 12 }, (_, i) => ({ period: `${i}`, dueDate: '2026-03-14' })));
        const runs = await Promise.all(Array.from({ length: 4 }, () => org.run(owner)));
        const ids = runs.flatMap(({ body }) => body.results.map(({ paymentId }) => paymentId));
        expect([ids.length, new Set(ids).size]).to.deep.equal([12, 12]);
        // The others follow, at the pace of the channel.
        const sent = received(path).map(({ data }) => data.paymentId);
        expect(sent).to.have.length.above(0);
        expect(new Set(sent).size).to.equal(sent.length);
      });
    },
    { clock: runningClock('2026-03-14T17:00:00.000Z'), env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } },
  );
});
