import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { CHANNEL_KINDS } from '../../server/notifications/channels/index.js';
import type { ReminderPreview, ReminderResult } from '../../server/collections/reminders.schemas.js';
import { textOf } from '../support/chat-platforms.js';
import { fakeClock } from '../support/clock.js';
import { namedFields, type DomainError, type FrameworkError } from '../support/http.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { CHANNELS, remindingOrganisation, type RemindingOrganisation } from '../support/reminded.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

/** 17:00 in Shanghai on 15 March. */
const clock = fakeClock('2026-03-15T09:00:00.000Z');
/** Characters that the formats escape, and a text that is cut in none of them. */
const ODD = '<b>Hafen & Söhne</b> *[x](https://x.example)* `码头` "三期"';

describe('the preview of a reminder', () => {
  let server: TestServer;
  let mailServer: MailServer;
  let receiver: Receiver;
  let org: RemindingOrganisation;
  before(async () => {
    mailServer = await startMailServer();
    receiver = await startReceiver();
    server = await startServer({
      clock,
      env: {
        OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
        SMTP_URL: mailServer.url,
        MAIL_FROM: 'Duebook <books@duebook.example>',
        CONTRACT_LINK: 'https://console.example.com/contracts/{contractId}',
      },
    });
    await server.schedules.stop();
  });
  after(async () => {
    await server?.stop();
    await receiver?.stop();
    await mailServer?.stop();
  });
  beforeEach(async () => {
    org = await remindingOrganisation(server);
    // Every platform reads one of these as success.
    receiver.answers({ body: JSON.stringify({ ok: true, code: 0, errcode: 0 }) });
  });

  const preview = async (query: Record<string, string>) => {
    const answer = await org.asOwner.get<ReminderPreview>('/collections/preview', { query });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };
  const codes = ({ warnings }: ReminderPreview) => warnings.map(({ code }) => code);
  const channel = (kind: string) =>
    org.addChannel(
      kind === 'email'
        ? { kind, name: 'Books', target: `books-${org.tenant.slug}@example.com` }
        : { kind, name: 'Team', target: `${receiver.url}/${org.tenant.slug}/${kind}`, secret: 'a-secret' },
    );

  for (const kind of CHANNEL_KINDS)
    for (const language of ['en', 'zh-CN'])
      it(`is what ${kind} gets in ${language}, byte for byte`, async () => {
        await org.asOwner.patch('/tenant-admin/settings', { defaultLanguage: language });
        const channelId = await channel(kind);
        const { line } = await org.enter([{ period: ODD, dueDate: '2026-03-01', receivedAmount: 0.1 }], {
          projectName: ODD,
          partyA: ODD,
        });
        const shown = await preview({ ...line, channelId });
        const { body: sent, text } = await org.asOwner.post<ReminderResult>('/collections/remind', {
          ...line,
          channelId,
        });
        expect(sent.status, text).to.equal('sent');
        expect(shown.subject).to.equal(sent.renderedSubject);
        expect(shown.channel).to.deep.equal({ id: channelId, kind, name: kind === 'email' ? 'Books' : 'Team' });
        if (kind === 'email') {
          const { parsed } = mailServer.last(`books-${org.tenant.slug}@example.com`);
          expect(parsed.html).to.equal(`${shown.body}\n`); // the line end before the boundary of the part
          expect(parsed.subject).to.equal(shown.subject);
          expect(shown.format).to.equal('html');
        } else {
          const request = receiver.requests.findLast(({ path }) => path.startsWith(`/${org.tenant.slug}/${kind}`));
          if (!request) throw new Error('nothing arrived');
          expect(textOf(kind, request)).to.equal(shown.body);
          expect(shown.format).to.equal(kind === 'webhook' ? 'text' : 'markdown');
        }
        const deliveries = await org.asOwner.get<{ items: { recipients: string[] }[] }>('/collections/deliveries');
        expect(shown.recipients).to.deep.equal(deliveries.body.items[0]?.recipients);
        expect(shown.recipients).to.have.length(1);
      });

  it('has the values of the text, the level of the line and no warning', async () => {
    const channelId = await channel('webhook');
    const { line, contractNo, projectName, partyA, partyB } = await org.enter([
      { period: 'March', dueDate: '2026-03-01', receivedAmount: 400 },
    ]);
    const shown = await preview(line);
    expect(shown.channel.id).to.equal(channelId);
    expect([shown.level, shown.warnings]).to.deep.equal(['escalated', []]);
    expect(shown.variables).to.deep.equal({
      contractNo,
      projectName,
      partyA,
      partyB,
      subjectName: shown.variables.subjectName,
      period: 'March',
      dueDate: '2026-03-01',
      amount: 1_000,
      received: 400,
      outstanding: 600,
      currency: 'CNY',
      daysOverdue: 14,
      ownerName: org.owner.name,
      link: `https://console.example.com/contracts/${line.contractId}`,
    });
    const early = await org.enter([{ dueDate: '2026-06-01' }]);
    expect(await preview(early.line)).to.deep.include({ level: null });
    expect((await preview(early.line)).variables.daysOverdue).to.equal(-78);
  });

  it('sends and changes nothing', async () => {
    await channel('webhook');
    const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
    const before = receiver.requests.length;
    await preview(line);
    expect(receiver.requests.length).to.equal(before);
    const deliveries = await org.asOwner.get<{ total: number }>('/collections/deliveries');
    expect(deliveries.body.total).to.equal(0);
  });

  it('warns where a reminder would be refused, or would reach nobody', async () => {
    const channelId = await channel('webhook');
    const settled = await org.enter([{ dueDate: '2026-03-01', receivedAmount: 1_000 }]);
    expect(codes(await preview(settled.line))).to.deep.equal(['NOTHING_OUTSTANDING']);
    const held = await org.enter([{ dueDate: '2026-03-01' }]);
    await org.asOwner.put(`/collections/${held.line.paymentId}/hold`, { kind: 'dispute' });
    const { warnings } = await preview(held.line);
    expect(warnings.map(({ code, paymentIds }) => [code, paymentIds])).to.deep.equal([
      ['LINE_HELD', [held.line.paymentId]],
    ]);
    await org.asOwner.patch(`${CHANNELS}/${channelId}`, { enabled: false });
    expect(codes(await preview(held.line))).to.deep.equal(['LINE_HELD', 'CHANNEL_DISABLED']);
    const toOwners = await org.addChannel({ kind: 'email', name: 'Owners', target: null });
    const open = await org.enter([{ dueDate: '2026-03-01' }]);
    const reached = await preview({ ...open.line, channelId: toOwners });
    expect([reached.recipients, reached.warnings]).to.deep.equal([[org.owner.email], []]);
  });

  it('finds no line of another contract, no unknown channel, and needs a default one', async () => {
    const { line } = await org.enter([{ dueDate: '2026-03-01' }]);
    const other = await org.enter([{ dueDate: '2026-03-01' }]);
    const get = (query: Record<string, string>, client = org.asOwner) =>
      client.get<DomainError & FrameworkError>('/collections/preview', { query });
    const none = await get(line);
    expect([none.status, none.body.error.code]).to.deep.equal([409, 'NO_DEFAULT_CHANNEL']);
    const channelId = await channel('webhook');
    const elsewhere = await remindingOrganisation(server);
    const foreign = await elsewhere.addChannel({ kind: 'email' });
    for (const query of [
      { ...line, paymentId: other.line.paymentId },
      { ...line, paymentId: newId() },
      { ...line, paymentId: 'x' },
      { ...line, contractId: newId() },
      { ...line, channelId: newId() },
      { ...line, channelId: foreign },
    ])
      expect((await get(query)).status, JSON.stringify(query)).to.equal(404);
    expect(namedFields(await get({}))).to.deep.equal([400, ['contractId', 'paymentId']]);
    expect(namedFields(await get({ ...line, tab: 'all' }))).to.deep.equal([400, ['tab']]);
    expect((await get({ ...line, channelId }, elsewhere.asOwner)).status).to.equal(404);
    const subject = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' });
    const { client: scoped } = await org.join({ roleCode: 'finance', subjectScope: [subject.body.id] });
    expect((await get({ ...line, channelId }, scoped)).status).to.equal(404);
    const { client: viewer } = await org.join({ roleCode: 'viewer' });
    expect((await get(line, viewer)).status).to.equal(200);
  });
});
