import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../data-plane-agent/base/ids.js';
import type {
  ReminderDelivery,
  ReminderSweepInput,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { HistoryPage } from '../../data-plane-agent/plane/contract/records/history.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { systemPlanes } from '../../server/data-planes/system-plane.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock } from '../support/clock.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer, startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

const CHANNELS = '/tenant-admin/notification-channels';
const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 2, 15, 8);
const OVERDUE = '2026-03-14';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Channel {
  readonly id: string;
  readonly kind: string;
  readonly enabled: boolean;
  readonly lastError: string | null;
  readonly lastDeliveredAt: string | null;
}

const clock = fakeClock(START);
const environment = { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' };

/** An organisation that reminds through channels. */
async function collecting(server: TestServer) {
  const org: Administration = await administration(server);
  const planeOf = systemPlanes(
    { database: server.foundation.platform, clock, dataPlanes: server.foundation.dataPlanes },
    'test',
  );
  const tenantId = org.tenant.id;
  return {
    org,
    tenantId,
    plane: () => planeOf(tenantId),
    enter: async (lines: readonly Partial<PaymentLineInput>[], changes: Partial<ContractInput> = {}) => {
      const { status, body, text } = await org.asOwner.post<ContractDetail>(
        '/contracts',
        aContract({
          subjectId: org.subjectId,
          ownerId: org.owner.id,
          payments: lines.map((line) => aLine(line)),
          ...changes,
        }),
      );
      expect(status, text).to.equal(201);
      return body;
    },
    channel: async (body: object): Promise<Channel> => {
      const { status, body: made, text } = await org.asOwner.post<Channel>(CHANNELS, body);
      expect(status, text).to.equal(201);
      return made;
    },
    shown: async (id: string) => (await org.asOwner.get<Channel[]>(CHANNELS)).body.find((one) => one.id === id),
    /** Decides on the reminders of today. */
    decide: async ({ id, kind }: Channel, digest = 1): Promise<readonly ReminderDelivery[]> => {
      const plane = await planeOf(tenantId);
      const channel: ReminderSweepInput['channel'] = { id, kind, enabled: true, digest };
      return (await plane.decideReminders({ runId: newId(), channel, after: null, limit: 500 })).decided;
    },
    /** Delivers what is due, and waits for attempts that the schedule of the server has begun. */
    drain: async () => {
      await server.services.deliveries.drain(tenantId);
      await untilIdle(await planeOf(tenantId));
    },
    deliveries: async () => (await (await planeOf(tenantId)).listDeliveries({ pageSize: 200 })).items,
  };
}

type Collecting = Awaited<ReturnType<typeof collecting>>;

describe('the delivery of reminders', () => {
  forEachServer(
    (server, kind) => {
      let collector: Collecting;
      let receiver: Receiver;
      // One for each test: what earlier tests left in the outbox is still delivered.
      beforeEach(async () => {
        clock.set(START);
        receiver = await startReceiver();
        collector = await collecting(server());
      });
      afterEach(() => receiver.stop());
      const webhook = () =>
        collector.channel({ kind: 'webhook', target: `${receiver.url}/${newId()}`, secret: SECRET });
      const only = async (): Promise<ReminderDelivery> => {
        const found = await collector.deliveries();
        expect(found).to.have.length(1);
        return found[0] ?? expect.fail('no delivery');
      };

      it('sends a signed message about the line, once, and records whom it reached', async () => {
        const channel = await webhook();
        const contract = await collector.enter([{ dueDate: OVERDUE, receivedAmount: 400 }]);
        await collector.decide(channel);
        const before = receiver.requests.length;
        await collector.drain();
        await collector.drain();
        const [request, ...others] = receiver.requests.slice(before);
        expect(others).to.deep.equal([]);
        const verified = new Webhook(SECRET);
        // The library compares the signed time with the clock of this machine, not with the injected one.
        const signature = verified.sign(
          String(request?.headers['webhook-id']),
          new Date(clock.now()),
          request?.body ?? '',
        );
        expect(request?.headers['webhook-signature']).to.equal(signature);
        expect(JSON.parse(request?.body ?? '')).to.deep.include({
          type: 'reminder',
          timestamp: new Date(START).toISOString(),
        });
        expect((JSON.parse(request?.body ?? '') as { data: object }).data).to.deep.include({
          contractId: contract.id,
          contractNo: contract.contractNo,
          paymentId: contract.payments[0]?.id,
          dueDate: OVERDUE,
          amount: 1_000,
          receivedAmount: 400,
          outstandingAmount: 600,
          currencyCode: 'CNY',
          daysOverdue: 1,
          step: 'overdue_1',
        });
        const sent = await only();
        expect(sent).to.deep.include({ status: 'sent', attempts: 1, channelId: channel.id, kind: 'webhook' });
        expect(sent.recipients).to.have.length(1);
        expect(sent.recipients[0]).to.contain(`127.0.0.1:${receiver.port}`);
        expect(sent.subject).to.contain(contract.contractNo);
        expect(sent.sentAt).to.equal(new Date(START).toISOString());
        expect(await collector.shown(channel.id)).to.include({ lastDeliveredAt: new Date(START).toISOString() });
        const { body } = await collector.org.asOwner.get<HistoryPage>(`/contracts/${contract.id}/history`);
        expect(body.items.map(({ action }) => action)).to.include.members(['settleReminders', 'decideReminders']);
      });

      it('tries again after 1 and 5 minutes, with the same id', async () => {
        const channel = await webhook();
        await collector.enter([{ dueDate: OVERDUE }]);
        await collector.decide(channel);
        const before = receiver.requests.length;
        receiver.answers({ status: 500, body: 'database is down' });
        await collector.drain();
        expect(await only()).to.deep.include({
          status: 'queued',
          attempts: 1,
          lastError: 'the receiver answered 500: database is down',
        });
        clock.advance(50_000);
        await collector.drain();
        expect(receiver.requests.length - before).to.equal(1);
        clock.advance(10_000);
        await collector.drain();
        receiver.answers({ status: 200 });
        clock.advance(5 * MINUTE_MS);
        await collector.drain();
        const requests = receiver.requests.slice(before);
        expect(requests).to.have.length(3);
        expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
        expect(new Set(requests.map(({ body }) => body)).size).to.equal(1);
        expect(await only()).to.deep.include({ status: 'sent', attempts: 3, lastError: null, nextAttemptAt: null });
      });

      it('fails after the last attempt, or when two days have passed, and does not repeat the step', async () => {
        const channel = await webhook();
        await collector.enter([{ dueDate: OVERDUE }]);
        await collector.decide(channel);
        receiver.answers({ status: 503 });
        for (let hours = 0; hours < 40 && (await only()).status === 'queued'; hours++) {
          await collector.drain();
          clock.advance(hours < 1 ? MINUTE_MS : 60 * MINUTE_MS);
        }
        expect(await only()).to.deep.include({ status: 'failed', attempts: 8, nextAttemptAt: null });
        clock.set(START);
        expect(await collector.decide(channel)).to.deep.equal([]);

        const other = await collecting(server());
        const slow = await other.channel({ kind: 'webhook', target: `${receiver.url}/other` });
        await other.enter([{ dueDate: OVERDUE }]);
        await other.decide(slow);
        clock.advance(48 * 60 * MINUTE_MS);
        const before = receiver.requests.length;
        await other.drain();
        expect(receiver.requests.length).to.equal(before);
        expect((await other.deliveries())[0]).to.include({
          status: 'failed',
          lastError: 'it could not be delivered within two days',
        });
      });

      it('waits as long as the receiver asks, with all messages of the channel', async () => {
        const channel = await webhook();
        await collector.enter([{ dueDate: OVERDUE, period: 'one' }]);
        await collector.decide(channel);
        receiver.answers({ status: 429, headers: { 'retry-after': '7200' } });
        await collector.drain();
        await collector.enter([{ dueDate: OVERDUE, period: 'two' }]);
        await collector.decide(channel);
        receiver.answers({ status: 200 });
        const before = receiver.requests.length;
        clock.advance(119 * MINUTE_MS);
        await collector.drain();
        expect(receiver.requests.length).to.equal(before);
        clock.advance(MINUTE_MS);
        for (let i = 0; i < 3; i++) {
          await collector.drain();
          clock.advance(1_000);
        }
        expect((await collector.deliveries()).map(({ status, attempts }) => [status, attempts])).to.have.deep.members([
          ['sent', 2],
          ['sent', 1],
        ]);
      });

      it('reads an error in the body of an answer with status 200', async () => {
        const channel = await collector.channel({ kind: 'feishu', target: `${receiver.url}/hook` });
        await collector.enter([{ dueDate: OVERDUE }]);
        await collector.decide(channel);
        receiver.answers({ body: '{"code":19024,"msg":"Key Words Not Found"}' });
        await collector.drain();
        expect((await only()).lastError)
          .to.contain('19024')
          .and.to.contain('Key Words Not Found');
      });

      it('follows no redirect', async () => {
        const channel = await webhook();
        await collector.enter([{ dueDate: OVERDUE }]);
        await collector.decide(channel);
        receiver.answers({ status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data/' } });
        await collector.drain();
        expect((await only()).lastError).to.contain('redirect (307)');
      });

      it('a receiver that is gone disables the channel, and nothing more is sent through it', async () => {
        const channel = await webhook();
        await collector.enter([
          { dueDate: OVERDUE, period: 'one' },
          { dueDate: OVERDUE, period: 'two' },
        ]);
        await collector.decide(channel);
        const before = receiver.requests.length;
        receiver.answers({ status: 410 });
        for (let i = 0; i < 3; i++) {
          await collector.drain();
          clock.advance(1_000);
        }
        expect(receiver.requests.length - before).to.equal(1);
        expect(await collector.shown(channel.id)).to.include({ enabled: false, disabledReason: 'gone' });
        const found = await collector.deliveries();
        expect(found.map(({ status, reason }) => [status, reason])).to.have.deep.members([
          ['failed', null],
          ['skipped', 'CHANNEL_DISABLED'],
        ]);
        // The skipped one is sent by the next run with a channel.
        receiver.answers({ status: 200 });
        const next = await collector.decide(await webhook());
        expect(next.map(({ id }) => id)).to.deep.equal(
          found.filter(({ status }) => status === 'skipped').map(({ id }) => id),
        );
      });

      it('sends nothing about a line that was settled, held, moved or deleted after the decision', async () => {
        const channel = await webhook();
        const { payments } = await collector.enter(
          ['paid', 'held', 'moved', 'gone', 'open'].map((period) => ({ dueDate: OVERDUE, period })),
        );
        const deleted = await collector.enter([{ dueDate: OVERDUE, period: 'deleted contract' }]);
        const id = (name: string) => payments.find(({ period }) => period === name)?.id ?? '';
        await collector.decide(channel);
        const { asOwner } = collector.org;
        await asOwner.patch(`/payments/${id('paid')}/receipt`, { receivedAmount: 1_000 });
        await asOwner.put(`/collections/${id('held')}/hold`, { kind: 'dispute' });
        await asOwner.patch(`/payments/${id('moved')}`, { dueDate: '2026-04-30' });
        expect((await asOwner.delete(`/payments/${id('gone')}`)).status).to.equal(200);
        expect((await asOwner.delete(`/contracts/${deleted.id}`)).status).to.equal(200);
        const before = receiver.requests.length;
        for (let i = 0; i < 6; i++) {
          await collector.drain();
          clock.advance(1_000);
        }
        const bodies = receiver.requests
          .slice(before)
          .map(({ body }) => JSON.parse(body) as { data: { period: string } });
        expect(bodies.map(({ data }) => data.period)).to.deep.equal(['open']);
        const reasons = new Map((await collector.deliveries()).map((one) => [one.paymentId, one.reason ?? one.status]));
        expect(['paid', 'held', 'moved', 'gone', 'open'].map((name) => reasons.get(id(name)))).to.deep.equal([
          'SETTLED',
          'HELD',
          'RESCHEDULED',
          'DELETED',
          'sent',
        ]);
        expect(reasons.get(deleted.payments[0]?.id ?? '')).to.equal('DELETED');
      });

      it('leaves out of a digest what was settled meanwhile', async () => {
        const channel = await collector.channel({ kind: 'slack', target: `${receiver.url}/slack` });
        const { payments } = await collector.enter(
          ['one', 'two', 'three'].map((period) => ({ dueDate: OVERDUE, period })),
        );
        await collector.decide(channel, 20);
        await collector.org.asOwner.patch(`/payments/${payments[1]?.id}/receipt`, { receivedAmount: 1_000 });
        const before = receiver.requests.length;
        await collector.drain();
        const [request, ...others] = receiver.requests.slice(before);
        expect(others).to.deep.equal([]);
        expect(request?.body).to.contain('one').and.to.contain('three').and.not.to.contain('two');
        expect((await collector.deliveries()).map(({ status }) => status).toSorted()).to.deep.equal([
          'sent',
          'sent',
          'skipped',
        ]);
      });

      it('is repeated with the same id when the process died before it recorded the delivery', async () => {
        const channel = await webhook();
        await collector.enter([{ dueDate: OVERDUE }]);
        await collector.decide(channel);
        const plane = await collector.plane();
        const { messages } = await plane.leaseMessages({ lane: channel.id, limit: 1, leaseMs: 120_000 });
        const before = receiver.requests.length;
        await collector.drain();
        expect(receiver.requests.length, 'leased by the process that died').to.equal(before);
        clock.advance(2 * MINUTE_MS);
        await collector.drain();
        expect(receiver.requests.slice(before).map(({ headers }) => headers['webhook-id'])).to.deep.equal([
          messages[0]?.id,
        ]);
        // The process that was believed dead records nothing any more.
        const late = await plane.settleReminders({
          id: messages[0]?.id ?? '',
          attempts: 1,
          error: 'late',
          recipients: [],
          subject: null,
          withdrawn: [],
        });
        expect(late).to.deep.equal({ state: 'lost' });
        expect(await only()).to.include({ status: 'sent', attempts: 2 });
      });

      it('keeps to the pace of a chat: one message in three seconds', async () => {
        const channel = await collector.channel({ kind: 'wecom', target: `${receiver.url}/wecom` });
        receiver.answers({ body: '{"errcode":0,"errmsg":"ok"}' });
        await collector.enter(Array.from({ length: 41 }, (_, i) => ({ dueDate: OVERDUE, period: `no. ${i}` })));
        await collector.decide(channel, 20);
        const before = receiver.requests.length;
        const arrived: number[] = [];
        for (let second = 0; second < 7; second++) {
          await collector.drain();
          arrived.push(receiver.requests.length - before);
          clock.advance(1_000);
        }
        expect(arrived).to.deep.equal([1, 1, 1, 2, 2, 2, 3]);
      });

      if (kind !== 'remote')
        it('sends nothing for an organisation that is suspended, and what waited when it is active again', async () => {
          const channel = await webhook();
          await collector.enter([{ dueDate: OVERDUE }]);
          await collector.decide(channel);
          const before = receiver.requests.length;
          const suspend = (status: 'suspended' | 'active') =>
            server().foundation.platform.write({ tenantId: null }, (tx) =>
              tx.run('UPDATE tenants SET status = ? WHERE id = ?', [status, collector.tenantId]),
            );
          await suspend('suspended');
          await server().schedules.run('outbox');
          expect(receiver.requests.length).to.equal(before);
          await suspend('active');
          clock.advance(60 * MINUTE_MS);
          await collector.drain();
          expect(receiver.requests.length - before).to.equal(1);
        });
    },
    { clock, env: environment },
  );

  describe('by mail', () => {
    let server: TestServer;
    let smtp: MailServer;
    let collector: Collecting;
    before(async () => {
      smtp = await startMailServer();
      server = await startServer({
        clock,
        env: { ...environment, SMTP_URL: smtp.url, MAIL_FROM: 'duebook@example.test' },
      });
    });
    after(async () => {
      await server.stop();
      await smtp.stop();
    });
    beforeEach(async () => {
      clock.set(START);
      collector = await collecting(server);
    });
    /** Lets everything out at the pace of the channel. */
    const mailed = async (count: number) => {
      const before = smtp.mails.length;
      for (let i = 0; i <= count; i++) {
        await collector.drain();
        clock.advance(1_000);
      }
      return smtp.mails.slice(before);
    };

    it('goes to the owner of the contract, an escalation to the superior as well, the last one to the administrators', async () => {
      const sales = await collector.org.join({ roleCode: 'sales' });
      const boss = await collector.org.join({ roleCode: 'manager' });
      const admin = await collector.org.join({ roleCode: 'admin' });
      const channel = await collector.channel({ kind: 'email' });
      const people = { ownerId: sales.id, ownerSuperiorId: boss.id };
      await collector.enter([{ period: 'P1', dueDate: OVERDUE }], people);
      await collector.enter([{ period: 'P2', dueDate: '2026-03-08' }], people);
      await collector.enter([{ period: 'P3', dueDate: '2025-12-15' }], people);
      await collector.decide(channel);
      const mails = await mailed(3);
      const to = new Map(mails.map(({ parsed, to: addresses }) => [/P[123]/.exec(parsed.text ?? '')?.[0], addresses]));
      expect(to.get('P1')).to.have.members([sales.email]);
      expect(to.get('P2')).to.have.members([sales.email, boss.email]);
      expect(to.get('P3')).to.have.members([sales.email, boss.email, admin.email, collector.org.owner.email]);
      const recorded = (await collector.deliveries()).map(({ recipients }) => recipients.length);
      expect(recorded).to.have.members([1, 2, 4]);
    });

    it('goes to the owner of the organisation when the owner of the contract has left', async () => {
      const gone = await collector.org.join({ roleCode: 'sales' });
      const channel = await collector.channel({ kind: 'email' });
      await collector.enter([{ dueDate: OVERDUE }], { ownerId: gone.id });
      await collector.decide(channel);
      await server.foundation.platform.write({ tenantId: null }, (tx) =>
        tx.run("UPDATE members SET status = 'disabled' WHERE id = ?", [gone.id]),
      );
      expect((await mailed(1)).flatMap(({ to }) => to)).to.deep.equal([collector.org.owner.email]);
    });

    it('goes to the addresses of the channel instead of the owner', async () => {
      const channel = await collector.channel({ kind: 'email', target: 'ar@acme.test, cfo@acme.test' });
      await collector.enter([{ dueDate: OVERDUE }]);
      await collector.decide(channel);
      expect((await mailed(1)).flatMap(({ to }) => to)).to.have.members(['ar@acme.test', 'cfo@acme.test']);
    });

    it('is in the language of the organisation', async () => {
      await collector.org.asOwner.patch('/tenant-admin/settings', { defaultLanguage: 'zh-CN' });
      const channel = await collector.channel({ kind: 'email' });
      await collector.enter([{ dueDate: OVERDUE }]);
      await collector.decide(channel);
      const [mail] = await mailed(1);
      expect(mail?.parsed.text).to.match(/逾期/);
    });
  });
});

/** Waits, at most half a second, until no due message is leased. */
async function untilIdle(plane: BoundPlane<Operations>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { items } = await plane.listDeliveries({ pageSize: 200, status: 'queued' });
    const { lanes } = await plane.listDueLanes({});
    const due = items.filter(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '') <= clock.now());
    if (due.every(({ channelId }) => lanes.some(({ lane }) => lane === channelId))) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
