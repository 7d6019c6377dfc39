import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { FrameworkError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { bodyFields, pathOf, typesOf, withValue, type Json } from '../support/schemas.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

describe('unknown fields are refused and named', () => {
  let server: TestServer;
  let org: Organisation;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
    org = await organisation(server);
  });
  after(() => server.stop());

  for (const endpoint of Object.values(ENDPOINTS) as readonly Endpoint[]) {
    const { route, body, openQuery } = endpoint;

    it(`in the query of ${route}${openQuery ? ', which lets them pass' : ''}`, async () => {
      const sample = await sampleOf(route, org);
      const answer = await send<FrameworkError>(org.client, route, {
        ...sample,
        query: { ...sample.query, surprise: '1' },
      });
      if (openQuery) return void expect(answer.status, answer.text).to.be.below(400);
      expect(answer.body, answer.text).to.deep.equal({
        statusCode: 400,
        message: ['surprise is not a known parameter'],
        error: 'Bad Request',
      });
    });

    it(`in the body of ${route}, at every depth`, async () => {
      const sample = await sampleOf(route, org);
      for (const { parts } of [
        { parts: [], schema: (body ?? {}) as Json },
        ...(body ? bodyFields(endpoint) : []),
      ].filter(closedObject)) {
        for (const name of ['surprise', 'constructor', 'hasOwnProperty', 'tenantId']) {
          const path = [...parts, name];
          const sent = body ? withValue(sample.body, { parts: path, schema: (body ?? {}) as Json }, 1) : { [name]: 1 };
          const answer = await send<FrameworkError>(org.client, route, {
            ...sample,
            body: sent as Record<string, unknown>,
          });
          expect(answer.body, answer.text).to.deep.equal({
            statusCode: 400,
            message: [`${pathOf(path)} is not a known field`],
            error: 'Bad Request',
          });
        }
      }
    });
  }
});

/** Whether an object has fixed fields; free objects accept any field. */
const closedObject = ({ parts, schema }: { parts: readonly unknown[]; schema: Json }): boolean =>
  parts.length === 0 || (typesOf(schema).includes('object') && schema['additionalProperties'] === false);
