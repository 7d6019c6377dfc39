import { expect } from 'chai';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import {
  calendarStatus,
  connectCalendar,
  eventsOf,
  organisationWithCalendar,
  startCalendarServer,
  syncCalendar,
} from '../support/calendar.js';
import { CALENDAR_PROVIDERS, type Account, type FakeCalendarProvider } from '../support/calendar-provider.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';
import type { DatabaseKind, TestServer } from '../support/server.js';

interface Made {
  readonly id: string;
  readonly contractNo: string;
  readonly payments: readonly { readonly id: string; readonly period: string }[];
}

describe('pushing open payment lines to a calendar', () => {
  for (const name of CALENDAR_PROVIDERS)
    for (const database of ['sqlite', 'postgres'] as const)
      describe(`of ${name}, on ${database}`, () => {
        if (database === 'postgres') needsPostgres();
        pushing(name, database);
      });
});

function pushing(name: FakeCalendarProvider['name'], database: DatabaseKind): void {
  const clock = fakeClock('2026-03-15T08:00:00.000Z');
  let provider: FakeCalendarProvider;
  let server: TestServer;
  let stop: (() => Promise<void>) | undefined;
  let org: MadeTenant;
  let owner: Client;
  let account: Account;
  before(async () => {
    ({ provider, server, stop } = await startCalendarServer(name, { database, clock }));
  });
  beforeEach(async () => {
    clock.advance(24 * 3_600_000);
    provider.before = () => undefined;
    provider.after = () => undefined;
    ({ org, owner, account } = await organisationWithCalendar({ server, provider }));
  });
  after(() => stop?.());

  const contract = async (payments: Parameters<typeof aLine>[0][], more: object = {}): Promise<Made> => {
    const { subjectId } = org;
    const body = aContract({
      subjectId,
      ownerId: org.owner.id,
      payments: payments.map((line) => aLine(line)),
      ...more,
    });
    const answer = await owner.post<Made>('/contracts', body);
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  };
  const lineOf = ({ payments }: Made, period: string): string =>
    payments.find((line) => line.period === period)?.id ?? '';
  const sync = async () => {
    const answer = await syncCalendar(owner);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };
  const done = (counts: object = {}) => ({
    created: 0,
    updated: 0,
    removed: 0,
    unchanged: 0,
    failed: 0,
    errors: [],
    complete: true,
    ...counts,
  });
  const titles = () => eventsOf(account).map(({ title }) => title);

  it('creates an all-day event for each open line, overdue ones included, and none for paid ones', async () => {
    const { contractNo, ...made } = await contract(
      [
        { period: 'overdue', dueDate: '2025-12-31', amount: 1_234.5 },
        { period: 'later', dueDate: '2028-02-29', amount: 10, receivedAmount: 4, receivedDate: '2026-03-01' },
        { period: 'paid', amount: 5, receivedAmount: 5, receivedDate: '2026-03-01' },
      ],
      { partyA: 'Harbour Ltd', projectName: 'Cranes' },
    );
    expect(await sync()).to.deep.equal(done({ created: 2 }));
    const [first, second] = eventsOf(account);
    expect(first).to.deep.include({
      title: `1234.50 CNY due from Harbour Ltd (${contractNo})`,
      description: `Contract: ${contractNo} · Cranes\nCustomer: Harbour Ltd\nPayment line: overdue\nDue: 2025-12-31\nOutstanding: 1234.50 CNY`,
      from: '2025-12-31',
      to: '2026-01-01',
      disturbs: false,
      tenantId: org.tenant.id,
      lineId: lineOf({ contractNo, ...made }, 'overdue'),
    });
    expect(second).to.include({
      title: `6.00 CNY due from Harbour Ltd (${contractNo})`,
      from: '2028-02-29',
      to: '2028-03-01',
    });
    expect(await calendarStatus(owner)).to.include({
      connected: true,
      lastSyncAt: new Date(clock.now()).toISOString(),
      lastError: null,
    });
  });

  it('changes nothing when it is repeated, and asks the provider for nothing', async () => {
    await contract([{ period: 'a' }, { period: 'b' }]);
    expect(await sync()).to.deep.equal(done({ created: 2 }));
    const [requests, etags] = [provider.requests.length, eventsOf(account).map(({ etag }) => etag)];
    expect(await sync()).to.deep.equal(done({ unchanged: 2 }));
    expect(provider.requests).to.have.length(requests);
    expect(eventsOf(account).map(({ etag }) => etag)).to.deep.equal(etags);
  });

  it('follows changes of lines, and removes those of paid lines, deleted lines and deleted contracts', async () => {
    const made = await contract(
      ['moved', 'partial', 'paid', 'deleted', 'kept'].map((period) => ({ period, amount: 100 })),
    );
    const other = await contract([{ period: 'of a deleted contract' }]);
    expect(await sync()).to.deep.equal(done({ created: 6 }));
    await owner.patch(`/payments/${lineOf(made, 'moved')}`, { dueDate: '2027-05-05' });
    await owner.post(`/payments/${lineOf(made, 'partial')}/receipts`, { amount: 40 });
    await owner.post(`/payments/${lineOf(made, 'paid')}/receipts`, { amount: 100 });
    await owner.delete(`/payments/${lineOf(made, 'deleted')}`);
    await owner.delete(`/contracts/${other.id}`);
    expect(await sync()).to.deep.equal(done({ updated: 2, removed: 3, unchanged: 1 }));
    expect(eventsOf(account)).to.have.length(3);
    expect(eventsOf(account).find(({ lineId }) => lineId === lineOf(made, 'moved'))?.from).to.equal('2027-05-05');
    expect(titles().filter((title) => title.startsWith('60.00 CNY'))).to.have.length(1);
    // Open again: a refund, and a restored contract.
    await owner.patch(`/payments/${lineOf(made, 'paid')}/receipt`, { receivedAmount: 0 });
    await owner.post(`/contracts/${other.id}/restore`);
    expect(await sync()).to.deep.equal(done({ created: 2, unchanged: 3 }));
    expect(eventsOf(account)).to.have.length(5);
    expect(await sync()).to.deep.equal(done({ unchanged: 5 }));
  });

  it('leaves an event that was deleted in the calendar until its line changes', async () => {
    const made = await contract([{ period: 'a', amount: 100 }]);
    await sync();
    const [event] = eventsOf(account);
    if (event) account.events.set(event.id, { ...event, deleted: true });
    expect(await sync()).to.deep.equal(done({ unchanged: 1 }));
    await owner.post(`/payments/${lineOf(made, 'a')}/receipts`, { amount: 1 });
    expect(await sync()).to.deep.equal(done({ updated: 1 }));
    expect(titles()).to.have.length(1);
    await owner.post(`/payments/${lineOf(made, 'a')}/receipts`, { amount: 99 });
    const [left] = eventsOf(account);
    if (left) account.events.set(left.id, { ...left, deleted: true });
    expect(await sync()).to.deep.equal(done({ removed: 1 }));
  });

  it('writes in the language of the organisation and with the decimals of the currency', async () => {
    await owner.patch('/tenant-admin/settings', { defaultLanguage: 'zh-CN', timezone: 'Asia/Shanghai' });
    const { contractNo } = await contract([{ period: '首期', dueDate: '2026-05-01', amount: 1_000 }], {
      partyA: '远东机械',
      projectName: '吊车',
      currencyCode: 'JPY',
    });
    await sync();
    expect(eventsOf(account)[0]).to.include({
      title: `应收 1000 JPY：远东机械（${contractNo}）`,
      description: `合同：${contractNo} · 吊车\n客户：远东机械\n付款期次：首期\n到期日：2026-05-01\n未收金额：1000 JPY`,
      from: '2026-05-01',
      to: '2026-05-02',
    });
  });

  it('shows only what the member who connected the calendar may see, also when another administrator pushes', async () => {
    const subject = await server.services.tenants.subjects.add(
      { tenantId: org.tenant.id, name: 'Second Ltd' },
      OPERATOR,
    );
    const limited = await makeMember(server.services, org, { roleCode: 'admin', subjectScope: [subject.id] });
    const { client } = await signIn(server.client, { tenant: org.tenant, member: limited });
    const visible = await contract([{ period: 'visible' }], { subjectId: subject.id });
    await contract([{ period: 'hidden' }]);
    account = await connectCalendar(client, provider);
    expect(await sync()).to.deep.equal(done({ created: 1 }));
    expect(eventsOf(account).map(({ lineId }) => lineId)).to.deep.equal([lineOf(visible, 'visible')]);
    await owner.patch(`/tenant-admin/members/${limited.id}`, { subjectScope: [org.subjectId] });
    expect(await sync()).to.deep.equal(done({ created: 1, removed: 1 }));
  });

  it('finds the events of an earlier connection in the same calendar, over several pages, and no others', async () => {
    const made = await contract(['a', 'b', 'c', 'd', 'e'].map((period) => ({ period, amount: 100 })));
    await sync();
    const ofOthers = { ...eventsOf(account)[0], id: 'other', tenantId: 'another-tenant', lineId: 'x' };
    account.events.set('other', ofOthers as never);
    await owner.post(`/payments/${lineOf(made, 'a')}/receipts`, { amount: 100 });
    await connectCalendar(owner, provider, account);
    expect(await sync()).to.deep.equal(done({ updated: 4, removed: 1 }));
    expect(eventsOf(account)).to.have.length(5);
    expect(account.events.get('other')?.deleted).to.equal(false);
  });

  it('renews the access token when it is due, and when the provider refuses it', async () => {
    await contract([{ period: 'a' }]);
    const renewals = () => provider.tokenRequests.filter((body) => body.get('grant_type') === 'refresh_token').length;
    const before = renewals();
    await sync();
    expect(renewals()).to.equal(before);
    clock.advance(3_600_000);
    const again = await signIn(server.client, { tenant: org.tenant, member: org.owner });
    owner = again.client;
    await contract([{ period: 'b' }, { period: 'c' }, { period: 'd' }]);
    expect(await sync()).to.deep.equal(done({ created: 3, unchanged: 1 }));
    expect(renewals()).to.equal(before + 1);
    provider.expireAccessTokens();
    await contract([{ period: 'e' }]);
    expect(await sync()).to.deep.equal(done({ created: 1, unchanged: 4 }));
    expect(renewals()).to.equal(before + 2);
  });

  it('does not create events twice when two requests push at the same time', async () => {
    await contract(Array.from({ length: 12 }, (_, i) => ({ period: String(i) })));
    const answers = await Promise.all(Array.from({ length: 3 }, sync));
    expect(answers.map(({ created }) => created).toSorted((a, b) => a - b)).to.deep.equal([0, 0, 12]);
    expect(eventsOf(account)).to.have.length(12);
  });

  it('answers a repeated idempotency key with the stored answer', async () => {
    await contract([{ period: 'a' }]);
    const keyed = () =>
      owner.post('/calendar-sync/sync-open-payments', undefined, {
        headers: { 'Idempotency-Key': `key-${org.tenant.id}` },
      });
    const first = await keyed();
    const second = await keyed();
    expect(first.body).to.deep.equal(done({ created: 1 }));
    expect([second.body, second.headers.get('idempotency-replayed')]).to.deep.equal([first.body, 'true']);
  });

  it('is refused without a connection, and recorded with its counts', async () => {
    const other = await makeTenant(server.services);
    const { client } = await signIn(server.client, { tenant: other.tenant, member: other.owner });
    const refused = await syncCalendar<DomainError>(client);
    expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
      409,
      'CALENDAR_NOT_CONNECTED',
      { reason: null },
    ]);
    await contract([{ period: 'a' }]);
    await sync();
    const row = await server.foundation.platform.read({ tenantId: null }, (tx) =>
      tx.get("SELECT changes FROM audit_log WHERE tenant_id = ? AND action = 'calendar_synced'", [org.tenant.id]),
    );
    expect(JSON.parse(String(row?.['changes']))).to.deep.equal({
      created: 1,
      updated: 0,
      removed: 0,
      unchanged: 0,
      failed: 0,
      complete: true,
    });
  });
}
