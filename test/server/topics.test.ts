import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { Catalog } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { administration, type Administration } from '../support/administration.js';
import { EICAR, needsClamd, startClamd } from '../support/clamd.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { settled } from '../support/file-server.js';
import type { Client } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { aContract } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';
import { uploadsOf } from '../support/uploads.js';

const CHANNELS = '/tenant-admin/notification-channels';
const LINK = 'https://book.example.test/contracts/{contractId}';

for (const kind of ['sqlite', 'postgres', 'remote'] as const)
  describe(`messages of other topics on ${kind}`, function () {
    this.timeout(180_000);
    if (kind === 'postgres') needsPostgres();
    needsClamd();
    let clock: FakeClock;
    let server: TestServer;
    let receiver: Receiver;
    let mailServer: MailServer;
    let org: Administration;
    /** Ends what has been started: nothing, if the tests are skipped. */
    const ends: (() => Promise<unknown>)[] = [];
    before(async () => {
      clock = fakeClock(Date.UTC(2026, 2, 6, 8));
      const clamd = await startClamd();
      ends.push(() => clamd.stop());
      [receiver, mailServer] = await Promise.all([startReceiver(), startMailServer()]);
      ends.push(() => Promise.all([receiver.stop(), mailServer.stop()]));
      server = await startServer({
        ...(kind === 'remote' ? { remote: true } : { database: kind }),
        clock,
        env: {
          SMTP_URL: mailServer.url,
          MAIL_FROM: 'duebook@book.example.test',
          CONTRACT_LINK: LINK,
          METRICS_TOKEN: 'a-token-for-the-metrics',
          OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
          FILE_SCAN_MODE: 'clamav',
          CLAMAV_URL: clamd.url,
        },
      });
      ends.push(() => server.stop());
      await settled(server);
    });
    after(async () => {
      for (const end of ends.toReversed()) await end();
    });
    beforeEach(async () => {
      org = await administration(server);
      receiver.answers({ body: 'ok' });
    });

    /** Everything that is due has been attempted. */
    const deliver = async () => {
      await settled(server);
      await server.services.deliveries.drain(org.tenant.id);
    };
    /** Does the work again until its effect is visible: a job of the server may be doing it at the same time. */
    const repeat = async (work: () => Promise<unknown>, isDone: () => boolean) => {
      for (let times = 0; times < 40 && !isDone(); times++) {
        await work();
        if (!isDone()) await sleep(50);
      }
      expect(isDone()).to.equal(true);
    };
    const received = () => receiver.requests.filter(({ path }) => path === `/${org.tenant.id}`);
    const channel = async (changes: object = {}) => {
      const { status, body, text } = await org.asOwner.post<{ id: string }>(CHANNELS, {
        kind: 'webhook',
        target: `${receiver.url}/${org.tenant.id}`,
        ...changes,
      });
      expect(status, text).to.equal(201);
      return body.id;
    };
    const enter = async (changes: Partial<ContractInput> = {}) =>
      (
        await org.asOwner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id, ...changes }),
        )
      ).body;
    const upload = async (client: Client) => {
      const file = await uploadsOf(client).upload({
        fileName: 'offer.txt',
        contentType: 'text/plain',
        bytes: Buffer.from(EICAR),
      });
      expect(file.scanStatus).to.equal('infected');
      return file;
    };
    const isLogged = (reason: string) =>
      server.logged.some(({ tenantId, reason: logged }) => tenantId === org.tenant.id && logged === reason);
    /** How each message ended: its state and, if nothing was sent or it failed, why. */
    const messages = () =>
      kind === 'remote' || !server.foundation.hosted
        ? Promise.resolve(undefined)
        : server.foundation.hosted.database.read({ tenantId: org.tenant.id }, async (tx) =>
            (
              await tx.all('SELECT topic, state, error FROM outbox WHERE tenant_id = ? ORDER BY id', [org.tenant.id])
            ).map(({ topic, state, error }) => [topic, state, error]),
          );

    describe('a transition that notifies a channel', () => {
      const notifying = async (channelId: string) => {
        const { templates } = (await org.asOwner.get<Catalog>('/contract-config/catalog')).body;
        const [template] = templates;
        const path = `/contract-config/lifecycle/templates/${template?.id}/transitions`;
        const answer = await org.asOwner.post(path, {
          code: 'ask_board',
          name: 'Ask the board',
          fromStageCode: 'draft',
          toStageCode: 'review',
          effects: { notifyChannelId: channelId },
        });
        expect(answer.status, answer.text).to.equal(201);
      };
      const move = async (id: string, client: Client = org.asOwner) => {
        const body = { transitionCode: 'ask_board', note: 'Please look at the price.' };
        const answer = await client.post(`/contracts/${id}/workflow/transition`, body);
        expect(answer.status, answer.text).to.equal(200);
      };

      it('announces the stages by their names, who moved the contract and the note, at the time of the move', async () => {
        await notifying(await channel());
        const { id, contractNo, projectName } = await enter();
        await move(id);
        const timestamp = new Date(clock.now()).toISOString();
        receiver.answers({ status: 503 });
        await deliver();
        receiver.answers({ body: 'ok' });
        clock.advance(61_000);
        await repeat(deliver, () => received().length === 2);
        const [failed, delivered] = received();
        expect(failed?.body).to.equal(delivered?.body);
        expect(failed?.headers['webhook-id']).to.equal(delivered?.headers['webhook-id']);
        expect(JSON.parse(delivered?.body ?? '')).to.deep.equal({
          type: 'workflow.moved',
          timestamp,
          data: {
            contractId: id,
            contractNo,
            projectName,
            fromStage: 'Draft',
            toStage: 'Review',
            actorName: 'Olive Owner',
            note: 'Please look at the price.',
            link: LINK.replace('{contractId}', id),
          },
        });
      });

      it('sends a mail to the owner of the contract if the channel has no addresses of its own', async () => {
        await notifying(await channel({ kind: 'email', target: null }));
        const seller = await org.join({ roleCode: 'sales' });
        const { id, contractNo } = await enter({ ownerId: seller.id });
        await move(id);
        await repeat(deliver, () => mailServer.mails.some(({ to }) => to.includes(seller.email)));
        expect(mailServer.last(seller.email).parsed.subject).to.contain(contractNo);
      });

      for (const [about, reason, end] of [
        [
          'of a contract that was deleted',
          'DELETED',
          async (id: string) => expect((await org.asOwner.delete(`/contracts/${id}`)).status).to.equal(200),
        ],
        [
          'through a channel that was disabled',
          'CHANNEL_DISABLED',
          async (_: string, channelId: string) => org.asOwner.patch(`${CHANNELS}/${channelId}`, { enabled: false }),
        ],
        [
          'through a channel that was deleted',
          'NO_CHANNEL',
          (_: string, channelId: string) =>
            server.foundation.platform.write({ tenantId: null }, (tx) =>
              tx.run('DELETE FROM notification_channels WHERE id = ?', [channelId]),
            ),
        ],
      ] as const)
        it(`sends nothing ${about} in the meantime, keeps the reason with the message and logs it`, async () => {
          const channelId = await channel();
          await notifying(channelId);
          const { id } = await enter();
          receiver.answers({ status: 503 });
          await move(id);
          await deliver();
          const attempts = received().length;
          await end(id, channelId);
          receiver.answers({ body: 'ok' });
          clock.advance(61_000);
          await repeat(deliver, () =>
            server.logged.some(
              ({ msg, tenantId, reason: logged }) =>
                msg === 'message not needed any more' && tenantId === org.tenant.id && logged === reason,
            ),
          );
          expect(received()).to.have.length(attempts);
          expect((await messages()) ?? [['workflow.moved', 'settled', reason]]).to.deep.equal([
            ['workflow.moved', 'settled', reason],
          ]);
        });
    });

    it('are counted by queue, kind and result on /metrics, with the age of what waits', async () => {
      const metrics = async () => {
        const { text } = await server.client.raw('/metrics', {
          headers: { Authorization: 'Bearer a-token-for-the-metrics' },
        });
        return (name: string) =>
          Number(
            text
              .split('\n')
              .find((line) => line.startsWith(`${name} `))
              ?.slice(name.length) ?? 0,
          );
      };
      const queued = 'duebook_deliveries_total{queue="outbox",kind="webhook",result="queued"}';
      const sent = 'duebook_deliveries_total{queue="outbox",kind="webhook",result="sent"}';
      const skipped = 'duebook_deliveries_total{queue="outbox",kind="none",result="skipped"}';
      const before = await metrics();
      const target = await channel();
      clock.advance(1_000); // the channel has a pace
      await upload(org.asOwner);
      await repeat(deliver, () => received().length === 1);
      receiver.answers({ status: 503 });
      clock.advance(1_000); // the channel has a pace
      await upload(org.asOwner);
      await repeat(deliver, () => received().length === 2);
      await org.asOwner.patch(`${CHANNELS}/${target}`, { enabled: false });
      clock.advance(1_000); // the channel has a pace
      await upload(org.asOwner);
      await repeat(deliver, () => isLogged('CHANNEL_DISABLED') || isLogged('NO_CHANNEL'));
      const counted = async () => {
        const after = await metrics();
        return [sent, queued, skipped].map((line) => after(line) - before(line));
      };
      let counts: readonly number[] = [0];
      // An attempt is counted when it was recorded: after the receiver has answered and after the line of the log.
      await repeat(
        async () => {
          await deliver();
          counts = await counted();
        },
        () => counts.every((count) => count > 0),
      );
      expect(counts).to.deep.equal([1, 1, 1]);
    });

    describe('an infected file', () => {
      const mailed = () => server.schedules.run('mail');
      const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));

      it('is announced through the default channel and to the uploader by mail, once each, also if the channel is retried', async () => {
        await channel();
        const { client, email } = await org.join({ roleCode: 'sales' });
        receiver.answers({ status: 503 });
        const file = await upload(client);
        await deliver();
        receiver.answers({ body: 'ok' });
        clock.advance(61_000);
        await repeat(deliver, () => received().length === 2);
        await deliver();
        expect(new Set(received().map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
        expect(JSON.parse(received()[1]?.body ?? '')).to.deep.equal({
          type: 'file.infected',
          timestamp: file.scannedAt,
          data: {
            fileId: file.id,
            fileName: 'offer.txt',
            contractId: null,
            contractNo: null,
            signature: file.scanSignature,
            link: null,
          },
        });
        await repeat(mailed, () => mailsTo(email).length > 0);
        await mailed();
        expect(mailsTo(email)).to.have.length(1);
        const { parsed } = mailServer.last(email);
        expect(parsed.subject).to.equal('Malware found in offer.txt');
        expect(parsed.text).to.contain(org.tenant.name).and.to.contain(file.scanSignature);
      });

      it('is announced to the uploader in their language, also without a default channel', async () => {
        const { client, email } = await org.join({ roleCode: 'sales' });
        await client.patch('/auth/preferences', { language: 'zh-CN' });
        await upload(client);
        await repeat(deliver, () =>
          server.logged.some(({ tenantId, reason }) => tenantId === org.tenant.id && reason === 'NO_CHANNEL'),
        );
        await repeat(mailed, () => mailsTo(email).length > 0);
        expect(mailServer.last(email).parsed.subject).to.equal('文件 offer.txt 中发现恶意软件');
      });

      it('is announced once to an uploader to whom the default channel sends', async () => {
        await channel({ kind: 'email', target: null });
        const { client, email } = await org.join({ roleCode: 'sales' });
        await upload(client);
        await repeat(deliver, () => mailsTo(email).length > 0);
        await mailed();
        expect(mailsTo(email)).to.have.length(1);
        expect(await mailsAbout(server)).to.equal(0);
      });

      it('is announced to the owner of the organisation if the uploader has left', async () => {
        await channel();
        const { id, client, email } = await org.join({ roleCode: 'sales' });
        // The first attempt begins when the receiver is called, and by then the uploader has left.
        await server.foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run('UPDATE notification_channels SET paced_until = ? WHERE tenant_id = ?', [
            clock.now() + 30_000,
            org.tenant.id,
          ]),
        );
        await upload(client);
        await settled(server);
        await server.foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run("UPDATE members SET status = 'disabled' WHERE id = ?", [id]),
        );
        clock.advance(31_000);
        await repeat(deliver, () => received().length === 1);
        await repeat(mailed, () => mailsTo(org.owner.email).length > 0);
        expect([mailsTo(org.owner.email).length, mailsTo(email).length]).to.deep.equal([1, 0]);
      });

      const mailsAbout = ({ foundation }: TestServer) =>
        foundation.platform.read({ tenantId: null }, async (tx) =>
          Number(
            (
              await tx.get("SELECT count(*) AS n FROM mail_outbox WHERE tenant_id = ? AND template = 'file_infected'", [
                org.tenant.id,
              ])
            )?.['n'],
          ),
        );
    });
  });
