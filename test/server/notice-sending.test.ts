import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createOutbound, type Resolve } from '../../data-plane-agent/base/outbound.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Notice } from '../../server/notifications/notices/notice.js';
import { createNoticeSender, type NoticeSender } from '../../server/notifications/send.js';
import { createSmtp, type SendMail } from '../../server/notifications/smtp.js';
import { channelSecretContext, channelTargetContext, type ChannelRecord } from '../../server/store/channels.js';
import { CHAT_PLATFORMS, textOf } from '../support/chat-platforms.js';
import { fakeClock } from '../support/clock.js';
import { noticesOf, reminder } from '../support/notices.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

const TENANT = '0197a000-0000-7000-8000-00000000aaaa';
const ID = '0197a000-0000-7000-8000-0000000000ff';
const PATH = '/services/T00000000/B00000000/sEcReTsEcReTsEcReT?access_token=sEcReT-query-token';

describe('a notice', () => {
  // The library for webhooks compares timestamps with the clock of the machine.
  const clock = fakeClock(Math.floor(Date.now() / 1_000) * 1_000);
  const keyRing = parseKeyRing(generateKeyRingText());
  const logged: string[] = [];
  let receiver: Receiver;
  let mailServer: MailServer;
  before(async () => {
    [receiver, mailServer] = await Promise.all([startReceiver(), startMailServer()]);
  });
  after(() => Promise.all([receiver.stop(), mailServer.stop()]));
  beforeEach(() => receiver.answers({ body: 'ok' }));

  const senderOf = ({
    mail,
    resolve,
    totalMs = 10_000,
    allowPrivate = ['127.0.0.0/8'],
    quotesReceivers,
  }: {
    mail?: SendMail;
    resolve?: Resolve;
    totalMs?: number;
    allowPrivate?: string[];
    quotesReceivers?: boolean;
  } = {}): NoticeSender =>
    createNoticeSender({
      outbound: createOutbound({ allowPrivate, production: false, totalMs, ...(resolve ? { resolve } : {}) }),
      mail,
      keyRing,
      clock,
      log: createLog({ level: 'debug', name: 'test', destination: { write: (line) => void logged.push(line) } }),
      productName: 'Duebook',
      ...(quotesReceivers === undefined ? {} : { quotesReceivers }),
    });
  const channel = (
    kind: string,
    { target = `${receiver.url}${PATH}`, secret }: { target?: string | null; secret?: string } = {},
  ): ChannelRecord => {
    const place = { tenantId: TENANT, id: ID };
    return {
      id: ID,
      kind,
      name: 'Room',
      target: kind === 'email' ? target : 'https://hooks.example.com/…01234567',
      targetSealed: kind === 'email' || target === null ? null : keyRing.seal(target, channelTargetContext(place)),
      enabled: true,
      isDefault: true,
      secretSealed: secret === undefined ? null : keyRing.seal(secret, channelSecretContext(place)),
      lastError: null,
      lastErrorAt: null,
      lastDeliveredAt: null,
      disabledReason: null,
      createdAt: 0,
      updatedAt: 0,
    };
  };
  const send = (to: ChannelRecord, notice: Notice = reminder(), sender = senderOf()) =>
    sender.send({ tenantId: TENANT, channel: to, id: ID, notice, language: 'en', recipients: ['owner@example.com'] });
  const lastRequest = () => {
    const request = receiver.requests.at(-1);
    if (!request) throw new Error('nothing was received');
    return request;
  };
  /** None of it may be in an error or in the log. */
  const expectNoSecrets = (...texts: readonly unknown[]) => {
    for (const text of [...texts, ...logged]) expect(JSON.stringify(text)).not.to.match(/sEcReT|whsec_|B00000000/);
  };

  for (const [name, secret] of [
    ['a whsec_ secret', `whsec_${Buffer.from('an example of a key of 32 bytes!').toString('base64')}`],
    ['another secret, used as its UTF-8 bytes', 'ein-Geheimnis-ü'],
  ] as const)
    it(`to a webhook is verified by an independent implementation of Standard Webhooks, with ${name}`, async () => {
      const library = secret.startsWith('whsec_')
        ? new Webhook(secret)
        : new Webhook(Buffer.from(secret), { format: 'raw' });
      for (const notice of [...noticesOf('Quay “北”'), reminder()]) {
        expect(await send(channel('webhook', { secret }), notice)).to.include({ delivered: true, status: 200 });
        const { headers, body, method } = lastRequest();
        expect([method, headers['content-type']]).to.deep.equal(['POST', 'application/json; charset=utf-8']);
        const own = { ...(headers as Record<string, string>) };
        const payload = library.verify(body, own) as Record<string, unknown>;
        expect(payload).to.have.all.keys('type', 'timestamp', 'data');
        expect(payload).to.include({ type: notice.type, timestamp: '2026-03-06T08:00:00.000Z' });
        for (const changed of [`${body} `, body.replace('Quay', 'Quai').replace('HT', 'TH')])
          expect(() => library.verify(changed, own)).to.throw();
      }
      const { data } = JSON.parse(lastRequest().body) as { data: object };
      expect(data).to.include({
        contractId: '0197a000-0000-7000-8000-000000000001',
        contractNo: 'HT-2026-001',
        paymentId: '0197a000-0000-7000-8000-000000000002',
        period: '2026-03',
        dueDate: '2026-03-01',
        amount: 12_345.5,
        receivedAmount: 345.5,
        outstandingAmount: 12_000,
        currencyCode: 'CNY',
        daysOverdue: 5,
        step: 'escalated',
      });
    });

  it('to a webhook keeps its id in each attempt while the time changes, and has no signature without a secret', async () => {
    const notice = reminder();
    await send(channel('webhook'), notice);
    const first = lastRequest();
    clock.advance(60_000);
    await send(channel('webhook'), notice);
    const second = lastRequest();
    expect([first.headers['webhook-id'], second.headers['webhook-id']]).to.deep.equal([ID, ID]);
    expect(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).to.equal(60);
    expect(second.body).to.equal(first.body);
    expect(first.headers).not.to.have.property('webhook-signature');
  });

  for (const kind of ['slack', 'teams', 'feishu', 'dingtalk', 'wecom'] as const)
    it(`to ${kind} has the form, the signature and the size that the platform requires, and is what the preview shows`, async () => {
      const secret = kind === 'feishu' || kind === 'dingtalk' ? 'SECa1b2c3' : undefined;
      receiver.answers((request) =>
        CHAT_PLATFORMS[kind](request, { now: clock.now(), ...(secret === undefined ? {} : { secret }) }),
      );
      const long = '合同 “A” & <b> '.repeat(400);
      const lines = Array.from({ length: 20 }, (_, index) => ({ partyA: long, contractNo: `HT-${index}` }));
      for (const notice of [reminder(), reminder(...lines), ...noticesOf('Quay'), ...noticesOf(long)])
        for (const language of ['en', 'zh-CN']) {
          const sender = senderOf();
          const message = { tenantId: TENANT, channel: channel(kind, secret === undefined ? {} : { secret }), id: ID };
          const sent = await sender.send({ ...message, notice, language });
          expect(sent, `${kind} ${notice.type}`).to.deep.include({ delivered: true });
          const rendered = sender.render(notice, { kind, language });
          expect([textOf(kind, lastRequest()), sent.subject]).to.deep.equal([rendered.body, rendered.subject]);
          expect(lastRequest().body).to.contain(JSON.stringify(rendered.subject).slice(1, -1));
        }
      expect(lastRequest().path.startsWith(PATH)).to.equal(true);
    });

  it('that a platform refuses with a code in a 200 answer is not delivered, with the code', async () => {
    for (const kind of ['feishu', 'dingtalk'] as const) {
      receiver.answers((request) => CHAT_PLATFORMS[kind](request, { now: clock.now(), secret: 'SECa1b2c3' }));
      const sent = await send(channel(kind, { secret: 'SECanother' }));
      expect(sent).to.include({ delivered: false, status: 200 });
      expect(String('error' in sent && sent.error)).to.match(/code (19021|310000): (sign match fail|sign not match)/);
      // An hour and more after it was signed.
      receiver.answers((request) =>
        CHAT_PLATFORMS[kind](request, { now: clock.now() + 3_700_000, secret: 'SECa1b2c3' }),
      );
      expect(await send(channel(kind, { secret: 'SECa1b2c3' }))).to.include({ delivered: false });
    }
    const refused: [string, string, number | undefined][] = [
      ['feishu', '{"code":11232,"msg":"frequency limited psm"}', 60_000],
      ['feishu', '{"code":19024,"msg":"Key Words Not Found"}', undefined],
      ['dingtalk', '{"errcode":130101,"errmsg":"send too fast, exceed 20 times per minute"}', 600_000],
      ['wecom', '{"errcode":45009,"errmsg":"api freq out of limit"}', 60_000],
      ['wecom', '{"errcode":93000,"errmsg":"invalid webhook url"}', undefined],
      ['wecom', '<html>a portal</html>', undefined],
      ['feishu', '', undefined],
      ['dingtalk', '[]', undefined],
      ['slack', '{"ok":false,"error":"x"}', undefined],
      [
        'teams',
        'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId',
        60_000,
      ],
    ];
    for (const [kind, body, wait] of refused) {
      receiver.answers({ body });
      const sent = await send(channel(kind));
      expect(sent, `${kind} ${body}`).to.include({ delivered: false, status: 200 });
      expect('retryAfterMs' in sent ? sent.retryAfterMs : undefined, body).to.equal(wait);
    }
  });

  it('is retried when the receiver says so: Retry-After in seconds or as a date, at most a day', async () => {
    const waits: [string, number | undefined][] = [
      ['30', 30_000],
      [new Date(clock.now() + 90_000).toUTCString(), 90_000],
      [new Date(clock.now() - 90_000).toUTCString(), 0],
      ['99999999', 86_400_000],
      ['soon', undefined],
      ['-5', undefined],
    ];
    for (const status of [429, 503])
      for (const [given, wanted] of waits) {
        receiver.answers({ status, headers: { 'retry-after': given }, body: 'busy' });
        const sent = await send(channel('webhook'));
        expect(sent).to.include({ delivered: false, status, error: `the receiver answered ${status}: busy` });
        expect('retryAfterMs' in sent ? sent.retryAfterMs : undefined, given).to.equal(wanted);
      }
  });

  it('to a receiver that is gone disables the channel, and is not repeated', async () => {
    receiver.answers({ status: 410, body: '{"code":9499,"errcode":93000}' });
    for (const kind of ['webhook', 'slack', 'teams', 'feishu', 'dingtalk', 'wecom'])
      expect(await send(channel(kind)), kind).to.include({
        delivered: false,
        isFinal: true,
        disables: true,
        status: 410,
      });
  });

  it('is not delivered by any status but a 2xx, and the error has no secret and only the beginning of the answer', async () => {
    for (const status of [400, 401, 404, 500, 502]) {
      receiver.answers((request) => ({
        status,
        body: `no such hook ${request.path} at ${receiver.url}${request.path}\nof\u0000 ${'very '.repeat(500)}long`,
      }));
      const sent = await send(channel('webhook', { secret: 'whsec_c0VjUmVU' }));
      const error = 'error' in sent ? sent.error : '';
      expect(sent).to.include({ delivered: false, status });
      expect(error).to.match(new RegExp(`^the receiver answered ${status}: no such hook`));
      expect(Buffer.byteLength(error)).to.be.lessThan(200);
      expect(error).to.match(/^\P{Cc}*$/u);
      expectNoSecrets(sent);
    }
    receiver.answers({ status: 404, body: '<!doctype html><title>Not found</title>' });
    expect(await send(channel('slack'))).to.include({ error: 'the receiver answered 404' });
    for (const status of [200, 201, 202, 204]) {
      receiver.answers({ status });
      expect(await send(channel('webhook')), String(status)).to.include({ delivered: true, status });
    }
  });

  it('that is refused has an error without what the receiver answered, where that may be contract data', async () => {
    const sender = senderOf({ quotesReceivers: false });
    for (const [kind, status, body, error] of [
      ['webhook', 500, 'busy with HT-1', 'the receiver answered 500'],
      ['webhook', 500, '', 'the receiver answered 500'],
      ['wecom', 200, '{"errcode":93000,"errmsg":"HT-1"}', 'the platform refused the message (errcode 93000)'],
    ] as const) {
      receiver.answers({ status, body });
      expect(await send(channel(kind), reminder(), sender)).to.include({ delivered: false, status, error });
    }
  });

  it('follows no redirect, such as one to the metadata service', async () => {
    const before = receiver.requests.length;
    receiver.answers({ status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } });
    expect(await send(channel('webhook'))).to.include({
      delivered: false,
      status: 307,
      error: 'the receiver answered with a redirect (307), which is not followed',
    });
    expect(receiver.requests.length).to.equal(before + 1);
  });

  it('has a deadline for a receiver that hangs or drips, and a limit for one that sends 1 GB', async () => {
    const hasty = senderOf({ totalMs: 200 });
    receiver.answers(() => undefined);
    expect(await send(channel('webhook'), reminder(), hasty)).to.include({
      delivered: false,
      error: 'the receiver did not respond in time',
    });
    receiver.answers((_request, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
      return undefined;
    });
    expect(await send(channel('slack'), reminder(), hasty)).to.include({
      error: 'the receiver did not respond in time',
    });
    let poured = 0;
    receiver.answers((_request, response) => {
      const chunk = Buffer.alloc(64 * 1_024, 'x');
      const pour = (): void => {
        while (!response.destroyed && poured < 2 ** 30 && response.write(chunk)) poured += chunk.length;
      };
      response.on('drain', pour);
      pour();
      return undefined;
    });
    expect(await send(channel('wecom'))).to.include({ error: 'the response of the receiver is too large' });
    expect(poured).to.be.lessThan(64 * 2 ** 20);
    expectNoSecrets();
  });

  it('is not sent to a name that resolves to a private address, and the error says nothing about the network', async () => {
    const target = 'https://hooks.example.com/sEcReT';
    for (const address of ['10.0.0.8', '127.0.0.1', '169.254.169.254', '::1', 'fd00:ec2::254'])
      expect(
        await send(
          channel('webhook', { target }),
          reminder(),
          senderOf({ allowPrivate: [], resolve: () => Promise.resolve(['93.184.215.14', address]) }),
        ),
      ).to.include({ delivered: false, error: 'requests to the address of the receiver are not allowed' });
    for (const resolve of [() => Promise.reject(new Error('ENOTFOUND hooks.example.com')), () => Promise.resolve([])])
      expect(await send(channel('webhook', { target }), reminder(), senderOf({ resolve }))).to.include({
        error: 'the receiver did not respond',
      });
    expectNoSecrets();
  });

  it('through a channel whose secret cannot be decrypted is a failure with a line in the log', async () => {
    const broken = { ...channel('webhook'), secretSealed: 'v1.other.AAAA.AAAA' };
    expect(await send(broken)).to.deep.include({
      delivered: false,
      error: 'the message could not be prepared; the log of the server has the reason',
    });
    expect(logged.at(-1)).to.contain('notification not sent').and.contain(ID);
  });

  it('that cannot be rendered, or through a kind that this version does not know, is a failure, not an error', async () => {
    expect(await send(channel('pigeon'))).to.include({ delivered: false });
    expect(await send(channel('slack'), reminder({}, { currencyCode: 'ZZZ' }))).to.include({ delivered: false });
  });

  describe('by mail', () => {
    const smtp = () => createSmtp({ url: mailServer.url, from: { name: 'Duebook', address: 'books@duebook.example' } });

    it('reaches every address of the channel in one message, as HTML and text, with the id as Message-ID', async () => {
      const sender = senderOf({ mail: smtp() });
      const to = channel('email', { target: 'a@example.com, b@example.com' });
      expect(await send(to, reminder(), sender)).to.include({ delivered: true });
      const mail = mailServer.last('b@example.com');
      const rendered = sender.render(reminder(), { kind: 'email', language: 'en' });
      expect(mail.to).to.deep.equal(['a@example.com', 'b@example.com']);
      expect(mail.parsed.messageId).to.equal(`<${ID}@duebook.example>`);
      expect(mail.parsed.subject).to.equal(rendered.subject);
      expect(mail.parsed.html?.trim()).to.equal(rendered.body.trim());
      expect(mail.parsed.text?.trim()).to.equal(rendered.text?.trim());
      expect(rendered.text).to.contain('Outstanding: 12,000.00 CNY');
    });

    it('reaches the given recipients if the channel has no target, and is refused without any', async () => {
      const sender = senderOf({ mail: smtp() });
      expect(await send(channel('email', { target: null }), reminder(), sender)).to.include({ delivered: true });
      expect(mailServer.last('owner@example.com').to).to.deep.equal(['owner@example.com']);
      expect(
        await sender.send({
          tenantId: TENANT,
          channel: channel('email', { target: null }),
          id: ID,
          notice: reminder(),
          language: 'en',
        }),
      ).to.include({ delivered: false, isFinal: true, error: 'there is no address to send to' });
    });

    it('is not delivered without a mail server, or if it refuses, which is final for a refused address', async () => {
      const to = channel('email', { target: 'a@example.com' });
      expect(await send(to)).to.deep.include({
        delivered: false,
        error: 'no mail server is configured: the operator sets SMTP_URL and MAIL_FROM',
      });
      mailServer.refuse(550);
      expect(await send(to, reminder(), senderOf({ mail: smtp() }))).to.include({
        delivered: false,
        isFinal: true,
        error: 'the mail server did not accept the message (EENVELOPE 550)',
      });
      mailServer.refuse(451);
      const later = await send(to, reminder(), senderOf({ mail: smtp() }));
      expect(later).to.include({ delivered: false }).and.not.to.have.property('isFinal');
      mailServer.refuse(undefined);
    });
  });
});
