import { expect } from 'chai';
import { worstBodies } from './worst-bodies.js';
import { prepareWorkbooks, worstImports } from './worst-imports.js';
import { BOUND_MS, PARTS, watchedServer } from './worst-runs.js';

describe('the most expensive body of an import', () => {
  const { slowOf } = watchedServer();
  before(prepareWorkbooks);

  for (const endpoint of PARTS.imports ?? []) {
    const { route } = endpoint;
    it(`of ${route} delays no other request by more than ${BOUND_MS} ms`, async () => {
      expect(
        await slowOf(endpoint, (one, sample) => [...worstImports(sample), ...worstBodies(one, sample)]),
      ).to.deep.equal([]);
    }).timeout(300_000); // some bodies have megabytes
  }
});
