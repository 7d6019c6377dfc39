import { expect } from 'chai';
import { needText } from '../../server/access/permissions.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { startServer, type TestServer } from '../support/server.js';
import { API_DOCUMENT, EXTENSIONS, PAGES } from './api-document.js';
import { REQUESTS } from './requests.js';

describe('the endpoints are those of the API document and our additions', () => {
  const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
  const promised = [...API_DOCUMENT, ...EXTENSIONS];
  const routes = endpoints.map(({ route }) => route as string);

  it('the list of documented routes names each once', () => {
    const names = promised.map(({ route }) => route.replaceAll(/:\w+/g, ':'));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
    expect(
      promised.filter(
        ({ route, needs }) =>
          !/^(GET|POST|PATCH|PUT|DELETE) \/[a-z]/.test(route) ||
          !/^(public|bearer|[a-z_]+ \((view|edit)\))$/.test(needs),
      ),
    ).to.deep.equal([]);
  });

  it('each documented one exists', () => {
    expect(promised.map(({ route }) => route).filter((route) => !routes.includes(route))).to.deep.equal([]);
  });

  it('each existing one is documented, with the same permission and plan feature', () => {
    const ours = endpoints.map(({ route, needs, feature }) => ({
      route,
      needs: typeof needs === 'object' ? needText(needs) : needs === 'signed_in' ? 'bearer' : needs,
      feature,
    }));
    expect(ours).to.deep.equal(ours.map(({ route }) => promised.find((row) => row.route === route)));
  });

  it('each existing one has a sample request in these tests, and there are no others', () => {
    expect(Object.keys(REQUESTS).toSorted()).to.deep.equal(routes.toSorted());
  });

  describe('the pages besides the endpoints', () => {
    let server: TestServer;
    before(async () => {
      server = await startServer({ env: { METRICS_TOKEN: 'a-token-for-the-metrics' } });
    });
    after(() => server.stop());

    for (const path of PAGES) {
      it(`${path} is public and read-only`, async () => {
        const answer = await server.client.raw(path);
        expect(answer.status, answer.text).to.equal(200);
        const other = await server.client.raw(path, { method: 'POST', body: '{}' });
        expect(other.status).to.equal(405);
        expect(other.headers.get('allow')).to.contain('GET');
      });
    }

    it('/metrics is available to clients with its token', async () => {
      expect((await server.client.raw('/metrics')).status).to.equal(401);
      const answer = await server.client.raw('/metrics', {
        headers: { Authorization: 'Bearer a-token-for-the-metrics' },
      });
      expect(answer.status).to.equal(200);
      expect(answer.text).to.contain('# TYPE');
    });
  });
});
