import { expect } from 'chai';
import type { ContractDetail, ContractSummary } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { installations } from '../support/cli.js';
import { client } from '../support/http.js';
import { all, type DemoData, got, ofEach } from '../support/demo-features/ask.js';
import { COLLECTION_FEATURES } from '../support/demo-features/collections.js';
import { CONTRACT_FEATURES } from '../support/demo-features/contracts.js';
import { MONEY_AND_CONFIGURATION_FEATURES } from '../support/demo-features/money-and-configuration.js';

describe('the demo', function () {
  this.timeout(240_000);
  const install = installations();

  it('shows every feature', async () => {
    const { start } = await install();
    const running = start(['demo', '--json'], { env: { PORT: '0' } });
    const { url, signIn } = JSON.parse(await running.printed('\n}\n')) as {
      url: string;
      signIn: { tenantSlug: string; password: string };
    };
    const signedIn = async (local: string) =>
      client(
        url,
        (
          await client(url).post<{ accessToken: string }>('/auth/login', {
            ...signIn,
            email: `${local}@huayue.example`,
          })
        ).body.accessToken,
      );
    const [owner, seller] = [await signedIn('lin.hui'), await signedIn('zhang.wei')];
    const ids = (await all<ContractSummary>(owner, '/contracts')).map(({ id }) => id);
    const contracts = await ofEach(ids, (id) => got<ContractDetail>(owner, `/contracts/${id}`));
    const demo: DemoData = {
      owner,
      seller,
      contracts,
      fields: await got(owner, '/dynamic-fields'),
      catalog: await got(owner, '/contract-config/catalog'),
    };
    const missing: string[] = [];
    for (const [feature, question] of Object.entries({
      ...CONTRACT_FEATURES,
      ...MONEY_AND_CONFIGURATION_FEATURES,
      ...COLLECTION_FEATURES,
    })) {
      try {
        await question(demo);
      } catch (error) {
        missing.push(`${feature}: ${String(error)}`);
      }
    }
    expect(missing).to.deep.equal([]);
    running.kill('SIGTERM');
    expect(await running.ended).to.deep.include({ code: 0 });
  });
});
