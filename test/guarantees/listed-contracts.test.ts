import { expect } from 'chai';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { todayIn } from '../../data-plane-agent/base/day.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentPage } from '../../data-plane-agent/plane/contract/records/lines.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { ContractPage } from '../../server/endpoints/named.js';
import { aCall, listedContracts } from '../support/plane.js';
import { startServer, type TestServer } from '../support/server.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

/** Lists, contracts and payment lines are kept until the data changes, and a contract's core until its version does. */
describe('the list of contracts', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  const answersOf = async ({ client }: Organisation) => {
    const { body: listed } = await client.get<ContractPage>('/contracts', { query: { pageSize: 200 } });
    const contracts: ContractDetail[] = [];
    for (const { id } of listed.items) contracts.push((await client.get<ContractDetail>(`/contracts/${id}`)).body);
    const { body: lines } = await client.get<PaymentPage>('/payments', { query: { tab: 'all', pageSize: 200 } });
    return { listed: listed.items, contracts, lines: lines.items };
  };

  /** The same from a data plane that has kept nothing. */
  const freshOf = async ({ tenant, owner }: Organisation) => {
    const { tenant: database } = server.foundation;
    if (!database) throw new Error('this edition keeps contract data');
    const keyRing = parseKeyRing(generateKeyRingText());
    const call = aCall();
    const settings = await server.services.tenants.settings(tenant.id);
    const plane = bind(
      createLocalDataPlane({ operations: OPERATIONS, database, clock: systemClock, keyRing }),
      {
        ...call,
        tenantId: tenant.id,
        actor: { ...call.actor, id: owner.id, roleCode: 'owner' },
        timeZone: settings.timezone,
        today: todayIn(settings.timezone, systemClock.now()),
        reminderLeadDays: settings.reminderLeadDays,
      },
      { operations: OPERATIONS },
    );
    const { items } = await listedContracts(plane, { pageSize: 200 });
    const contracts = [];
    for (const { id } of items) contracts.push(await plane.getContract({ contractId: id }));
    return { listed: items, contracts, lines: (await plane.listPayments({ tab: 'all', pageSize: 200 })).items };
  };

  it('has every contract as it is when read alone, after each request that changes something', async function () {
    this.timeout(300_000);
    const outdated: string[] = [];
    let compared = 0;
    for (const { route, calls = [] } of Object.values(ENDPOINTS)) {
      if (calls.length === 0 || route.startsWith('GET ')) continue;
      const org = await organisation(server);
      const sample = await sampleOf(route, org);
      await answersOf(org);
      await send(org.client, route, sample);
      const [answers, fresh] = [await answersOf(org), await freshOf(org)];
      for (const kind of ['listed', 'contracts', 'lines'] as const) {
        if (answers[kind].length !== fresh[kind].length) outdated.push(`${route}: the number of ${kind}`);
        fresh[kind].forEach((expected, i) =>
          outdated.push(...differing(`${route}: ${kind}`, expected, answers[kind][i])),
        );
      }
      answers.listed.forEach((item, i) => {
        compared++;
        outdated.push(...differing(`${route}: alone`, withoutNames(item), answers.contracts[i]));
      });
    }
    expect(outdated).to.deep.equal([]);
    expect(compared).to.be.greaterThan(25);
  });

  it('has the names of now', async () => {
    const org = await organisation(server);
    await send(org.client, 'POST /contracts/:id/payments', await sampleOf('POST /contracts/:id/payments', org));
    const named = async () => {
      const { listed, contracts, lines } = await answersOf(org);
      return [...listed, ...contracts, ...lines].map((one) => (one as { subjectName?: string }).subjectName);
    };
    const before = await named();
    expect(before).to.have.length.greaterThan(2);
    expect(await named()).to.deep.equal(before);
    const [subject] = (await org.client.get<{ id: string; name: string }[]>('/tenant-admin/subjects')).body;
    expect(subject?.name).to.equal(before[0]);
    const renamed = await org.client.patch(`/tenant-admin/subjects/${subject?.id}`, { name: 'Renamed Leasing' });
    expect(renamed.status).to.equal(200);
    expect(new Set(await named())).to.deep.equal(new Set(['Renamed Leasing']));
  });
});

const withoutNames = (item: object): object =>
  Object.fromEntries(Object.entries(item).filter(([key]) => !key.endsWith('Name') || key === 'projectName'));

/** The fields of `expected` that `actual` has otherwise. */
const differing = (what: string, expected: object, actual: object | undefined): string[] =>
  Object.entries(expected)
    .filter(
      ([key, value]) =>
        JSON.stringify(value) !== JSON.stringify((actual as Readonly<Record<string, unknown>> | undefined)?.[key]),
    )
    .map(([key]) => `${what}: ${key}`);
