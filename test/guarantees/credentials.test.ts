import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { FrameworkError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { API_DOCUMENT, EXTENSIONS } from './api-document.js';
import { send } from './requests.js';

/** Routes that can be called without a token, according to the API document rather than the endpoints. */
const PUBLIC = [...API_DOCUMENT, ...EXTENSIONS].filter(({ needs }) => needs === 'public').map(({ route }) => route);

/** A missing token and invalid ones; the last one is well-formed with an invalid signature. */
const BAD: Readonly<Record<string, string | undefined>> = {
  'no Authorization': undefined,
  'an empty token': 'Bearer ',
  'another scheme': 'Basic b3duZXI6cGFzc3dvcmQ=',
  garbage: 'Bearer garbage',
  'a token signed by nobody': `Bearer ${['{"alg":"none"}', '{"scope":"tenant","exp":99999999999}', 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.')}`,
  'a token with a line end in it': 'Bearer abc%0d%0a',
};

const WITHOUT_TOKEN: ReadonlySet<string> = new Set(['no Authorization', 'an empty token', 'another scheme']);

describe('every endpoint requires a credential', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
  });
  after(() => server.stop());

  it('except those listed as public', () => {
    expect(
      Object.values(ENDPOINTS)
        .filter(({ needs }) => needs === 'public')
        .map(({ route }) => route)
        .toSorted(),
    ).to.deep.equal(PUBLIC.toSorted());
  });

  for (const { route } of Object.values(ENDPOINTS)) {
    if (PUBLIC.includes(route)) {
      it(`${route} requires none, and ignores an invalid one`, async () => {
        const answer = await send(
          server.client,
          route,
          {},
          { headers: { Authorization: 'Bearer garbage' }, query: 'surprise=1' },
        );
        expect(answer.status, answer.text).to.equal(400);
      });
    } else {
      it(`${route} answers 401 without one, also to an invalid request for a nonexistent record`, async () => {
        for (const [name, authorization] of Object.entries(BAD)) {
          const answer = await send<FrameworkError>(
            server.client,
            route,
            route.startsWith('GET') ? {} : { body: { surprise: 1 } },
            { query: 'surprise=1', headers: authorization === undefined ? {} : { Authorization: authorization } },
          );
          expect(answer.status, `${name}: ${answer.text}`).to.equal(401);
          expect(answer.body).to.include({ statusCode: 401, error: 'Unauthorized' });
          expect(answer.headers.get('www-authenticate'), name).to.equal(
            WITHOUT_TOKEN.has(name)
              ? 'Bearer'
              : `Bearer error="invalid_token", error_description="${String(answer.body.message)}"`,
          );
          expect(answer.body.message, name).to.match(WITHOUT_TOKEN.has(name) ? /is missing/ : /is not an access token/);
        }
      });
    }
  }
});
