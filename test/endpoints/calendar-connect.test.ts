import { expect } from 'chai';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import { beginCalendar, calendarStatus, connectCalendar, startCalendarServer } from '../support/calendar.js';
import { CALENDAR_PROVIDERS, type FakeCalendarProvider } from '../support/calendar-provider.js';
import { fakeClock } from '../support/clock.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { SERVER_URL } from '../support/oidc.js';
import { startServer, type DatabaseKind, type TestServer } from '../support/server.js';
import { needsPostgres } from '../support/postgres.js';

const refusalOf = ({ status, body }: Answer<unknown>) => [status, (body as DomainError | undefined)?.error?.code];

describe('connecting a calendar', () => {
  for (const name of CALENDAR_PROVIDERS)
    for (const database of ['sqlite', 'postgres'] as const)
      describe(`of ${name}, on ${database}`, () => {
        if (database === 'postgres') needsPostgres();
        connecting(name, database);
      });

  it('is refused as long as the installation has no provider, and the status says so', async () => {
    const server = await startServer({ env: { CALENDAR_PROVIDER: 'none' } });
    try {
      const made = await makeTenant(server.services);
      const { client } = await signIn(server.client, { tenant: made.tenant, member: made.owner });
      expect(await calendarStatus(client)).to.deep.equal({
        configured: false,
        connected: false,
        provider: null,
        account: null,
        lastSyncAt: null,
        lastError: null,
      });
      expect(refusalOf(await client.get('/calendar-sync/start'))).to.deep.equal([409, 'CALENDAR_NOT_CONFIGURED']);
      expect(refusalOf(await client.post('/calendar-sync/sync-open-payments'))).to.deep.equal([
        409,
        'CALENDAR_NOT_CONFIGURED',
      ]);
      expect(
        refusalOf(await client.get('/calendar-sync/callback', { query: { state: 'x', code: 'y' } })),
      ).to.deep.equal([422, 'TOKEN_INVALID']);
    } finally {
      await server.stop();
    }
  });
});

function connecting(name: FakeCalendarProvider['name'], database: DatabaseKind): void {
  const clock = fakeClock(Date.now());
  let provider: FakeCalendarProvider;
  let server: TestServer;
  let stop: (() => Promise<void>) | undefined;
  let org: MadeTenant;
  let owner: Client;
  before(async () => {
    const env = { CORS_ORIGINS: 'https://web.example.test' };
    ({ provider, server, stop } = await startCalendarServer(name, { database, clock, env }));
  });
  beforeEach(async () => {
    org = await makeTenant(server.services);
    ({ client: owner } = await signIn(server.client, { tenant: org.tenant, member: org.owner }));
    provider.account = provider.newAccount();
    provider.token = () => undefined;
    provider.before = () => undefined;
  });
  after(() => stop?.());

  const begin = (as = owner, next?: string) => beginCalendar(as, { provider, ...(next === undefined ? {} : { next }) });
  const audited = async (): Promise<[string, Record<string, unknown>][]> =>
    (
      await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT action, changes FROM audit_log WHERE tenant_id = ? AND action LIKE 'calendar%' ORDER BY id", [
          org.tenant.id,
        ]),
      )
    ).map((row) => [String(row['action']), JSON.parse(String(row['changes'])) as Record<string, unknown>]);
  const admin = async () => {
    const member = await makeMember(server.services, org, { roleCode: 'admin' });
    return { member, ...(await signIn(server.client, { tenant: org.tenant, member })) };
  };
  const expectNotConnected = async () => expect((await calendarStatus(owner)).connected).to.equal(false);

  it('leads through the consent page back to the page that asked, and the status says so', async () => {
    expect(await calendarStatus(owner)).to.include({
      configured: true,
      connected: false,
      provider: name,
      account: null,
    });
    const { finish } = await begin(owner, '/settings?tab=calendar');
    const answer = await finish();
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([
      302,
      '/settings?tab=calendar&calendar=connected',
    ]);
    expect(answer.headers.getSetCookie()[0]).to.match(
      /^service_tenant_calendar=; Path=\/api\/v1\/calendar-sync; Max-Age=0/,
    );
    expect(await calendarStatus(owner)).to.deep.equal({
      configured: true,
      connected: true,
      provider: name,
      account: provider.account?.name,
      lastSyncAt: null,
      lastError: null,
    });
    expect(await audited()).to.deep.equal([['calendar_connected', { provider: name }]]);
  });

  it('gives a client that asks for JSON the address instead of a redirect', async () => {
    const answer = await owner.get<{ url: string }>('/calendar-sync/start', {
      headers: { Accept: 'application/json' },
    });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([200, null]);
    expect(answer.body.url).to.match(/\/authorize\?/);
    expect(answer.headers.getSetCookie()[0]).to.match(/^service_tenant_calendar=[\w-]{43};.*HttpOnly; SameSite=Lax/);
    for (const accept of ['*/*', 'text/html', 'text/html,application/json;q=0.9', ''])
      expect(
        (await owner.get('/calendar-sync/start', { headers: accept === '' ? {} : { Accept: accept } })).status,
        accept,
      ).to.equal(302);
  });

  it('keeps no token, state, verifier or cookie in plain text', async () => {
    const { back, cookie, finish } = await begin();
    const stored = async () => {
      const rows = await server.foundation.platform.read({ tenantId: null }, async (tx) => [
        ...(await tx.all('SELECT * FROM calendar_flows')),
        ...(await tx.all('SELECT * FROM calendar_connections')),
      ]);
      return JSON.stringify(rows);
    };
    expect(await stored()).to.contain(org.tenant.id);
    expect(await stored()).not.to.contain(back.searchParams.get('state'));
    expect(await stored()).not.to.contain(cookie.split('=')[1]);
    await finish();
    expect(await stored()).not.to.match(/refresh-|access-/);
  });

  it('accepts a state once, also in eight concurrent requests', async () => {
    const { finish } = await begin();
    const answers = await Promise.all(Array.from({ length: 8 }, () => finish()));
    expect([302, 422].map((status) => answers.filter((answer) => answer.status === status).length)).to.deep.equal([
      1, 7,
    ]);
    expect(refusalOf(await finish())).to.deep.equal([422, 'TOKEN_INVALID']);
    expect((await audited()).filter(([action]) => action === 'calendar_connected')).to.have.length(1);
  });

  it('refuses an unknown or expired state, and one without', async () => {
    for (const state of ['x', 'A'.repeat(43), "' OR 1=1 --"])
      expect(
        refusalOf(await owner.get('/calendar-sync/callback', { query: { state, code: 'any' } })),
        state,
      ).to.deep.equal([422, 'TOKEN_INVALID']);
    expect((await owner.get('/calendar-sync/callback', { query: { code: 'any' } })).status).to.equal(400);
    const { finish } = await begin();
    clock.advance(10 * 60_000);
    expect(refusalOf(await finish())).to.deep.equal([422, 'TOKEN_INVALID']);
    expect(await audited()).to.deep.equal([['calendar_refused', { reason: 'state_expired' }]]);
  });

  it("refuses a state in the browser of another administrator, or in none, so that nobody's calendar is connected for others", async () => {
    const other = await admin();
    for (const cookie of ['', 'service_tenant_calendar=guess', (await begin(other.client)).cookie]) {
      const { finish } = await begin();
      expect(refusalOf(await finish(cookie)), cookie).to.deep.equal([422, 'TOKEN_INVALID']);
      expect(refusalOf(await finish()), 'it is used up').to.deep.equal([422, 'TOKEN_INVALID']);
    }
    const { cookie, finish } = await begin();
    expect(refusalOf(await finish(`${cookie}; ${cookie}`)), 'two cookies').to.deep.equal([422, 'TOKEN_INVALID']);
    await expectNotConnected();
    expect((await audited()).every(([, { reason }]) => reason === 'state_of_another_browser')).to.equal(true);
  });

  it('refuses a state whose session has ended, or whose member administers no more', async () => {
    const signedOut = await admin();
    const first = await begin(signedOut.client);
    await signedOut.client.post('/auth/logout');
    const disabled = await admin();
    const second = await begin(disabled.client);
    await owner.patch(`/tenant-admin/members/${disabled.member.id}`, { status: 'disabled' });
    const demoted = await admin();
    const third = await begin(demoted.client);
    await owner.patch(`/tenant-admin/members/${demoted.member.id}`, { roleCode: 'viewer' });
    for (const { finish } of [first, second, third])
      expect(refusalOf(await finish())).to.deep.equal([422, 'TOKEN_INVALID']);
    await expectNotConnected();
    expect((await audited()).map(([, { reason }]) => reason)).to.have.members(['session_ended', 'member_not_admin']);
  });

  it('revokes the grant if the session ended while the provider answered', async () => {
    const other = await admin();
    const { finish } = await begin(other.client);
    provider.before = async () => {
      await other.client.post('/auth/logout');
      return undefined;
    };
    const revoked = provider.revoked.length;
    expect(refusalOf(await finish())).to.deep.equal([422, 'TOKEN_INVALID']);
    await expectNotConnected();
    provider.before = () => undefined;
    await server.schedules.run('calendar-revocations');
    expect(provider.revoked.length - revoked).to.equal(name === 'google' ? 1 : 0);
    expect((await audited())[0]).to.deep.equal(['calendar_refused', { reason: 'session_ended' }]);
  });

  it('returns with an error if the user refuses, the provider refuses, or does not answer', async () => {
    provider.account = null;
    expect((await (await begin(owner, '/x')).finish()).headers.get('location')).to.equal('/x?error=access_denied');
    provider.account = provider.newAccount();
    const outcomes: readonly [Parameters<typeof connectWith>[0], string][] = [
      [{ token: { status: 400, body: { error: 'invalid_grant' } } }, 'calendar_failed'],
      [{ token: { status: 401, body: { error: 'invalid_client' } } }, 'calendar_failed'],
      [{ token: { status: 200, body: '<html>' } }, 'calendar_failed'],
      [{ token: { status: 307, headers: { Location: 'http://169.254.169.254/latest/meta-data' } } }, 'calendar_failed'],
      [
        { token: { status: 200, body: { access_token: 'x', token_type: 'Bearer', expires_in: 60 } } },
        'calendar_failed',
      ],
      [{ token: { status: 503 } }, 'calendar_unreachable'],
      [
        { api: { status: 403, body: { error: { errors: [{ reason: 'insufficientPermissions' }] } } } },
        'calendar_failed',
      ],
      [{ api: { status: 302, headers: { Location: 'http://169.254.169.254/' } } }, 'calendar_failed'],
    ];
    for (const [label, [wrong, error]] of outcomes.entries())
      expect((await connectWith(wrong)).headers.get('location'), `${label}`).to.equal(`/?error=${error}`);
    await expectNotConnected();
  });
  const connectWith = async ({
    token,
    api,
  }: {
    token?: { status: number; body?: unknown; headers?: Record<string, string> };
    api?: { status: number; body?: unknown; headers?: Record<string, string> };
  }) => {
    provider.token = () => token;
    provider.before = () => api;
    const answer = await (await begin()).finish();
    provider.token = () => undefined;
    provider.before = () => undefined;
    return answer;
  };

  it('leads only to our own origins', async () => {
    for (const next of [
      '//evil.test',
      '/\\evil.test',
      'https://evil.test/',
      'javascript:alert(1)',
      '/.//evil.test',
      'http://127.0.0.1:7777/',
    ])
      expect((await owner.get('/calendar-sync/start', { query: { next } })).status, next).to.equal(400);
    for (const [next, location] of [
      ['https://web.example.test/done?a=1#top', 'https://web.example.test/done?a=1&calendar=connected#top'],
      [`${SERVER_URL}/done`, `${SERVER_URL}/done?calendar=connected`],
    ] as const)
      expect((await (await begin(owner, next)).finish()).headers.get('location')).to.equal(location);
  });

  it('again replaces the connection, and revokes the grant of another account but not that of the same one', async () => {
    await connectCalendar(owner, provider, provider.newAccount('first@calendar.test'));
    const other = await admin();
    await connectCalendar(other.client, provider, provider.newAccount('second@calendar.test'));
    expect((await calendarStatus(owner)).account).to.equal('second@calendar.test');
    const revoked = provider.revoked.length;
    await server.schedules.run('calendar-revocations');
    expect(provider.revoked.length - revoked).to.equal(name === 'google' ? 1 : 0);
    const second = provider.newAccount('second@calendar.test');
    await connectCalendar(owner, provider, second);
    await connectCalendar(owner, provider, second);
    await server.schedules.run('calendar-revocations');
    expect(provider.revoked.length - revoked).to.equal(name === 'google' ? 1 : 0);
    expect(await calendarStatus(owner)).to.include({ connected: true, account: 'second@calendar.test' });
    expect((await audited()).map(([action]) => action)).to.deep.equal([
      'calendar_connected',
      'calendar_disconnected',
      'calendar_connected',
      ...(name === 'google' ? ['calendar_revoked'] : []),
      ...Array.from({ length: 2 }, () => ['calendar_disconnected', 'calendar_connected']).flat(),
    ]);
  });
}
