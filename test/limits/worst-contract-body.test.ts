import { expect } from 'chai';
import { worstBodies } from './worst-bodies.js';
import { BOUND_MS, PARTS, watchedServer } from './worst-runs.js';

describe('the most expensive body for contract data', () => {
  const { slowOf } = watchedServer();

  for (const endpoint of PARTS.contracts ?? []) {
    const { route } = endpoint;
    it(`of ${route} delays no other request by more than ${BOUND_MS} ms`, async () => {
      expect(await slowOf(endpoint, worstBodies)).to.deep.equal([]);
    }).timeout(300_000); // some bodies have megabytes
  }
});
