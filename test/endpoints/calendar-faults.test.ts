import { expect } from 'chai';
import type { Calendar } from '../../server/integrations/calendar/calendar.js';
import { OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
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
  type Account,
  type ApiRequest,
  type FakeCalendarProvider,
} from '../support/calendar-provider.js';
import { calendarReplica, killable } from '../support/calendar-replica.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';
import type { DatabaseKind, TestServer } from '../support/server.js';

describe('a calendar whose provider fails', () => {
  for (const name of CALENDAR_PROVIDERS)
    for (const database of ['sqlite', 'postgres'] as const)
      describe(`${name}, on ${database}`, () => {
        if (database === 'postgres') needsPostgres();
        failing(name, database);
      });
});

const isCreation = ({ method }: ApiRequest): boolean => method === 'POST';

function failing(name: FakeCalendarProvider['name'], database: DatabaseKind): void {
  const clock = fakeClock('2026-03-15T08:00:00.000Z');
  let provider: FakeCalendarProvider;
  let server: TestServer;
  let stop: (() => Promise<void>) | undefined;
  let replica: Calendar;
  let org: MadeTenant;
  let owner: Client;
  let account: Account;
  before(async () => {
    ({ provider, server, stop } = await startCalendarServer(name, { database, clock }));
    replica = calendarReplica(server, { clock });
  });
  beforeEach(async () => {
    clock.advance(24 * 3_600_000);
    works();
    ({ org, owner, account } = await organisationWithCalendar({ server, provider }));
  });
  after(() => stop?.());

  const works = (): void => {
    provider.before = () => undefined;
    provider.after = () => undefined;
    provider.token = () => undefined;
  };
  const signInAgain = async () => {
    ({ client: owner } = await signIn(server.client, { tenant: org.tenant, member: org.owner }));
  };
  const lines = async (count: number): Promise<readonly { readonly id: string }[]> => {
    const payments = Array.from({ length: count }, (_, i) => aLine({ period: String(i), amount: i + 1 }));
    const body = aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments });
    return (await owner.post<{ payments: { id: string }[] }>('/contracts', body)).body.payments;
  };
  const sync = () => replica.sync(org.tenant.id, OPERATOR);
  const counts = ({ created, updated, removed, unchanged, failed, complete }: Awaited<ReturnType<typeof sync>>) => ({
    created,
    updated,
    removed,
    unchanged,
    failed,
    complete,
  });
  const expectAll = (count: number) => {
    expect(eventsOf(account)).to.have.length(count);
    expect(new Set(eventsOf(account).map(({ lineId }) => lineId)).size).to.equal(count);
  };

  it('is asked again after 429 and 5xx, after the time in Retry-After', async () => {
    await lines(3);
    const waits: number[] = [];
    const waiting = calendarReplica(server, { clock, wait: async (ms) => void waits.push(ms) });
    let left = 4;
    provider.before = (request) =>
      !isCreation(request) || (left -= 1) < 0
        ? undefined
        : left % 2 === 0
          ? { status: 429, headers: { 'Retry-After': '7' }, body: { error: 'too many' } }
          : { status: 503, body: 'try later' };
    expect(counts(await waiting.sync(org.tenant.id, OPERATOR))).to.include({ created: 3, failed: 0, complete: true });
    expect(waits.filter((ms) => ms === 7_000)).to.have.length(2);
    expect(waits.every((ms) => ms === 7_000 || (ms >= 250 && ms <= 3_000))).to.equal(true);
    expectAll(3);
  });

  it("waits for no time that is beyond the request's, and says what was not done", async () => {
    await lines(10);
    provider.before = (request) =>
      isCreation(request) ? { status: 429, headers: { 'Retry-After': '3600' } } : undefined;
    const answer = await syncCalendar(owner);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ created: 0, complete: false });
    expect(answer.body.failed).to.be.within(1, 6);
    expect(answer.body.errors[0]?.message).to.equal(
      'The calendar provider accepts no more requests at the moment (429).',
    );
    expect(await calendarStatus(owner)).to.include({
      connected: true,
      lastSyncAt: null,
      lastError: 'The calendar provider accepts no more requests at the moment (429).',
    });
    works();
    await server.schedules.run('calendar');
    expectAll(0);
    clock.advance(3_600_000);
    await server.schedules.run('calendar');
    expectAll(10);
    await signInAgain();
    expect(await calendarStatus(owner)).to.include({
      lastSyncAt: new Date(clock.now()).toISOString(),
      lastError: null,
    });
  });

  it('is not asked for the rest when three events in a row failed after all attempts', async () => {
    await lines(40);
    provider.before = (request) => (isCreation(request) ? { status: 500 } : undefined);
    const before = provider.requests.length;
    const answer = await sync();
    expect(answer).to.include({ created: 0, complete: false });
    expect(answer.errors.every(({ paymentId }) => paymentId !== null)).to.equal(true);
    expect(provider.requests.length - before).to.be.below(30);
    works();
    expect(counts(await sync())).to.include({ created: 40, complete: true });
  });

  it('that refuses a single event gets the others, and the answer names its line', async () => {
    const [bad] = await lines(5);
    provider.before = (request) =>
      isCreation(request) && JSON.stringify(request.body).includes(bad?.id ?? '')
        ? { status: 400, body: {} }
        : undefined;
    const answer = await sync();
    expect(counts(answer)).to.deep.equal({
      created: 4,
      updated: 0,
      removed: 0,
      unchanged: 0,
      failed: 1,
      complete: true,
    });
    expect(answer.errors).to.deep.equal([{ paymentId: bad?.id, message: 'The calendar provider answered 400.' }]);
    works();
    expect(counts(await sync())).to.include({ created: 1, unchanged: 4, failed: 0 });
  });

  it('that creates an event and answers with an error, or not at all, has it once', async () => {
    for (const [index, wrong] of [{ status: 502 }, 'hang' as const].entries()) {
      await lines(4);
      let left = 1;
      provider.after = (request) => (isCreation(request) && (left -= 1) >= 0 ? wrong : undefined);
      await sync();
      works();
      await sync();
      expectAll(4 * (index + 1));
    }
    expect(counts(await sync())).to.include({ unchanged: 8, created: 0, updated: 0 });
  });

  it('that hangs, redirects, or answers with pages, delays no request beyond its time and gets nothing twice', async () => {
    await lines(6);
    for (const wrong of [
      'hang',
      { status: 307, headers: { Location: 'http://169.254.169.254/latest/meta-data' } },
      { status: 200, body: '<html>' },
    ] as const) {
      provider.before = () => wrong;
      const answer = await sync();
      expect(answer, JSON.stringify(wrong)).to.include({ created: 0, complete: false });
      expect((await calendarStatus(owner)).lastError).to.match(/^The calendar provider /);
    }
    works();
    await sync();
    expectAll(6);
  });

  it('whose token endpoint fails leaves the calendar connected', async () => {
    await lines(1);
    provider.expireAccessTokens();
    for (const wrong of ['hang', { status: 503 }, { status: 401, body: { error: 'invalid_client' } }] as const) {
      provider.token = () => wrong;
      expect(counts(await sync())).to.include({ created: 0, complete: false });
      expect(await calendarStatus(owner)).to.include({ connected: true });
    }
    expect((await calendarStatus(owner)).lastError).to.equal(
      'The calendar provider refuses the application of this installation (invalid_client).',
    );
    works();
    expect(counts(await sync())).to.include({ created: 1, complete: true });
  });

  it('that no longer accepts the grant disconnects the calendar and says why, until it is connected again', async () => {
    await lines(2);
    await syncCalendar(owner);
    provider.withdraw(account);
    await lines(1);
    const answer = await syncCalendar<DomainError>(owner);
    const reason =
      'The calendar provider no longer accepts the consent: it was withdrawn or has expired. Connect the calendar again.';
    expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([
      409,
      'CALENDAR_NOT_CONNECTED',
      { reason },
    ]);
    expect(await calendarStatus(owner)).to.include({ connected: false, account: account.name, lastError: reason });
    expect((await syncCalendar(owner)).status).to.equal(409);
    const stored = await server.foundation.platform.read({ tenantId: null }, async (tx) => ({
      tokens: await tx.get('SELECT refresh_sealed, access_sealed FROM calendar_connections WHERE tenant_id = ?', [
        org.tenant.id,
      ]),
      audited: await tx.get("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'calendar_revoked'", [
        org.tenant.id,
      ]),
    }));
    expect(stored.tokens).to.deep.equal({ refresh_sealed: null, access_sealed: null });
    expect(JSON.parse(String(stored.audited?.['changes']))).to.deep.equal({ provider: name, reason: 'invalid_grant' });
    await connectCalendar(owner, provider, account);
    expect((await syncCalendar(owner)).body).to.include({ created: 1, updated: 2, complete: true });
    expectAll(3);
  });

  it('that refuses access tokens which it has just issued has ended the grant', async () => {
    await lines(2);
    provider.before = () => ({ status: 401, body: {} });
    const refused = await syncCalendar<DomainError>(owner);
    expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'CALENDAR_NOT_CONNECTED']);
    expect(await calendarStatus(owner)).to.deep.include({ connected: false });
    expect((await calendarStatus(owner)).lastError).to.match(/no longer accepts the consent/);
  });

  it('that does not allow a request any more is asked no further, and stays connected', async () => {
    await lines(9);
    provider.before = (request) =>
      isCreation(request) ? { status: 403, body: { error: { errors: [{ reason: 'forbidden' }] } } } : undefined;
    const answer = await sync();
    expect(answer).to.include({ created: 0, complete: false });
    expect(answer.failed).to.be.within(1, 4);
    provider.before = (request) =>
      isCreation(request) ? { status: 403, body: { error: { errors: [{ reason: 'rateLimitExceeded' }] } } } : undefined;
    expect((await sync()).errors[0]?.message).to.equal(
      'The calendar provider accepts no more requests at the moment (403).',
    );
    expect((await calendarStatus(owner)).connected).to.equal(true);
    works();
    expect(counts(await sync())).to.include({ created: 9, complete: true });
  });

  it('has every event once after a process was killed between creating and recording them', async () => {
    await lines(8);
    const mortal = killable(server.foundation.platform);
    const dying = calendarReplica(server, { clock, database: mortal.database });
    let left = 3;
    provider.after = (request) => {
      if (isCreation(request) && (left -= 1) === 0) mortal.kill();
      return undefined;
    };
    expect(await dying.sync(org.tenant.id, OPERATOR).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(eventsOf(account).length).to.be.greaterThan(2);
    works();
    clock.advance(61_000);
    const { created, updated, unchanged } = await sync();
    expect(created + updated + unchanged).to.equal(8);
    expectAll(8);
  });

  it('has every event once when processes push at the same time', async () => {
    await lines(15);
    const answers = await Promise.all([
      sync(),
      calendarReplica(server, { clock, wait: () => new Promise((resolve) => setImmediate(resolve)) })
        .sync(org.tenant.id, OPERATOR)
        .catch((error: unknown) => error as DomainError),
      syncCalendar(owner).then(({ body }) => body),
    ]);
    expect(answers).to.have.length(3);
    works();
    await sync();
    expectAll(15);
    const created = await server.foundation.platform.read({ tenantId: null }, (tx) =>
      tx.all("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'calendar_synced'", [org.tenant.id]),
    );
    const counted = created.map((row) => (JSON.parse(String(row['changes'])) as { created: number }).created);
    expect(counted.reduce((sum, each) => sum + each, 0)).to.equal(15);
  });

  it('is refused to a request that waited for another run in vain, and taken over when that run has died', async () => {
    await lines(1);
    await server.foundation.platform.write({ tenantId: null }, (tx) =>
      tx.run('UPDATE calendar_connections SET run_token = ?, run_until = ? WHERE tenant_id = ?', [
        'of another process',
        clock.now() + 60_000,
        org.tenant.id,
      ]),
    );
    const refused = (await sync().catch((error: unknown) => error)) as { code: string; details: object };
    expect([refused.code, refused.details]).to.deep.equal(['CALENDAR_SYNC_RUNNING', { retryAfterSeconds: 30 }]);
    clock.advance(60_000);
    expect(counts(await sync())).to.include({ created: 1 });
  });

  it('is continued by the schedule when the time of a request is over', async () => {
    await lines(30);
    provider.before = () => {
      clock.advance(2_000);
      return undefined;
    };
    const answer = await sync();
    expect(answer).to.include({ failed: 0, complete: false });
    expect(answer.created).to.be.within(5, 20);
    expect(await calendarStatus(owner)).to.include({ lastSyncAt: null, lastError: null });
    works();
    await server.schedules.run('calendar');
    expectAll(30);
    expect(await calendarStatus(owner)).to.include({
      lastError: null,
      lastSyncAt: new Date(clock.now()).toISOString(),
    });
  });
}
