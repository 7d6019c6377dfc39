import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ChannelStore } from '../../server/store/channels.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock } from '../support/clock.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { forEachServer, startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

const CHANNELS = '/tenant-admin/notification-channels';

interface Channel {
  id: string;
  enabled: boolean;
  isDefault: boolean;
  lastError: string | null;
  lastErrorAt: string | null;
  lastDeliveredAt: string | null;
  disabledReason: string | null;
}
interface Tested {
  delivered: boolean;
  status: number | null;
  error: string | null;
}

const clock = fakeClock(Date.UTC(2026, 2, 6, 8));
const at = () => new Date(clock.now()).toISOString();

forEachServer(
  (server) => {
    let org: Administration;
    let receiver: Receiver;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.stop());
    beforeEach(async () => {
      org = await administration(server());
      receiver.answers({ body: 'ok' });
    });
    const add = async (body: object = {}) =>
      (await org.asOwner.post<Channel>(CHANNELS, { kind: 'webhook', target: `${receiver.url}/sEcReT`, ...body })).body;
    const test = (id: string, headers: Record<string, string> = {}) =>
      org.asOwner.post<Tested>(`${CHANNELS}/${id}/test`, undefined, { headers });
    const shown = async (id: string) =>
      (await org.asOwner.get<Channel[]>(CHANNELS)).body.find((channel) => channel.id === id);

    describe('a test of a notification channel', () => {
      it('sends a message now, and shows the delivery on the channel', async () => {
        const channel = await add({ name: 'Receivables', secret: 'whsec_c2VjcmV0' });
        expect(channel).to.include({ lastError: null, lastErrorAt: null, lastDeliveredAt: null, disabledReason: null });
        const answer = await test(channel.id);
        expect([answer.status, answer.body]).to.deep.equal([200, { delivered: true, status: 200, error: null }]);
        const request = receiver.requests.at(-1);
        expect(request?.headers).to.include.keys('webhook-id', 'webhook-timestamp', 'webhook-signature');
        expect(JSON.parse(request?.body ?? '')).to.deep.equal({
          type: 'channel.test',
          timestamp: at(),
          data: { tenantName: org.tenant.name, channelName: 'Receivables' },
        });
        expect(await shown(channel.id)).to.deep.include({ lastDeliveredAt: at(), lastError: null });
        const [entry] = (await org.audit()).filter(({ action }) => action === 'channel_tested');
        expect(entry).to.deep.include({ recordId: channel.id, changes: { delivered: true, status: 200 } });
      });

      it('answers 200 with the refusal, which the channel shows until another one replaces it', async () => {
        const channel = await add();
        receiver.answers({ status: 500, body: 'database is down' });
        const error = 'the receiver answered 500: database is down';
        expect((await test(channel.id)).body).to.deep.equal({ delivered: false, status: 500, error });
        const failedAt = at();
        expect(await shown(channel.id)).to.deep.include({ lastError: error, lastErrorAt: failedAt, enabled: true });
        clock.advance(60_000);
        receiver.answers({ status: 204 });
        expect((await test(channel.id)).body).to.deep.equal({ delivered: true, status: 204, error: null });
        expect(await shown(channel.id)).to.deep.include({
          lastError: error,
          lastErrorAt: failedAt,
          lastDeliveredAt: at(),
        });
      });

      it('disables a channel whose receiver is gone, once in the audit, until it is enabled or gets another target', async () => {
        const channel = await add();
        const path = `${CHANNELS}/${channel.id}`;
        receiver.answers({ status: 410 });
        for (let times = 0; times < 2; times++)
          expect((await test(channel.id)).body).to.include({ delivered: false, status: 410 });
        expect(await shown(channel.id)).to.include({ enabled: false, isDefault: true, disabledReason: 'gone' });
        const entries = (await org.audit()).filter(({ action }) => action === 'channel_disabled');
        expect(entries.map(({ actorId, recordId, changes }) => ({ actorId, recordId, changes }))).to.deep.equal([
          { actorId: null, recordId: channel.id, changes: { enabled: { from: true, to: false }, reason: 'gone' } },
        ]);
        expect((await org.asOwner.patch<Channel>(path, { name: 'Renamed' })).body.disabledReason).to.equal('gone');
        expect((await org.asOwner.patch<Channel>(path, { enabled: true })).body).to.include({
          enabled: true,
          disabledReason: null,
        });
        await test(channel.id);
        expect((await org.asOwner.patch<Channel>(path, { target: `${receiver.url}/another` })).body).to.include({
          enabled: false,
          disabledReason: null,
        });
      });

      it('disables it also while a member changes it, but not if it has another target by then', async () => {
        receiver.answers({ status: 410 });
        for (let round = 0; round < 5; round++) {
          const channel = await add();
          const path = `${CHANNELS}/${channel.id}`;
          await Promise.all([test(channel.id), org.asOwner.patch(path, { name: `Renamed ${round}` })]);
          expect(await shown(channel.id)).to.include({ enabled: false, disabledReason: 'gone' });
        }
        const moved = await add();
        receiver.answers((_request, response) => {
          void org.asOwner
            .patch(`${CHANNELS}/${moved.id}`, { target: `${receiver.url}/another` })
            .then(() => response.writeHead(410).end());
          return undefined;
        });
        expect((await test(moved.id)).body.status).to.equal(410);
        expect(await shown(moved.id)).to.include({ enabled: true, disabledReason: null });
      });

      it('works for a disabled channel and does not enable it; one that a member disabled has no reason', async () => {
        const channel = await add({ enabled: false });
        expect((await test(channel.id)).body.delivered).to.equal(true);
        expect((await shown(channel.id))?.enabled).to.equal(false);
        receiver.answers({ status: 410 });
        await test(channel.id);
        expect(await shown(channel.id)).to.include({ enabled: false, disabledReason: null });
      });

      it('in the language of the organisation', async () => {
        await org.asOwner.patch('/tenant-admin/settings', { defaultLanguage: 'zh-CN' });
        const channel = await add({ kind: 'slack', name: '应收群' });
        await test(channel.id);
        expect(receiver.requests.at(-1)?.body).to.contain('的测试消息').and.contain('应收群');
      });

      it('of mail without a mail server says what the operator sets', async () => {
        const { body } = await test((await add({ kind: 'email', target: null })).id);
        expect(body).to.deep.include({ delivered: false, status: null }).and.property('error').contain('SMTP_URL');
      });

      it('is for administrators of the organisation', async () => {
        const channel = await add();
        const before = receiver.requests.length;
        const { client } = await org.join({ roleCode: 'sales' });
        expect((await client.post(`${CHANNELS}/${channel.id}/test`)).status).to.equal(403);
        const other = await administration(server());
        expect((await other.asOwner.post(`${CHANNELS}/${channel.id}/test`)).status).to.equal(404);
        for (const id of [newId(), 'x']) expect((await test(id)).status).to.equal(404);
        expect((await org.asOwner.post(`${CHANNELS}/${channel.id}/test`, { target: 'x' })).status).to.equal(400);
        expect(receiver.requests.length).to.equal(before);
      });

      it('is sent once for an idempotency key', async () => {
        const channel = await add();
        const before = receiver.requests.length;
        const key = { 'idempotency-key': newId() };
        const first = await test(channel.id, key);
        const repeated = await test(channel.id, key);
        expect([first.body, repeated.headers.get('idempotency-replayed')]).to.deep.equal([repeated.body, 'true']);
        expect(receiver.requests.length).to.equal(before + 1);
      });

      it('is limited to twenty a minute for a channel', async () => {
        const channel = await add();
        const answers = [];
        for (let times = 0; times < 22; times++) answers.push((await test(channel.id)).status);
        expect(answers).to.deep.equal([...Array.from({ length: 20 }, () => 200), 429, 429]);
        expect((await test((await add()).id)).status).to.equal(200);
        clock.advance(60_000);
        expect((await test(channel.id)).status).to.equal(200);
      });
    });

    describe('the pace of a channel', () => {
      const reserve = (channelId: string, slot: { at: number; everyMs: number; burst: number }) =>
        server().foundation.platform.write({ tenantId: null }, (tx) =>
          new ChannelStore(tx, org.tenant.id).reserveSlot({ id: channelId, ...slot }),
        );

      it('gives each place once, however many processes ask at the same moment', async () => {
        const { id } = await add();
        const slot = { at: 1_000_000, everyMs: 3_000, burst: 4 };
        const waits = await Promise.all(Array.from({ length: 24 }, () => reserve(id, slot)));
        expect(waits.filter((wait) => wait === 0)).to.have.length(4);
        expect(new Set(waits)).to.deep.equal(new Set([0, 3_000]));
        expect(await reserve(id, { ...slot, at: slot.at + 2_999 })).to.equal(1);
        expect(await reserve(id, { ...slot, at: slot.at + 3_000 })).to.equal(0);
        expect(await reserve(id, { ...slot, at: slot.at + 3_000 })).to.equal(3_000);
        // After a rest the burst is available again.
        const later = await Promise.all(
          Array.from({ length: 6 }, () => reserve(id, { ...slot, at: slot.at + 100_000 })),
        );
        expect(later.filter((wait) => wait === 0)).to.have.length(4);
      });

      it('stays within its limit in every minute, and is its own for each channel', async () => {
        const [one, other] = [await add(), await add()];
        let sent: number[] = [];
        for (let now = 0; now < 180_000; now += 500)
          if ((await reserve(one.id, { at: now, everyMs: 3_000, burst: 1 })) === 0) sent = [...sent, now];
        for (const from of sent)
          expect(sent.filter((each) => each >= from && each < from + 60_000).length).to.be.at.most(20);
        expect(sent.length).to.equal(60);
        expect(await reserve(other.id, { at: 0, everyMs: 3_000, burst: 1 })).to.equal(0);
        expect(await reserve(newId(), { at: 0, everyMs: 3_000, burst: 1 })).to.equal(0);
      });

      it('pauses as long as a receiver asks for, unless the channel gets another target', async () => {
        const { id } = await add();
        await server().foundation.platform.write({ tenantId: null }, (tx) =>
          new ChannelStore(tx, org.tenant.id).pauseUntil({ id, until: 90_000 }),
        );
        expect(await reserve(id, { at: 30_000, everyMs: 3_000, burst: 1 })).to.equal(60_000);
        await org.asOwner.patch(`${CHANNELS}/${id}`, { name: 'Renamed' });
        expect(await reserve(id, { at: 30_000, everyMs: 3_000, burst: 1 })).to.equal(60_000);
        await org.asOwner.patch(`${CHANNELS}/${id}`, { target: `${receiver.url}/another` });
        expect(await reserve(id, { at: 30_000, everyMs: 3_000, burst: 1 })).to.equal(0);
      });
    });
  },
  { clock, env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } },
);

describe('a test of a mail channel', () => {
  let mailServer: MailServer;
  let server: TestServer;
  before(async () => {
    mailServer = await startMailServer();
    server = await startServer({ env: { SMTP_URL: mailServer.url, MAIL_FROM: 'Duebook <books@duebook.example>' } });
  });
  after(async () => {
    await server?.stop();
    await mailServer?.stop();
  });

  it('goes to the addresses of the channel, or to the caller if it has none', async () => {
    const { asOwner, owner } = await administration(server);
    const channel = async (target: string | null) =>
      (await asOwner.post<Channel>(CHANNELS, { kind: 'email', name: 'Books', target })).body;
    const given = await channel('a@example.com, b@example.com');
    const answer = await asOwner.post<Tested>(`${CHANNELS}/${given.id}/test`);
    expect(answer.body).to.deep.equal({ delivered: true, status: null, error: null });
    expect(mailServer.last('b@example.com').to).to.deep.equal(['a@example.com', 'b@example.com']);
    expect(mailServer.last('b@example.com').parsed.text).to.contain('notification channel Books');
    await asOwner.post(`${CHANNELS}/${(await channel(null)).id}/test`);
    expect(mailServer.last(owner.email).to).to.deep.equal([owner.email]);
    mailServer.refuse(550, 'a@example.com');
    expect((await asOwner.post<Tested>(`${CHANNELS}/${given.id}/test`)).body).to.deep.equal({
      delivered: true,
      status: null,
      error: 'the mail server refused a@example.com',
    });
    expect(mailServer.last('b@example.com').to).to.deep.equal(['b@example.com']);
    expect((await asOwner.get<Channel[]>(CHANNELS)).body[0]?.lastError).to.equal(
      'the mail server refused 1 of the addresses',
    );
    mailServer.refuse(550);
    expect((await asOwner.post<Tested>(`${CHANNELS}/${given.id}/test`)).body).to.deep.equal({
      delivered: false,
      status: null,
      error: 'the mail server did not accept the message (EENVELOPE 550)',
    });
  });
});
