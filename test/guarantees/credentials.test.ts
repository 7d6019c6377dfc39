import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { FrameworkError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { API_DOCUMENT, EXTENSIONS } from './api-document.js';
import { MISSING } from './missing-endpoints.js';
import { send } from './requests.js';

/** Who may be called without a token, from the API document and not from the endpoints. */
const PUBLIC = [...API_DOCUMENT, ...EXTENSIONS]
  .filter(({ route, needs }) => needs === 'public' && !MISSING.includes(route))
  .map(({ route }) => route);

/** A missing token and invalid ones; the last is well-formed but has no valid signature. */
const BAD: Readonly<Record<string, string | undefined>> = {
  'no Authorization': undefined,
  'an empty token': 'Bearer ',
  'another scheme': 'Basic b3duZXI6cGFzc3dvcmQ=',
  garbage: 'Bearer garbage',
  'a token signed by nobody': `Bearer ${['{"alg":"none"}', '{"scope":"tenant","exp":99999999999}', 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.')}`,
  'a token with a line end in it': 'Bearer abc%0d%0a',
};

describe('every endpoint needs a credential', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
  });
  after(() => server.stop());

  it('but those that are listed as public', () => {
    expect(
      Object.values(ENDPOINTS)
        .filter(({ needs }) => needs === 'public')
        .map(({ route }) => route)
        .toSorted(),
    ).to.deep.equal(PUBLIC.toSorted());
  });

  for (const { route } of Object.values(ENDPOINTS)) {
    if (PUBLIC.includes(route)) {
      it(`${route} asks for none, and minds none`, async () => {
        const answer = await send(
          server.client,
          route,
          {},
          { headers: { Authorization: 'Bearer garbage' }, query: 'surprise=1' },
        );
        expect(answer.status, answer.text).to.equal(400);
      });
    } else {
      it(`${route} answers 401 without one, also to a bad request for a record that is not there`, async () => {
        for (const [name, authorization] of Object.entries(BAD)) {
          const answer = await send<FrameworkError>(
            server.client,
            route,
            route.startsWith('GET') ? {} : { body: { surprise: 1 } },
            { query: 'surprise=1', headers: authorization === undefined ? {} : { Authorization: authorization } },
          );
          expect(answer.status, `${name}: ${answer.text}`).to.equal(401);
          expect(answer.body).to.include({ statusCode: 401, error: 'Unauthorized' });
          expect(answer.body.message).to.be.a('string');
          expect(answer.headers.get('www-authenticate')).to.match(/^Bearer\b/);
        }
      });
    }
  }
});
