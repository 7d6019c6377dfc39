import { expect } from 'chai';
import { CalendarConnectionStore } from '../../server/store/calendar-connections.js';
import { makeMember, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import {
  calendarStatus,
  connectCalendar,
  eventsOf,
  organisationWithCalendar,
  startCalendarServer,
  syncCalendar,
} from '../support/calendar.js';
import {
  CALENDAR_PROVIDERS,
  startCalendarProvider,
  type Account,
  type FakeCalendarProvider,
} from '../support/calendar-provider.js';
import { calendarReplica } from '../support/calendar-replica.js';
import { fakeClock } from '../support/clock.js';
import type { Client } from '../support/http.js';
import { SERVER_URL } from '../support/oidc.js';
import { aContract, aLine } from '../support/samples.js';
import type { TestServer } from '../support/server.js';

describe('the scheduled work on calendars', () => {
  for (const name of CALENDAR_PROVIDERS) describe(`of ${name}`, () => scheduled(name));
});

function scheduled(name: FakeCalendarProvider['name']): void {
  const clock = fakeClock();
  let day = 0;
  let provider: FakeCalendarProvider;
  let server: TestServer;
  let stop: (() => Promise<void>) | undefined;
  let org: MadeTenant;
  let owner: Client;
  let account: Account;
  before(async () => {
    ({ provider, server, stop } = await startCalendarServer(name, { clock }));
  });
  beforeEach(async () => {
    // Each test has a week of its own, which begins at 08:00 UTC.
    clock.set(Date.parse('2026-03-02T08:00:00.000Z') + (day += 7) * DAY_MS);
    provider.before = () => undefined;
    provider.revocation = () => undefined;
    provider.revoked.length = 0;
    ({ org, owner, account } = await organisationWithCalendar({ server, provider }));
  });
  after(() => stop?.());

  const signInAgain = async () => {
    ({ client: owner } = await signIn(server.client, { tenant: org.tenant, member: org.owner }));
  };
  const line = async (): Promise<string> => {
    await signInAgain();
    const body = aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()] });
    return (await owner.post<{ contractNo: string }>('/contracts', body)).body.contractNo;
  };
  const push = () => server.schedules.run('calendar');
  const revoke = () => server.schedules.run('calendar-revocations');
  const count = () => eventsOf(account).length;
  const admin = async () => {
    const member = await makeMember(server.services, org, { roleCode: 'admin' });
    return { member, ...(await signIn(server.client, { tenant: org.tenant, member })) };
  };
  const actions = async (): Promise<[string, unknown][]> =>
    (
      await server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT action, changes FROM audit_log WHERE tenant_id = ? AND action LIKE 'calendar%' ORDER BY id", [
          org.tenant.id,
        ]),
      )
    ).map((row) => [String(row['action']), (JSON.parse(String(row['changes'])) as { reason?: unknown }).reason]);
  const connections = async (): Promise<number> =>
    Number(
      (
        await server.foundation.platform.read({ tenantId: null }, (tx) =>
          tx.get('SELECT count(*) AS n FROM calendar_connections WHERE tenant_id = ?', [org.tenant.id]),
        )
      )?.['n'],
    );

  it('pushes once a day, after the reminder hour of the organisation in its time zone', async () => {
    await line();
    clock.advance(HOUR_MS - 1);
    await push();
    expect(count(), '08:59 in UTC').to.equal(0);
    clock.advance(1);
    await push();
    expect(count(), '09:00').to.equal(1);
    await line();
    await owner.patch('/tenant-admin/settings', { timezone: 'Asia/Shanghai', reminderHour: 20 });
    clock.advance(HOUR_MS);
    await push();
    expect(count(), 'later that day').to.equal(1);
    clock.advance(23 * HOUR_MS);
    await push();
    expect(count(), 'the next day').to.equal(2);
    await line();
    clock.advance(2 * HOUR_MS);
    await push();
    expect(count(), '19:00 in Shanghai').to.equal(2);
    clock.advance(HOUR_MS);
    await push();
    expect(count(), '20:00 in Shanghai').to.equal(3);
  });

  it('records no push that changed nothing, and asks the provider for nothing', async () => {
    await line();
    clock.advance(HOUR_MS);
    await push();
    const requests = provider.requests.length;
    clock.advance(DAY_MS);
    await push();
    expect(provider.requests).to.have.length(requests);
    expect((await actions()).filter(([action]) => action === 'calendar_synced')).to.have.length(1);
    await signInAgain();
    expect((await calendarStatus(owner)).lastSyncAt).to.equal(new Date(clock.now()).toISOString());
  });

  it('does not push for suspended organisations', async () => {
    await line();
    await server.services.tenants.operator.setStatus({ slug: org.tenant.slug, status: 'suspended' }, OPERATOR);
    clock.advance(DAY_MS);
    await push();
    expect(count()).to.equal(0);
    await server.services.tenants.operator.setStatus({ slug: org.tenant.slug, status: 'active' }, OPERATOR);
    await push();
    expect(count()).to.equal(1);
  });

  it('revokes the grant when the member who connected the calendar is offboarded, also if the provider answers late', async () => {
    const { member, client } = await admin();
    account = await connectCalendar(client, provider);
    await line();
    await syncCalendar(owner);
    await revoke();
    provider.revoked.length = 0;
    const answer = await owner.post(`/tenant-admin/members/${member.id}/offboard`, { successorUserId: org.owner.id });
    expect(answer.status, answer.text).to.equal(200);
    expect(await calendarStatus(owner)).to.deep.include({ connected: false, account: null, lastError: null });
    expect((await syncCalendar(owner)).status).to.equal(409);
    provider.revocation = () => ({ status: 503 });
    await revoke();
    expect(provider.revoked).to.have.length(0);
    provider.revocation = () => undefined;
    await revoke();
    expect(provider.revoked, 'not at once').to.have.length(0);
    clock.advance(60_000);
    await revoke();
    expect(provider.revoked).to.have.length(name === 'google' ? 1 : 0);
    expect(await connections()).to.equal(0);
    expect((await actions()).slice(-2)).to.deep.equal(
      name === 'google'
        ? [
            ['calendar_disconnected', 'member_disabled'],
            ['calendar_revoked', 'disconnected'],
          ]
        : [
            ['calendar_synced', undefined],
            ['calendar_disconnected', 'member_disabled'],
          ],
    );
  });

  it('keeps the connection of a member who is offboarded without being disabled, and ends it when they are disabled', async () => {
    const { member, client } = await admin();
    account = await connectCalendar(client, provider);
    await owner.post(`/tenant-admin/members/${member.id}/offboard`, {
      successorUserId: org.owner.id,
      disableMember: false,
    });
    expect((await calendarStatus(owner)).connected).to.equal(true);
    await owner.patch(`/tenant-admin/members/${member.id}`, { status: 'disabled' });
    expect((await calendarStatus(owner)).connected).to.equal(false);
  });

  it('gives up a grant that cannot be revoked, and records it', async () => {
    await connectCalendar(owner, provider);
    provider.revocation = () => ({ status: 503 });
    for (let hours = 0; hours < 48; hours += 1) {
      await revoke();
      clock.advance(HOUR_MS);
    }
    expect(await connections()).to.equal(1);
    if (name === 'google')
      expect((await actions()).at(-1)).to.deep.equal(['calendar_revocation_failed', 'provider_unreachable']);
  });

  it('ends the connection of a member who no longer administers', async () => {
    const { member, client } = await admin();
    account = await connectCalendar(client, provider);
    await line();
    await owner.patch(`/tenant-admin/members/${member.id}`, { roleCode: 'viewer' });
    expect((await syncCalendar(owner)).status).to.equal(409);
    expect(count()).to.equal(0);
    expect((await calendarStatus(owner)).connected).to.equal(false);
    expect((await actions()).at(-1)).to.deep.equal(['calendar_disconnected', 'member_not_admin']);
  });

  it('sends no token to another provider or for another client, whatever the settings are changed to', async () => {
    await line();
    const other = await startCalendarProvider(name === 'google' ? 'microsoft' : 'google', { publicUrl: SERVER_URL });
    try {
      const settingsOf = ({ env }: FakeCalendarProvider) => ({
        calendarProvider: env['CALENDAR_PROVIDER'] as FakeCalendarProvider['name'],
        calendarClientId: env['CALENDAR_CLIENT_ID'],
        calendarClientSecret: env['CALENDAR_CLIENT_SECRET'],
        calendarAuthorizeUrl: env['CALENDAR_AUTHORIZE_URL'],
        calendarTokenUrl: env['CALENDAR_TOKEN_URL'],
        calendarApiUrl: env['CALENDAR_API_URL'],
      });
      const before = [provider.requests.length, provider.tokenRequests.length];
      for (const settings of [settingsOf(other), { ...settingsOf(provider), calendarClientId: 'another client' }]) {
        const replica = calendarReplica(server, { clock, settings });
        expect(await replica.status(org.tenant.id)).to.include({
          connected: false,
          provider: settings.calendarProvider,
          lastError: 'The calendar was connected with other settings of this installation. Connect it again.',
        });
        const refused = (await replica.sync(org.tenant.id, OPERATOR).catch((error: unknown) => error)) as {
          code: string;
        };
        expect(refused.code).to.equal('CALENDAR_NOT_CONNECTED');
        clock.advance(2 * DAY_MS);
        await replica.upkeep.pushDue(new AbortController().signal);
      }
      // The grant of a connection that has ended is not sent to another provider either.
      await server.foundation.platform.write({ tenantId: null }, (tx) =>
        new CalendarConnectionStore(tx).end({ tenantId: org.tenant.id, at: clock.now() }),
      );
      const changed = calendarReplica(server, { clock, settings: settingsOf(other) });
      await changed.upkeep.revokeDue(new AbortController().signal);
      expect(await connections()).to.equal(0);
      expect([other.requests, other.tokenRequests, other.revoked]).to.deep.equal([[], [], []]);
      expect([provider.requests.length, provider.tokenRequests.length]).to.deep.equal(before);
    } finally {
      await other.stop();
    }
  });

  it('shows only contract numbers in the edition enterprise_hybrid', async () => {
    const contractNo = await line();
    const hybrid = calendarReplica(server, { clock, edition: 'enterprise_hybrid' });
    expect((await hybrid.sync(org.tenant.id, OPERATOR)).created).to.equal(1);
    expect(eventsOf(account).map(({ title, description }) => [title, description])).to.deep.equal([[contractNo, '']]);
  });
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
