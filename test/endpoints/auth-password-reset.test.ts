import { expect } from 'chai';
import type { MemberRecord } from '../../server/store/members.js';
import {
  countedArgon2,
  makeMember,
  makeTenant,
  OPERATOR,
  PASSWORD,
  signIn,
  type MadeTenant,
} from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { speak, type Answer, type DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, tokenIn, type MailServer } from '../support/smtp.js';

const NEW_PASSWORD = 'Another-Horse-43';
const HOUR_MS = 3_600_000;

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`password reset on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let org: MadeTenant;
    let member: MemberRecord;
    const argon2 = countedArgon2();

    before(async () => {
      clock = fakeClock();
      smtp = await startMailServer();
      server = await startServer({
        database: kind,
        clock,
        argon2,
        env: { SMTP_URL: smtp.url, MAIL_FROM: 'duebook@book.example.test', LOGIN_FAILURES_PER_IP: '0' },
      });
    });
    after(async () => {
      await server.stop();
      await smtp.stop();
    });
    beforeEach(async () => {
      org = await makeTenant(server.services);
      member = await makeMember(server.services, org);
    });

    const ask = (tenantSlug: string, email: string): Promise<Answer<unknown>> =>
      server.client.post('/auth/password-reset/request', { tenantSlug, email });
    const confirm = (token: string, body: object = {}): Promise<Answer<unknown>> =>
      server.client.post('/auth/password-reset/confirm', {
        token,
        tenantSlug: org.tenant.slug,
        password: NEW_PASSWORD,
        ...body,
      });
    const deliver = async (): Promise<void> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
    };
    const mailedToken = async (): Promise<string> => {
      await ask(org.tenant.slug, member.email);
      await deliver();
      return tokenIn(smtp.last(member.email));
    };
    const codeOf = (answer: Answer<unknown>) => [answer.status, (answer.body as DomainError).error.code];
    const login = (password: string) =>
      server.client.post('/auth/login', { tenantSlug: org.tenant.slug, email: member.email, password });
    const audited = async (): Promise<unknown[]> =>
      (
        await server.foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all('SELECT action FROM audit_log WHERE record_id = ? ORDER BY id', [member.id]),
        )
      ).map(({ action }) => action);

    it('sets the password, ends every session, and notifies the member', async () => {
      const { client } = await signIn(server.client, { tenant: org.tenant, member });
      const answer = await confirm(await mailedToken());
      expect([answer.status, answer.body]).to.deep.equal([200, { ok: true }]);
      expect((await client.get('/auth/me')).status, 'the previous session').to.equal(401);
      expect((await login(PASSWORD)).status).to.equal(401);
      expect((await login(NEW_PASSWORD)).status).to.equal(200);
      await deliver();
      expect(smtp.last(member.email).parsed.subject).to.equal(`Your password for Org ${org.tenant.slug} was changed`);
      expect(await audited()).to.include.members(['password_reset_requested', 'mail_sent', 'password_reset']);
    });

    it('enumeration by body: known, unknown, disabled and password-less accounts and unknown tenants get the same bytes', async () => {
      const disabled = await makeMember(server.services, org);
      await server.services.tenants.members.setStatus(
        { tenantId: org.tenant.id, memberId: disabled.id, status: 'disabled' },
        OPERATOR,
      );
      const sso = await server.services.tenants.members.add(
        { tenantId: org.tenant.id, email: `sso@${org.tenant.slug}.test`, name: 'Sso', roleCode: 'viewer' },
        OPERATOR,
      );
      const before = smtp.mails.length;
      const answers = [
        await ask(org.tenant.slug, member.email),
        await ask(org.tenant.slug, `nobody@${org.tenant.slug}.test`),
        await ask(org.tenant.slug, disabled.email),
        await ask(org.tenant.slug, sso.email),
        await ask('no-such-tenant', member.email),
      ];
      for (const { status, text } of answers)
        expect([status, text]).to.deep.equal([200, '{"ok":true,"deliveryStatus":"not_sent"}']);
      await deliver();
      expect(smtp.mails.slice(before).flatMap(({ to }) => to)).to.deep.equal([member.email]);
    });

    it('enumeration by work: the same statements and no hashing for known and unknown accounts', async () => {
      const cases = {
        known: [org.tenant.slug, member.email],
        unknown: [org.tenant.slug, `nobody@${org.tenant.slug}.test`],
        'unknown tenant': ['no-such-tenant-2', member.email],
      } as const;
      const work: Record<string, readonly string[]> = {};
      argon2.calls = 0;
      for (const [name, [slug, email]] of Object.entries(cases))
        work[name] = await statementsOf(server, () => ask(slug, email));
      expect(work['known']).to.have.length.greaterThan(5);
      expect(work['unknown']).to.deep.equal(work['known']);
      expect(work['unknown tenant']).to.deep.equal(work['known']);
      expect(argon2.calls).to.equal(0);
    });

    it('a reset that the mail server refuses is logged with what the operator can do', async () => {
      await deliver();
      const from = server.logged.length;
      smtp.refuse(550);
      try {
        await ask(org.tenant.slug, member.email);
        await deliver();
      } finally {
        smtp.refuse(undefined);
      }
      const [line, ...more] = notSent(server, from);
      expect([line?.['tenantId'], line?.['memberId'], more]).to.deep.equal([org.tenant.id, member.id, []]);
      expect(line?.['msg']).to.match(/could not be delivered \(EENVELOPE 550\).*duebook members reset-password/);
    });

    it('a reset token reused is refused', async () => {
      const token = await mailedToken();
      expect((await confirm(token)).status).to.equal(200);
      expect(codeOf(await confirm(token, { password: PASSWORD }))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect((await login(NEW_PASSWORD)).status).to.equal(200);
    });

    it('a reset token is valid for two hours', async () => {
      const token = await mailedToken();
      clock.advance(2 * HOUR_MS);
      expect(codeOf(await confirm(token))).to.deep.equal([422, 'TOKEN_INVALID']);
      const another = await mailedToken();
      clock.advance(2 * HOUR_MS - 1);
      expect((await confirm(another)).status).to.equal(200);
    });

    it('a reset token of another tenant is refused, and survives the wrong slug', async () => {
      const token = await mailedToken();
      const other = await makeTenant(server.services);
      await makeMember(server.services, other, { email: member.email });
      expect(codeOf(await confirm(token, { tenantSlug: other.tenant.slug }))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect((await confirm(token)).status).to.equal(200);
    });

    it('a later request replaces the token', async () => {
      const first = await mailedToken();
      const second = await mailedToken();
      expect(codeOf(await confirm(first))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect((await confirm(second)).status).to.equal(200);
    });

    it('parallel confirms of one token: one password is set, and the others are refused', async () => {
      const token = await mailedToken();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => confirm(token, { password: `Parallel-Horse-${index}` })),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([
        200, 422, 422, 422, 422, 422,
      ]);
      const winner = answers.findIndex(({ status }) => status === 200);
      expect((await login(`Parallel-Horse-${winner}`)).status).to.equal(200);
    });

    it('a refused token computes no hash', async () => {
      argon2.calls = 0;
      expect(codeOf(await confirm('x'.repeat(43)))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect(argon2.calls).to.equal(0);
    });

    it("a token is invalid after the member's address or status changes", async () => {
      const moved = await mailedToken();
      const platform = server.foundation.platform;
      await platform.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE members SET email = ? WHERE id = ?', [`moved-${member.email}`, member.id]),
      );
      expect(codeOf(await confirm(moved))).to.deep.equal([422, 'TOKEN_INVALID']);
      await platform.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE members SET email = ? WHERE id = ?', [member.email, member.id]),
      );
      await server.services.tenants.members.setStatus(
        { tenantId: org.tenant.id, memberId: member.id, status: 'disabled' },
        OPERATOR,
      );
      expect(codeOf(await confirm(moved))).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('a mailbox cannot be flooded: the sixth request in an hour gets the same answer and sends nothing', async () => {
      for (let count = 0; count < 8; count += 1) {
        const { status, text } = await ask(org.tenant.slug, member.email);
        expect([status, text]).to.deep.equal([200, '{"ok":true,"deliveryStatus":"not_sent"}']);
        await deliver();
      }
      expect(smtp.mails.filter(({ to }) => to.includes(member.email))).to.have.length(5);
      clock.advance(HOUR_MS);
      await ask(org.tenant.slug, member.email);
      await deliver();
      expect(smtp.mails.filter(({ to }) => to.includes(member.email))).to.have.length(6);
    });

    it('mail down: the answer is the same, and the mail is sent later', async () => {
      smtp.refuse(451);
      const { status, text } = await ask(org.tenant.slug, member.email);
      await deliver();
      smtp.refuse(undefined);
      expect([status, text]).to.deep.equal([200, '{"ok":true,"deliveryStatus":"not_sent"}']);
      expect(() => smtp.last(member.email)).to.throw();
      const failed = server.logged.findLast(({ msg }) => msg === 'message not delivered');
      expect(failed).to.include({ queue: 'mail', topic: 'password_reset', attempt: 1, final: false });
      expect(failed?.['fix']).to.contain('duebook members reset-password --tenant SLUG --email EMAIL');
      clock.advance(60_000);
      await deliver();
      expect((await confirm(tokenIn(smtp.last(member.email)))).status).to.equal(200);
    });

    it('a concurrent sign-in with the old password leaves no session', async () => {
      const token = await mailedToken();
      const [reset, ...logins] = await Promise.all([
        confirm(token),
        ...Array.from({ length: 5 }, () => login(PASSWORD)),
      ]);
      expect(reset?.status).to.equal(200);
      for (const { status, body } of logins) {
        if (status !== 200) continue;
        expect((await server.client.as((body as { accessToken: string }).accessToken).get('/auth/me')).status).to.equal(
          401,
        );
      }
    });

    it('Host header not used in links', async () => {
      const body = JSON.stringify({ tenantSlug: org.tenant.slug, email: member.email });
      const head = [
        'POST /api/v1/auth/password-reset/request HTTP/1.1',
        'Host: evil.test',
        'X-Forwarded-Host: evil.test',
        'Forwarded: host=evil.test',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
      ];
      expect(await speak(server.url, `${head.join('\r\n')}\r\n\r\n${body}`)).to.match(/^HTTP\/1\.1 200/);
      await deliver();
      const mail = smtp.last(member.email);
      expect(mail.raw).not.to.contain('evil.test');
      expect(mail.parsed.text).to.contain('http://localhost:8080/reset-password#token=');
    });
  });
}

describe('password reset', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('gets the same answer without a mail server', async () => {
    const org = await makeTenant(server.services);
    const { text } = await server.client.post('/auth/password-reset/request', {
      tenantSlug: org.tenant.slug,
      email: org.owner.email,
    });
    expect(text).to.equal('{"ok":true,"deliveryStatus":"not_sent"}');
  });

  it('has its delivery status described as it is, with and without a mail server', async () => {
    const { body } = await server.client.get<{
      components: { schemas: Record<string, { properties: Record<string, { description: string }> }> };
    }>('/openapi.json');
    expect(body.components.schemas['PasswordResetRequested']?.properties['deliveryStatus']?.description).to.equal(
      'Always `not_sent`, with and without a mail server: at the time of the answer no mail has been sent. Another value would reveal whether the account exists.',
    );
  });

  it('without a mail server is logged with what the operator can do, for known and unknown accounts alike', async () => {
    const org = await makeTenant(server.services);
    const from = server.logged.length;
    for (const email of [org.owner.email, 'nobody@acme.test'])
      await server.client.post('/auth/password-reset/request', { tenantSlug: org.tenant.slug, email });
    const lines = notSent(server, from);
    expect(lines.map(({ tenantId, memberId }) => [tenantId, memberId])).to.deep.equal([
      [org.tenant.id, org.owner.id],
      [null, null],
    ]);
    for (const { msg } of lines)
      expect(msg).to.match(/no mail server is configured \(SMTP_URL\).*duebook members reset-password --tenant SLUG/);
    expect(JSON.stringify(lines)).not.to.contain(org.owner.email);
  });

  it('requires a token of at least sixteen characters', async () => {
    const { status } = await server.client.post('/auth/password-reset/confirm', {
      token: 'x'.repeat(15),
      tenantSlug: 'acme',
      password: NEW_PASSWORD,
    });
    expect(status).to.equal(400);
  });
});

/** The lines about resets that were not sent, after the first ones. */
const notSent = ({ logged }: TestServer, from: number) =>
  logged.slice(from).filter(({ msg }) => String(msg).startsWith('a password reset was not sent'));

/** The statements that a request sends to the otherwise idle platform database, without their values. */
async function statementsOf({ foundation }: TestServer, request: () => Promise<unknown>): Promise<string[]> {
  const { platform } = foundation;
  const statements: string[] = [];
  const write = platform.write.bind(platform);
  const spied = (async (scope, work) =>
    write(scope, (tx) => {
      const spy = new Proxy(tx, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]): unknown => {
            if (typeof given[0] === 'string') statements.push(given[0]);
            return (value as (...given: unknown[]) => unknown).apply(target, given);
          };
        },
      });
      return work(spy);
    })) as typeof platform.write;
  platform.write = spied;
  try {
    await request();
  } finally {
    platform.write = write;
  }
  // Background jobs query mail and leases meanwhile.
  return statements.filter((sql) => !/leases|UPDATE mail_outbox|audit_chain/.test(sql));
}
