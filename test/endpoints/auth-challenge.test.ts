import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { createBotChallenge, type BotChallenge } from '../../server/auth/challenge.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { isChallenged, type Endpoint } from '../../server/http/endpoint.js';
import { countedArgon2, makeTenant, PASSWORD, uniqueSlug, type MadeTenant } from '../support/accounts.js';
import { failureOf, badFields } from '../support/failures.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { startSiteverify, type Siteverify } from '../support/siteverify.js';

const SECRET = 'the-secret-of-this-installation';
const validToken = (): string => `good-${randomBytes(8).toString('hex')}`;

/**
 * The seven endpoints of the API document, and the code by mail, which verifies a password like a sign-in: each with a
 * body that is valid except for the token.
 */
const BODIES: Readonly<Record<string, (org: MadeTenant) => Record<string, unknown>>> = {
  'POST /auth/register': () => ({
    tenantName: 'Acme',
    tenantSlug: uniqueSlug(),
    adminName: 'Ann',
    email: 'ann@acme.test',
    password: PASSWORD,
  }),
  'POST /auth/redeem': () => ({
    tenantName: 'Acme',
    tenantSlug: uniqueSlug(),
    adminName: 'Ann',
    email: 'ann@acme.test',
    password: PASSWORD,
    code: 'no-such-code',
  }),
  'POST /auth/login': ({ tenant, owner }) => ({ tenantSlug: tenant.slug, email: owner.email, password: PASSWORD }),
  'POST /auth/login/mfa/email': ({ tenant, owner }) => ({
    tenantSlug: tenant.slug,
    email: owner.email,
    password: PASSWORD,
  }),
  'POST /auth/passkeys/login/options': ({ tenant, owner }) => ({ tenantSlug: tenant.slug, email: owner.email }),
  'POST /auth/invitations/accept': () => ({ token: 'x'.repeat(43), name: 'Ann', password: PASSWORD }),
  'POST /auth/password-reset/request': ({ tenant, owner }) => ({ tenantSlug: tenant.slug, email: owner.email }),
  'POST /auth/password-reset/confirm': ({ tenant }) => ({
    token: 'x'.repeat(43),
    tenantSlug: tenant.slug,
    password: PASSWORD,
  }),
};

describe('the bot challenge', () => {
  let server: TestServer;
  let siteverify: Siteverify;
  let org: MadeTenant;
  const argon2 = countedArgon2();

  before(async () => {
    siteverify = await startSiteverify();
    server = await startServer({
      argon2,
      env: {
        BOT_CHALLENGE_PROVIDER: 'turnstile',
        BOT_CHALLENGE_SECRET: SECRET,
        BOT_CHALLENGE_VERIFY_URL: siteverify.url,
        LOGIN_FAILURES_PER_IP: '0',
      },
    });
    org = await makeTenant(server.services);
  });
  after(async () => {
    await server.stop();
    await siteverify.stop();
  });

  const post = (route: string, body: Record<string, unknown>): Promise<Answer<FrameworkError & DomainError>> =>
    server.client.post(route.replace('POST ', ''), body);

  it('guards the seven endpoints of the API document and the code by mail, and no other', () => {
    const guarded = (Object.values(ENDPOINTS) as readonly Endpoint[]).filter(isChallenged).map(({ route }) => route);
    expect(guarded.toSorted()).to.deep.equal(Object.keys(BODIES).toSorted());
  });

  for (const [route, bodyOf] of Object.entries(BODIES)) {
    it(`${route} without a token is 400, with a refused one 422, and neither computes a hash`, async () => {
      const body = bodyOf(org);
      argon2.calls = 0;
      const asked = siteverify.asked.length;
      for (const without of [body, { ...body, challengeToken: null }, { ...body, challengeToken: '' }]) {
        const answer = await post(route, without);
        expect([answer.status, answer.body.message], answer.text).to.deep.equal([400, ['challengeToken is required']]);
      }
      expect(siteverify.asked.length, 'the verifier is not asked without a token').to.equal(asked);
      const refused = await post(route, { ...body, challengeToken: 'bad-token' });
      expect([refused.status, refused.body.error.code], refused.text).to.deep.equal([422, 'BOT_CHALLENGE_FAILED']);
      expect(argon2.calls).to.equal(0);
      const passed = await post(route, { ...body, challengeToken: validToken() });
      expect(passed.text).not.to.contain('BOT_CHALLENGE').and.not.to.contain('challengeToken');
    });
  }

  it('is verified only for a request that is otherwise valid', async () => {
    const asked = siteverify.asked.length;
    expect(
      (
        await post('POST /auth/login', {
          tenantSlug: org.tenant.slug,
          email: 'no address',
          password: PASSWORD,
          challengeToken: validToken(),
        })
      ).status,
    ).to.equal(400);
    expect(siteverify.asked.length).to.equal(asked);
  });

  it('sends the secret and the token to the verifier, and the secret to no other host', async () => {
    const challengeToken = validToken();
    const answer = await post('POST /auth/login', {
      tenantSlug: org.tenant.slug,
      email: org.owner.email,
      password: PASSWORD,
      challengeToken,
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(siteverify.asked.at(-1)).to.deep.equal({ secret: SECRET, response: challengeToken });
    const again = await post('POST /auth/login', {
      tenantSlug: org.tenant.slug,
      email: org.owner.email,
      password: PASSWORD,
      challengeToken,
    });
    expect(again.status, 'a token is valid once').to.equal(422);
    expect(JSON.stringify(server.logged)).not.to.contain(SECRET);
  });

  it('refuses sign-ins when the verifier is unreachable', async () => {
    const unreachable = await startSiteverify();
    await unreachable.stop();
    const other = await startServer({
      env: {
        BOT_CHALLENGE_PROVIDER: 'hcaptcha',
        BOT_CHALLENGE_SECRET: SECRET,
        BOT_CHALLENGE_VERIFY_URL: unreachable.url,
      },
    });
    try {
      const answer = await other.client.post<DomainError>('/auth/register', {
        ...BODIES['POST /auth/register']?.(org),
        challengeToken: validToken(),
      });
      expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'BOT_CHALLENGE_UNAVAILABLE']);
      expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
    } finally {
      await other.stop();
    }
  });
});

describe('the verdict of the verifier', () => {
  let siteverify: Siteverify;
  let challenge: BotChallenge;
  const made = (hostnames: readonly string[]) =>
    createBotChallenge({
      verifyUrl: siteverify.url,
      secret: SECRET,
      hostnames,
      outbound: createOutbound({ allowPrivate: ['127.0.0.0/8'], production: false, totalMs: 300 }),
      log: createLog({ level: 'silent', name: 'test' }),
    });

  before(async () => {
    siteverify = await startSiteverify();
    challenge = made([]);
  });
  after(() => siteverify.stop());

  const json =
    (body: unknown, status = 200) =>
    (response: ServerResponse) => {
      response.statusCode = status;
      response.end(JSON.stringify(body));
    };
  const verdicts: readonly (readonly [name: string, reply: (response: ServerResponse) => void, code: string])[] = [
    ['success that is not a boolean', json({ success: 'true' }), 'BOT_CHALLENGE_UNAVAILABLE'],
    ['success with another status', json({ success: true }, 500), 'BOT_CHALLENGE_UNAVAILABLE'],
    [
      'a page instead of JSON',
      (response) => void response.end('<html>captive portal</html>'),
      'BOT_CHALLENGE_UNAVAILABLE',
    ],
    ['nothing', (response) => void response.end(), 'BOT_CHALLENGE_UNAVAILABLE'],
    [
      'a redirect',
      (response) => void response.writeHead(302, { Location: siteverify.url }).end(),
      'BOT_CHALLENGE_UNAVAILABLE',
    ],
    ['silence', () => undefined, 'BOT_CHALLENGE_UNAVAILABLE'],
    ['a hang-up', (response) => void response.destroy(), 'BOT_CHALLENGE_UNAVAILABLE'],
    [
      'an oversized answer',
      (response) => void response.end(`{"success":true,"filler":"${'x'.repeat(100_000)}"}`),
      'BOT_CHALLENGE_UNAVAILABLE',
    ],
    [
      'an error about our secret',
      json({ success: false, 'error-codes': ['invalid-input-secret'] }),
      'BOT_CHALLENGE_UNAVAILABLE',
    ],
    ['a token seen before', json({ success: false, 'error-codes': ['timeout-or-duplicate'] }), 'BOT_CHALLENGE_FAILED'],
    ['failure without a reason', json({ success: false }), 'BOT_CHALLENGE_FAILED'],
  ];
  for (const [name, reply, code] of verdicts) {
    it(`${name} is ${code}`, async () => {
      siteverify.answer(reply);
      expect((await failureOf(challenge.check('good'))).code).to.equal(code);
    });
  }

  it('must name one of our hosts, if hosts are configured', async () => {
    siteverify.answer(json({ success: true, hostname: 'Book.example.test' }));
    await made(['book.example.test']).check('good');
    await made([]).check('good');
    expect((await failureOf(made(['other.example.test']).check('good'))).code).to.equal('BOT_CHALLENGE_FAILED');
    siteverify.answer(json({ success: true }));
    expect((await failureOf(made(['book.example.test']).check('good'))).code).to.equal('BOT_CHALLENGE_FAILED');
  });

  it('is not requested without a token', async () => {
    expect(await badFields(challenge.check(undefined))).to.deep.equal({ challengeToken: 'is required' });
  });
});
