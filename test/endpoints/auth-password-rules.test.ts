import { expect } from 'chai';
import { readServerConfig } from '../../server/config.js';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { makeMember, makeTenant, PASSWORD, signIn, uniqueSlug } from '../support/accounts.js';
import type { Answer, DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, tokenIn, type MailServer } from '../support/smtp.js';

/** Common, breached, and derived from the organisation's slug, in plain and disguised spellings. */
const weakOf = (slug: string): readonly string[] => [
  'Password123',
  '277rte87hryloitru',
  `${slug}-2026`,
  'password123 ',
  'password\u200b123',
  '        ',
  `${slug.replaceAll('-', '')}-2026`,
];

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the rules for passwords, outside production, on ${kind}`, () => {
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let smtp: MailServer;
    before(async () => {
      smtp = await startMailServer();
      server = await startServer({
        database: kind,
        env: { SMTP_URL: smtp.url, MAIL_FROM: 'duebook@book.example.test' },
      });
    });
    after(async () => {
      await server.stop();
      await smtp.stop();
    });

    type Asked = (password: string) => Promise<Answer<unknown>>;
    const mailedToken = async (to: string): Promise<string> => {
      await server.schedules.run('mail');
      await server.schedules.run('mail');
      return tokenIn(smtp.last(to));
    };
    /** A refusal uses nothing up: the same request with a good password succeeds. */
    const expectRules = async (ask: Asked, { slug, done }: { slug: string; done: number }): Promise<void> => {
      for (const weak of weakOf(slug)) {
        const { status, body } = await ask(weak);
        expect([status, (body as DomainError).error.code], weak).to.deep.equal([422, 'PASSWORD_TOO_WEAK']);
      }
      const { status, text } = await ask(PASSWORD);
      expect(status, text).to.equal(done);
    };

    it('apply to a registration', async () => {
      const slug = uniqueSlug();
      const ask: Asked = (password) =>
        server.client.post('/auth/register', {
          tenantName: 'Acme Leasing',
          tenantSlug: slug,
          adminName: 'Ann',
          email: `ann.able@${slug}.test`,
          password,
        });
      await expectRules(ask, { slug, done: 201 });
    });

    it('apply to the redemption of a code', async () => {
      const slug = uniqueSlug();
      const [issued] = await server.services.codes.issue(
        { planCode: 'pro', count: 1, expiresAt: null },
        { kind: 'cli', id: null, name: 'operator', ip: null, requestId: 'test-request' },
      );
      const ask: Asked = (password) =>
        server.client.post('/auth/redeem', {
          code: issued?.code,
          tenantName: 'Acme Leasing',
          tenantSlug: slug,
          adminName: 'Ann',
          email: `ann.able@${slug}.test`,
          password,
        });
      await expectRules(ask, { slug, done: 201 });
    });

    it('apply to the acceptance of an invitation', async () => {
      const org = await makeTenant(server.services);
      const email = `bo.able@${org.tenant.slug}.test`;
      await (
        await signIn(server.client, { tenant: org.tenant, member: org.owner })
      ).client.post('/tenant-admin/invitations', { email, roleCode: 'viewer' });
      const token = await mailedToken(email);
      await expectRules(
        (password) => server.client.post('/auth/invitations/accept', { token, name: 'Bo Able', password }),
        { slug: org.tenant.slug, done: 201 },
      );
    });

    it('apply to a password reset', async () => {
      const org = await makeTenant(server.services);
      const member = await makeMember(server.services, org);
      await server.client.post('/auth/password-reset/request', { tenantSlug: org.tenant.slug, email: member.email });
      const token = await mailedToken(member.email);
      await expectRules(
        (password) =>
          server.client.post('/auth/password-reset/confirm', { token, tenantSlug: org.tenant.slug, password }),
        { slug: org.tenant.slug, done: 200 },
      );
    });

    it("apply to a change of one's own password", async () => {
      const org = await makeTenant(server.services);
      const { client } = await signIn(server.client, { tenant: org.tenant, member: org.owner });
      const currentPassword = 'Another-Horse-43';
      await client.post('/auth/password', { currentPassword: PASSWORD, newPassword: currentPassword });
      await expectRules((newPassword) => client.post('/auth/password', { currentPassword, newPassword }), {
        slug: org.tenant.slug,
        done: 200,
      });
    });

    it('do not apply to a sign-in: a password from before the rules remains valid', async () => {
      const org = await makeTenant(server.services);
      const old = await server.services.tenants.members.add(
        {
          tenantId: org.tenant.id,
          email: `old@${org.tenant.slug}.test`,
          name: 'Old Hand',
          roleCode: 'viewer',
          subjectScope: null,
          password: 'Password123',
        },
        { kind: 'cli', id: null, name: 'operator', ip: null, requestId: 'test-request' },
      );
      expect(
        (await signIn(server.client, { tenant: org.tenant, member: old, password: 'Password123' })).result.user.id,
      ).to.equal(old.id);
    });
  });
}

describe('PASSWORD_RULES', () => {
  it('off accepts any password of sufficient length', async () => {
    const server = await startServer({ env: { PASSWORD_RULES: 'off' } });
    try {
      for (const password of weakOf('acme')) {
        const slug = uniqueSlug();
        const answer = await server.client.post<AuthLoginResult>('/auth/register', {
          tenantName: 'Acme Leasing',
          tenantSlug: slug,
          adminName: 'Ann',
          email: `ann@${slug}.test`,
          password,
        });
        expect(answer.status, answer.text).to.equal(201);
      }
      expect(
        (
          await server.client.post('/auth/register', {
            tenantName: 'Acme Leasing',
            tenantSlug: uniqueSlug(),
            adminName: 'Ann',
            email: 'ann@acme.test',
            password: 'seven77',
          })
        ).status,
      ).to.equal(400);
    } finally {
      await server.stop();
    }
  });

  it('is on by default, and off causes a warning in production', () => {
    const warned = (env: NodeJS.ProcessEnv) =>
      readServerConfig(env)
        .warnings.filter(({ name }) => name === 'PASSWORD_RULES')
        .map(({ problem }) => problem);
    const result = readServerConfig({});
    expect(result.ok && result.values.passwordRules).to.equal('on');
    expect(warned({ NODE_ENV: 'production', PASSWORD_RULES: 'off' })).to.deep.equal([
      'is off: members may choose passwords that are easy to guess',
    ]);
    for (const env of [{ NODE_ENV: 'production' }, { PASSWORD_RULES: 'off' }]) expect(warned(env)).to.deep.equal([]);
    expect(readServerConfig({ PASSWORD_RULES: 'maybe' }).ok).to.equal(false);
  });
});
