import { expect } from 'chai';
import type { AuthLoginResult, Session } from '../../server/auth/auth.schemas.js';
import { cookieOf, makeMember, makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { speak, type Answer, type Client, type DomainError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { needsPostgres } from '../support/postgres.js';
import { startMailServer, tokenIn, type MailServer } from '../support/smtp.js';

const DAY_MS = 24 * 3_600_000;

interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly status: string;
  readonly deliveryStatus: string;
  readonly expiresAt: string;
  readonly inviteLink: string | null;
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`invitations on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    let clock: FakeClock;
    let org: MadeTenant;
    let admin: Client;

    before(async () => {
      clock = fakeClock();
      smtp = await startMailServer();
      server = await startServer({
        database: kind,
        clock,
        env: { SMTP_URL: smtp.url, MAIL_FROM: 'Duebook <duebook@book.example.test>' },
      });
    });
    after(async () => {
      await server.stop();
      await smtp.stop();
    });
    beforeEach(async () => {
      org = await makeTenant(server.services);
      admin = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
    });

    const address = (): string => `ann@${org.tenant.slug}.test`;
    const invite = (body: object = {}): Promise<Answer<Invitation>> =>
      admin.post('/tenant-admin/invitations', { email: address(), roleCode: 'finance', ...body });
    const accept = (token: string, body: object = {}): Promise<Answer<AuthLoginResult & DomainError>> =>
      server.client.post('/auth/invitations/accept', { token, name: 'Ann Able', password: PASSWORD, ...body });
    const mailedToken = async (to = address()): Promise<string> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
      return tokenIn(smtp.last(to));
    };
    const invited = async (body: object = {}): Promise<{ invitation: Invitation; token: string }> => {
      const { status, text, body: invitation } = await invite(body);
      if (status !== 201) throw new Error(`${status} ${text}`);
      return { invitation, token: await mailedToken() };
    };
    const codeOf = (answer: Answer<unknown>) => [answer.status, (answer.body as DomainError).error.code];
    const events = (action: string) =>
      server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all('SELECT actor_id, ip, request_id, changes FROM audit_log WHERE tenant_id = ? AND action = ?', [
          org.tenant.id,
          action,
        ]),
      );

    it('create a member with the address, the role and the scope of the invitation, signed in', async () => {
      const { invitation, token } = await invited({ subjectScope: [org.subjectId, org.subjectId] });
      expect(invitation).to.include({ email: address(), status: 'open', deliveryStatus: 'queued', inviteLink: null });
      expect(smtp.last(address()).parsed.text).to.contain('http://localhost:8080/accept-invitation#token=');

      const answer = await accept(token, { nameProfile: { givenName: 'Ann' }, tenantSlug: org.tenant.slug });
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body.user).to.include({
        email: address(),
        name: 'Ann Able',
        roleCode: 'finance',
        status: 'active',
      });
      expect(answer.body.user.subjectScope).to.deep.equal([org.subjectId]);
      expect(cookieOf(answer)).to.contain('HttpOnly');
      const me = await server.client.as(answer.body.accessToken).get<Session>('/auth/me');
      expect(me.body.user.id).to.equal(answer.body.user.id);
      await signIn(server.client, { tenant: org.tenant, member: { email: address() } });

      expect((await admin.get<Invitation[]>('/tenant-admin/invitations')).body).to.deep.equal([]);
      for (const action of ['invitation_created', 'mail_sent', 'member_joined'])
        expect(await events(action), action).to.have.length(1);
      expect(
        JSON.stringify([...(await events('invitation_created')), ...(await events('member_joined'))]),
      ).not.to.contain(token);
    });

    it('accept a name of one character', async () => {
      const { token } = await invited({});
      const answer = await accept(token, { name: '李' });
      expect([answer.status, answer.body.user.name]).to.deep.equal([201, '李']);
    });

    it('are listed with the status of their mail, newest first, until they are withdrawn', async () => {
      const { invitation } = await invited();
      await invite({ email: `bob@${org.tenant.slug}.test` });
      const listed = await admin.get<Invitation[]>('/tenant-admin/invitations');
      expect(listed.body.map(({ email }) => email)).to.deep.equal([`bob@${org.tenant.slug}.test`, address()]);
      expect(listed.body[1]).to.include({ id: invitation.id, deliveryStatus: 'sent', status: 'open' });
      expect(listed.body[1]).not.to.have.property('inviteLink');
      expect((await admin.delete(`/tenant-admin/invitations/${invitation.id}`)).body).to.deep.equal({ ok: true });
      expect((await admin.delete(`/tenant-admin/invitations/${invitation.id}`)).status).to.equal(404);
      expect((await admin.get<Invitation[]>('/tenant-admin/invitations')).body.map(({ email }) => email)).to.deep.equal(
        [`bob@${org.tenant.slug}.test`],
      );
    });

    it("are refused for a member, a second time, for the owner's role, and for unknown roles and subject companies", async () => {
      expect(codeOf(await invite({ email: org.owner.email.toUpperCase() }))).to.deep.equal([409, 'MEMBER_EXISTS']);
      expect(codeOf(await invite({ roleCode: 'owner' }))).to.deep.equal([422, 'OWNER_TRANSFER_REQUIRED']);
      expect(codeOf(await invite({ roleCode: 'emperor' }))).to.deep.equal([422, 'REFERENCE_INVALID']);
      expect(codeOf(await invite({ subjectScope: [org.owner.id] }))).to.deep.equal([422, 'REFERENCE_INVALID']);
      expect((await invite()).status).to.equal(201);
      expect(codeOf(await invite({ email: address().toUpperCase(), roleCode: 'viewer' }))).to.deep.equal([
        409,
        'INVITATION_OPEN',
      ]);
    });

    it('an invitation token reused is refused', async () => {
      const { token } = await invited();
      expect((await accept(token)).status).to.equal(201);
      expect(codeOf(await accept(token, { name: 'Eve' }))).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('an invitation token is valid for seven days', async () => {
      const { invitation, token } = await invited();
      clock.advance(7 * DAY_MS);
      expect(invitation.expiresAt).to.equal(new Date(clock.now()).toISOString());
      expect(codeOf(await accept(token))).to.deep.equal([422, 'TOKEN_INVALID']);
      admin = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
      expect((await admin.get<Invitation[]>('/tenant-admin/invitations')).body[0]).to.include({ status: 'expired' });
      expect((await invite({ roleCode: 'viewer' })).status, 'an expired one does not block another').to.equal(201);
    });

    it('an invitation token of another tenant is refused, and remains valid in its own', async () => {
      const { token } = await invited();
      const other = await makeTenant(server.services);
      expect(codeOf(await accept(token, { tenantSlug: other.tenant.slug }))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect((await accept(token, { tenantSlug: org.tenant.slug })).status).to.equal(201);
    });

    it('a resent invitation has a new token, and the old one is refused', async () => {
      const { invitation, token: first } = await invited();
      clock.advance(DAY_MS);
      admin = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
      const again = await admin.post<Invitation>(`/tenant-admin/invitations/${invitation.id}/resend`);
      expect(again.status, again.text).to.equal(200);
      expect(again.body.expiresAt).to.equal(new Date(clock.now() + 7 * DAY_MS).toISOString());
      const second = await mailedToken();
      expect(second).not.to.equal(first);
      expect(codeOf(await accept(first))).to.deep.equal([422, 'TOKEN_INVALID']);
      expect((await accept(second)).status).to.equal(201);
      expect((await admin.post(`/tenant-admin/invitations/${invitation.id}/resend`)).status).to.equal(404);
    });

    it('a withdrawn invitation is invalid', async () => {
      const { invitation, token } = await invited();
      await admin.delete(`/tenant-admin/invitations/${invitation.id}`);
      expect(codeOf(await accept(token))).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('parallel accepts of one invitation: one member, one session, and the others are refused', async () => {
      const { token } = await invited();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => accept(token, { name: `Ann ${index}` })),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([
        201, 422, 422, 422, 422, 422,
      ]);
      expect(await events('member_joined')).to.have.length(1);
    });

    it('parallel invitations of one address: one is open', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => invite()));
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([
        201, 409, 409, 409, 409,
      ]);
    });

    it('are limited to 100 an hour per tenant, including those sent again, without affecting other tenants', async () => {
      const { invitation } = await invited();
      const count = (failures: number) =>
        server.foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run('UPDATE login_failures SET failures = ? WHERE key = ?', [failures, `invitations:${org.tenant.id}`]),
        );
      expect(await count(98), 'counted so far').to.equal(1);
      expect((await invite({ email: `bob@${org.tenant.slug}.test` })).status).to.equal(201);
      expect(codeOf(await invite({ email: `bob@${org.tenant.slug}.test` })), 'not counted').to.deep.equal([
        409,
        'INVITATION_OPEN',
      ]);
      expect((await admin.post(`/tenant-admin/invitations/${invitation.id}/resend`)).status).to.equal(200);

      clock.advance(20 * 60_000);
      admin = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
      const headers = { 'Idempotency-Key': `carol-${org.tenant.slug}` };
      const carol = () =>
        admin.post<Invitation>(
          '/tenant-admin/invitations',
          { email: `carol@${org.tenant.slug}.test`, roleCode: 'viewer' },
          { headers },
        );
      const refused = await carol();
      expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '2400']);
      expect((await admin.post(`/tenant-admin/invitations/${invitation.id}/resend`)).status).to.equal(429);
      expect((await admin.get<Invitation[]>('/tenant-admin/invitations')).body).to.have.length(2);
      const other = await makeTenant(server.services);
      const otherTenant = (await signIn(server.client, { tenant: other.tenant, member: other.owner })).client;
      expect(
        (await otherTenant.post('/tenant-admin/invitations', { email: address(), roleCode: 'viewer' })).status,
      ).to.equal(201);

      clock.advance(40 * 60_000);
      admin = (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;
      expect((await carol()).status, 'under the key of the refused request').to.equal(201);
    });

    it('an admin of another tenant can neither see, resend nor withdraw an invitation', async () => {
      const { invitation, token } = await invited();
      const other = await makeTenant(server.services);
      const otherTenant = (await signIn(server.client, { tenant: other.tenant, member: other.owner })).client;
      expect((await otherTenant.get<Invitation[]>('/tenant-admin/invitations')).body).to.deep.equal([]);
      expect((await otherTenant.post(`/tenant-admin/invitations/${invitation.id}/resend`)).status).to.equal(404);
      expect((await otherTenant.delete(`/tenant-admin/invitations/${invitation.id}`)).status).to.equal(404);
      expect((await accept(token)).status).to.equal(201);
    });

    it('are refused if the invited person became a member in the meantime, and create no second member', async () => {
      const { invitation, token } = await invited();
      await makeMember(server.services, org, { email: address() });
      expect(codeOf(await accept(token))).to.deep.equal([409, 'MEMBER_EXISTS']);
      expect(codeOf(await admin.post(`/tenant-admin/invitations/${invitation.id}/resend`))).to.deep.equal([
        409,
        'MEMBER_EXISTS',
      ]);
    });

    it('an invitation cannot be accepted into a suspended tenant', async () => {
      const { token } = await invited();
      await server.foundation.platform.write({ tenantId: null }, (tx) =>
        tx.run("UPDATE tenants SET status = 'suspended' WHERE id = ?", [org.tenant.id]),
      );
      expect(codeOf(await accept(token))).to.deep.equal([422, 'TOKEN_INVALID']);
    });

    it('Host header not used in links', async () => {
      const { result } = await signIn(server.client, { tenant: org.tenant, member: org.owner });
      const body = JSON.stringify({ email: address(), roleCode: 'viewer' });
      const head = [
        'POST /api/v1/tenant-admin/invitations HTTP/1.1',
        'Host: evil.test',
        'X-Forwarded-Host: evil.test',
        'Forwarded: host=evil.test',
        'Origin: https://evil.test',
        `Authorization: Bearer ${result.accessToken}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
      ];
      expect(await speak(server.url, `${head.join('\r\n')}\r\n\r\n${body}`)).to.match(/^HTTP\/1\.1 201/);
      await mailedToken();
      expect(smtp.last(address()).raw).not.to.contain('evil.test');
    });

    it('no token is stored in the database, neither while the mail waits nor after it is sent', async () => {
      const dump = () =>
        server.foundation.platform.read({ tenantId: null }, async (tx) => {
          const rows: unknown[] = [];
          for (const table of ['invitations', 'mail_outbox', 'audit_log', 'idempotency_records'])
            rows.push(...(await tx.all(`SELECT * FROM ${table}`)));
          return JSON.stringify(rows);
        });
      await invite();
      const waiting = await dump();
      const token = await mailedToken();
      expect(waiting).to.contain(address()).and.not.to.contain(token);
      expect(await dump()).not.to.contain(token);
    });
  });
}

describe('invitations without a mail server', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('report that nothing was sent, and return the link once for passing it on', async () => {
    const org = await makeTenant(server.services);
    const { client: admin } = await signIn(server.client, { tenant: org.tenant, member: org.owner });
    const { body } = await admin.post<Invitation>('/tenant-admin/invitations', {
      email: 'ann@acme.test',
      roleCode: 'viewer',
    });
    expect(body.deliveryStatus).to.equal('not_sent');
    const token = new URLSearchParams(new URL(body.inviteLink ?? '').hash.slice(1)).get('token');
    const [listed] = (await admin.get<Invitation[]>('/tenant-admin/invitations')).body;
    expect(listed).to.include({ deliveryStatus: 'not_sent' });
    expect(listed).not.to.have.property('inviteLink');
    expect(
      (await server.client.post('/auth/invitations/accept', { token, name: 'Ann', password: PASSWORD })).status,
    ).to.equal(201);
  });
});
