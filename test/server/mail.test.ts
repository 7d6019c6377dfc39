import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { createDeliveryEngine } from '../../server/notifications/engine.js';
import { createMailQueue, MAIL_LANE } from '../../server/notifications/mail-queue.js';
import type { MailMessage, MailOutbox } from '../../server/notifications/mail.js';
import { createMailOutbox } from '../../server/notifications/outbox.js';
import { smtpEncryption } from '../../server/notifications/smtp-encryption.js';
import { createSmtp, greetSmtp, type SendMail } from '../../server/notifications/smtp.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { TenantStore } from '../../server/store/tenants.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FROM = { name: 'Duebook', address: 'duebook@book.example.test' };
const keyRing = parseKeyRing(generateKeyRingText());
const log = createLog({ level: 'silent', name: 'test' });

forEachDatabase((_kind, fresh) => {
  describe('mail', () => {
    let database: Database;
    let other: Database;
    let clock: FakeClock;
    let outbox: MailOutbox;
    let server: MailServer;
    let delivery: ReturnType<typeof deliveryBy>;
    let tenantId: string;

    /** A process that sends mail; `deliverDue` returns the number of attempts. */
    const deliveryBy = (send: SendMail, through: Database = database) => {
      let attempts = 0;
      const engine = createDeliveryEngine({ log, onSettled: () => (attempts += 1) });
      const queue = createMailQueue({ database: through, clock, keyRing, log, send, productName: 'Duebook' });
      return {
        isDue: () => queue.isDue(),
        deliverDue: async () => {
          const before = attempts;
          await engine.work(queue, [MAIL_LANE]);
          return attempts - before;
        },
      };
    };
    const put = (message: Partial<MailMessage> = {}) =>
      database.write({ tenantId: null }, (tx) =>
        outbox.enqueue(tx, { ...invitation(tenantId), ...message } as MailMessage),
      );
    const rows = () =>
      database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT status, attempts, values_sealed, last_error, next_at FROM mail_outbox ORDER BY id'),
      );
    const audited = async () =>
      (
        await database.read({ tenantId: null }, (tx) =>
          tx.all("SELECT action, changes FROM audit_log WHERE record_kind = 'invitation' ORDER BY id"),
        )
      ).map((row) => [row['action'], JSON.parse(String(row['changes'])) as unknown]);

    before(async () => {
      const place = await fresh();
      ({ database } = place);
      await migrate(database, PLATFORM_MIGRATIONS);
      other = await place.again();
    });
    beforeEach(async () => {
      clock = fakeClock();
      outbox = createMailOutbox({ clock, keyRing, configured: true });
      server = await startMailServer();
      delivery = deliveryBy(createSmtp({ url: server.url, from: FROM }));
      tenantId = newId();
      await database.write({ tenantId: null }, async (tx) => {
        await tx.run('DELETE FROM mail_outbox');
        await tx.run('DELETE FROM audit_log');
        const at = clock.now();
        await new TenantStore(tx).insert({
          id: tenantId,
          slug: `mail-${tenantId}`,
          name: 'Acme',
          planCode: 'free',
          status: 'active',
          settings: {},
          createdAt: at,
          updatedAt: at,
        });
      });
    });
    afterEach(() => server.stop());

    it('is sent with the commit of its change, and not when that is rolled back', async () => {
      const rolledBack = database.write({ tenantId: null }, async (tx) => {
        await outbox.enqueue(tx, invitation(tenantId));
        throw new Error('thought better of it');
      });
      await rejects(rolledBack, /thought better of it/);
      expect(await delivery.isDue()).to.equal(false);
      await put();
      expect(await delivery.deliverDue()).to.equal(1);
      expect(server.mails.map(({ from, to }) => [from, ...to])).to.deep.equal([[FROM.address, 'ann@acme.test']]);
      expect(await delivery.deliverDue()).to.equal(0);
    });

    it('has the same content in plain text and HTML, the configured sender, and is marked as automatic', async () => {
      await put();
      await delivery.deliverDue();
      const { parsed } = server.last('ann@acme.test');
      expect(parsed.from).to.deep.include(FROM);
      expect(parsed.subject).to.equal('Olive invites you to Acme');
      for (const text of [parsed.text, parsed.html])
        expect(text)
          .to.contain('Olive has invited you to join Acme on Duebook')
          .and.to.contain('https://book.example.test/accept-invitation#token=for-ann-alone');
      expect(parsed.headers.find(({ key }) => key === 'auto-submitted')?.value).to.equal('auto-generated');
    });

    it('is in Simplified Chinese for members who chose it, and in English for all others', async () => {
      for (const [language, subject] of [
        ['zh-CN', 'Olive邀请您加入Acme'],
        ['zh', 'Olive邀请您加入Acme'],
        ['zh-Hant-TW', 'Olive invites you to Acme'],
        ['de', 'Olive invites you to Acme'],
        ['', 'Olive invites you to Acme'],
      ]) {
        await put({ language: language ?? '' });
        await delivery.deliverDue();
        expect(server.last('ann@acme.test').parsed.subject, language).to.equal(subject);
      }
    });

    it('is encrypted until it is sent, and deleted afterwards', async () => {
      await put();
      const [waiting] = await rows();
      expect(waiting?.['values_sealed']).to.be.a('string').and.not.to.contain('for-ann-alone');
      expect(JSON.stringify(waiting)).not.to.contain('token=');
      await delivery.deliverDue();
      expect(await rows()).to.have.length(1);
      expect((await rows())[0]).to.include({ status: 'sent', attempts: 1, values_sealed: null });
      expect(await audited()).to.deep.equal([['mail_sent', { template: 'invitation', attempts: 1 }]]);
    });

    it('header injection in names: a line break in a name creates neither a header nor a new line', async () => {
      const nasty = 'Eve\r\nBcc: victim@elsewhere.test\r\n\r\nHello <script>alert(1)</script> & "friends"\u202e';
      await put({
        values: { ...invitation(tenantId).values, inviterName: nasty, tenantName: nasty },
      } as Partial<MailMessage>);
      await delivery.deliverDue();
      const { parsed, to, raw } = server.last('ann@acme.test');
      expect(to).to.deep.equal(['ann@acme.test']);
      expect(raw.split('\r\n\r\n')[0]).not.to.match(/^bcc:/im);
      expect(parsed.bcc).to.equal(undefined);
      expect(parsed.subject)
        .to.contain('Eve Bcc: victim@elsewhere.test Hello')
        .and.not.to.match(/[\r\n\u202e]/);
      expect(parsed.text?.split('\n').filter((line) => /^(Bcc|Hello)/.test(line))).to.deep.equal([]);
      expect(parsed.html)
        .to.contain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;friends&quot;')
        .and.not.to.contain('<script');
    });

    it('mail server down: nothing is lost, and sending is retried after 1, 5, 30 minutes, 2, 5, 8, 8 hours', async () => {
      await server.stop();
      await put();
      const waits: number[] = [];
      for (;;) {
        expect(await delivery.deliverDue()).to.equal(1);
        const [row] = await rows();
        if (row?.['status'] !== 'queued') break;
        waits.push(Number(row['next_at']) - clock.now());
        clock.set(Number(row['next_at']) - 1);
        expect(await delivery.isDue(), 'not before its time').to.equal(false);
        clock.advance(1);
      }
      const longest = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];
      expect(waits).to.have.length(longest.length);
      // Shortened by up to a tenth, so that mails that failed together are not retried together.
      for (const [i, wait] of waits.entries()) expect(wait).to.be.within((longest[i] ?? 0) * 0.9 - 1, longest[i] ?? 0);
      expect((await rows())[0]).to.include({ status: 'failed', attempts: 8, values_sealed: null });
      expect(await audited()).to.deep.equal([
        ['mail_failed', { template: 'invitation', attempts: 8, error: 'ESOCKET' }],
      ]);
      server = await startMailServer();
    });

    it('is delivered when the server is back, with the Message-ID of the first attempt', async () => {
      const ids: string[] = [];
      const smtp = createSmtp({ url: server.url, from: FROM });
      const failing = deliveryBy(async (mail) => {
        await smtp(mail);
        throw Object.assign(new Error('the answer was lost'), { code: 'ETIMEDOUT' });
      });
      await put();
      await failing.deliverDue();
      clock.advance(MINUTE_MS);
      await delivery.deliverDue();
      ids.push(...server.mails.map(({ parsed }) => parsed.messageId ?? ''));
      expect(ids).to.have.length(2);
      expect(ids[0])
        .to.equal(ids[1])
        .and.to.match(/^<[0-9a-f-]{36}@book\.example\.test>$/);
      expect((await rows())[0]).to.include({ status: 'sent', attempts: 2 });
    });

    it('fails at once if the server refuses the recipient permanently, and is retried if temporarily', async () => {
      server.refuse(550);
      await put();
      await delivery.deliverDue();
      expect((await rows())[0]).to.include({ status: 'failed', attempts: 1, last_error: 'EENVELOPE 550' });
      server.refuse(451);
      await put();
      await delivery.deliverDue();
      expect((await rows())[1]).to.include({ status: 'queued', attempts: 1, last_error: 'EENVELOPE 451' });
    });

    it('is sent once by two concurrent processes', async () => {
      for (let count = 0; count < 8; count += 1) await put();
      const send = createSmtp({ url: server.url, from: FROM });
      await Promise.all(
        [deliveryBy(send), deliveryBy(send, other), deliveryBy(send)].map((process) => process.deliverDue()),
      );
      expect(server.mails).to.have.length(8);
    });

    it('is taken over when the process that was sending it died, and not before', async () => {
      await put();
      let release: (() => void) | undefined;
      const stuck = deliveryBy(() => new Promise((resolve) => (release = resolve))).deliverDue();
      while (!release) await new Promise((resolve) => setImmediate(resolve));
      expect(await delivery.deliverDue()).to.equal(0);
      clock.advance(5 * MINUTE_MS);
      expect(await delivery.deliverDue()).to.equal(1);
      release();
      await stuck;
      expect((await rows())[0]).to.include({ status: 'sent', attempts: 2 });
      expect(await audited()).to.have.length(1);
    });

    it('is not sent once it is unusable or withdrawn', async () => {
      const about = { kind: 'invitation', id: newId() };
      await put({ notAfter: clock.now() + MINUTE_MS });
      await put({ about });
      await database.write({ tenantId: null }, (tx) =>
        outbox.withdraw(tx, { tenantId, template: 'invitation', about }),
      );
      clock.advance(MINUTE_MS);
      await delivery.deliverDue();
      expect(server.mails).to.have.length(0);
      expect(await rows()).to.have.length(1);
      expect((await rows())[0]).to.include({ status: 'failed', last_error: 'EXPIRED', values_sealed: null });
    });

    it('without a mail server is recorded as not sent in row and audit, and no token is stored', async () => {
      const none = createMailOutbox({ clock, keyRing, configured: false });
      await database.write({ tenantId: null }, (tx) => none.enqueue(tx, invitation(tenantId)));
      expect((await rows())[0]).to.include({ status: 'not_sent', values_sealed: null });
      expect(await audited()).to.deep.equal([
        ['mail_not_sent', { template: 'invitation', reason: 'no mail server is configured' }],
      ]);
    });
  });
});

describe('the mail server', () => {
  it('gets no password and no mail over an unencrypted connection', async () => {
    const server = await startMailServer();
    try {
      const send = createSmtp({ url: server.url.replace('smtp://', 'smtp://user:hush-hush@'), from: FROM });
      const error: unknown = await send({
        id: newId(),
        to: 'ann@acme.test',
        date: new Date(0),
        subject: 's',
        text: 't',
        html: 'h',
      }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error).and.to.have.property('code', 'ETLS');
      expect(server.mails).to.have.length(0);
    } finally {
      await server.stop();
    }
  });
});

describe('a mail server on another machine', () => {
  let server: MailServer;
  afterEach(() => server.stop());

  const sent = async (url: string): Promise<{ readonly code: unknown; readonly encrypted: readonly boolean[] }> => {
    const send = createSmtp({ url, from: FROM });
    const error: unknown = await send({
      id: newId(),
      to: 'ann@acme.test',
      date: new Date(0),
      subject: 's',
      text: 't',
      html: 'h',
    }).catch((reason: unknown) => reason);
    return {
      code: error instanceof Error && 'code' in error ? error.code : error,
      encrypted: server.mails.map(({ encrypted }) => encrypted),
    };
  };

  it('that offers no TLS gets no mail, and the error says how to solve this', async () => {
    server = await startMailServer();
    expect(await sent(server.elsewhere)).to.deep.equal({ code: 'ETLS', encrypted: [] });
    for (const more of [
      '?requireTLS=true',
      '?ignoreTLS=true',
      '?opportunisticTLS=true',
      '?secure=false',
      '?requireTLS=true&requireTLS=false',
    ])
      expect(await sent(server.elsewhere + more), more).to.deep.equal({ code: 'ETLS', encrypted: [] });
    const greeted: unknown = await greetSmtp({ url: server.elsewhere, deadlineMs: 5_000 }).catch(
      (error: unknown) => error,
    );
    expect(greeted)
      .to.be.instanceOf(Error)
      .and.to.have.property('message')
      .that.contains('STARTTLS')
      .and.contains('SMTP_URL');
  });

  it('gets unencrypted mail if the URL allows it, and on this machine always', async () => {
    server = await startMailServer();
    expect(await sent(`${server.elsewhere}?requireTLS=false`)).to.deep.equal({ code: undefined, encrypted: [false] });
    expect(await sent(server.url)).to.deep.equal({ code: undefined, encrypted: [false, false] });
  });

  it('that offers TLS gets mail over TLS if the certificate is trusted', async () => {
    server = await startMailServer({ tls: true });
    expect((await sent(server.elsewhere)).encrypted).to.deep.equal([]);
    expect(await sent(`${server.elsewhere}?tls.rejectUnauthorized=false`)).to.deep.equal({
      code: undefined,
      encrypted: [true],
    });
    expect(
      await sent(`${server.elsewhere}?requireTLS=false&tls.rejectUnauthorized=false`),
      'it is taken where it is offered',
    ).to.deep.equal({ code: undefined, encrypted: [true, true] });
  });

  it('is distinguished from this one by its address only', () => {
    server = { stop: () => Promise.resolve() } as MailServer;
    const cases: [url: string, encryption: string][] = [
      ['smtp://mail.example.com', 'always'],
      ['smtp://u:p@mail.example.com:587', 'always'],
      ['smtps://mail.example.com?requireTLS=false', 'always'],
      ['smtp://mail.example.com?requireTLS=false', 'where offered'],
      ['smtp://mail.example.com?requireTLS=0', 'where offered'],
      ['smtp://127.0.0.1.example.com', 'always'],
      ['smtp://10.0.0.5', 'always'],
      ['smtp://localhost:25', 'on this machine'],
      ['smtp://127.0.0.1', 'on this machine'],
      ['smtp://[::1]:25', 'on this machine'],
      ['smtp://u:p@localhost', 'always'],
      ['smtp://u:p@localhost?requireTLS=false', 'on this machine'],
    ];
    for (const [url, encryption] of cases) expect(smtpEncryption(url), url).to.equal(encryption);
  });
});

const invitation = (tenantId: string): MailMessage & { template: 'invitation' } => ({
  tenantId,
  to: 'ann@acme.test',
  template: 'invitation',
  language: 'en',
  about: { kind: 'invitation', id: newId() },
  values: {
    tenantName: 'Acme',
    inviterName: 'Olive',
    link: 'https://book.example.test/accept-invitation#token=for-ann-alone',
    days: 7,
  },
});

describe('checking a mail server', () => {
  it('times out, also with a server that never stops sending', async () => {
    const talker = createServer((socket) => {
      socket.write('220 good day\r\n');
      const talk = setInterval(() => socket.write('250-one moment please\r\n'), 10);
      socket.on('error', () => clearInterval(talk)).on('close', () => clearInterval(talk));
    });
    talker.listen(0, '127.0.0.1');
    await once(talker, 'listening');
    const hungUp = (once(talker, 'connection') as Promise<[Socket]>).then(
      ([socket]) => new Promise((resolve) => socket.on('close', resolve)),
    );
    try {
      const greeted = greetSmtp({ url: `smtp://127.0.0.1:${(talker.address() as AddressInfo).port}`, deadlineMs: 200 });
      expect(await greeted.catch((error: unknown) => error)).to.have.property('code', 'ETIMEDOUT');
      await hungUp;
    } finally {
      talker.close();
    }
  });
});
