import { expect } from 'chai';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { ContractPage } from '../../server/endpoints/named.js';
import { startServer, type TestServer } from '../support/server.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

/** Contracts of a list are serialised once per version; contracts that are read one by one are not. */
describe('the list of contracts', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  const listed = async ({ client }: Organisation) =>
    (await client.get<ContractPage>('/contracts', { query: { pageSize: 200 } })).body.items;

  it('has every contract as it is when read alone, after each request that changes something', async function () {
    this.timeout(300_000);
    const outdated: string[] = [];
    let compared = 0;
    for (const { route, calls = [] } of Object.values(ENDPOINTS)) {
      if (calls.length === 0 || route.startsWith('GET ')) continue;
      const org = await organisation(server);
      const sample = await sampleOf(route, org);
      await listed(org);
      await send(org.client, route, sample);
      for (const item of await listed(org)) {
        const { body } = await org.client.get<ContractDetail>(`/contracts/${item.id}`);
        compared++;
        const different = (Object.keys(item) as (keyof typeof item)[]).filter(
          (key) => JSON.stringify(item[key]) !== JSON.stringify({ ...body }[key as keyof ContractDetail]),
        );
        if (different.length > 0) outdated.push(`${route}: ${different.join(', ')}`);
      }
    }
    expect(outdated).to.deep.equal([]);
    expect(compared).to.be.greaterThan(25);
  });
});
