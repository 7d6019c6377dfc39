import { expect } from 'chai';
import { FAILURES } from '../../../data-plane-agent/base/failures.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import { edit, view } from '../../../server/access/permissions.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { caller, littleApp, type LittleApp } from '../../support/little-app.js';

const ID = '01890000-0000-7000-8000-00000000000a';
const Thing = s.object({ id: s.id(), name: s.text() });
const echo = { id: ID, name: 'x' };

const endpoints = {
  getThing: endpoint('GET /things/:id', {
    summary: 'Read',
    needs: view('contract_view'),
    returns: Thing,
    fails: [],
    run: () => Promise.resolve(echo),
  }),
  getStats: endpoint('GET /things/stats', {
    summary: 'Count',
    needs: view('contract_view'),
    returns: s.object({ count: s.integer() }),
    fails: [],
    run: () => Promise.resolve({ count: 1 }),
  }),
  changeThing: endpoint('PATCH /things/:id', {
    summary: 'Change',
    needs: edit('contract_edit'),
    feature: 'customFields',
    body: s.object({ name: s.text() }),
    returns: Thing,
    fails: [],
    run: ({ body, params }) => Promise.resolve({ id: params.id, name: body.name }),
  }),
  me: endpoint('GET /auth/me', {
    summary: 'Me',
    needs: 'signed_in',
    returns: s.object({ id: s.id() }),
    fails: [],
    run: ({ principal }) => Promise.resolve({ id: principal.user.id }),
  }),
  hello: endpoint('GET /hello', {
    summary: 'Hello',
    needs: 'public',
    returns: s.object({ hello: s.flag() }),
    fails: [],
    run: () => Promise.resolve({ hello: true }),
  }),
};

describe('the order of refusals', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints, {
      callers: {
        good: caller(),
        viewer: caller({ levels: { contract_edit: 'view' } }),
        poor: caller({ without: ['apiAccess', 'customFields'], levels: { contract_edit: 'none' } }),
        page: caller({ without: ['apiAccess'], ownPages: true }),
        plain: caller({ without: ['customFields'], levels: { contract_edit: 'none' } }),
      },
    });
  });
  after(() => app.stop());

  it('is 404 for an unknown path, with and without a token', async () => {
    for (const token of ['good', null]) {
      const answer = await app.client.get('/nothing', { token });
      expect(answer.status).to.equal(404);
      expect(answer.text).to.equal('{"statusCode":404,"message":"Not Found","error":"Not Found"}');
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    }
    expect((await app.client.raw('/elsewhere')).text).to.equal(
      '{"statusCode":404,"message":"Not Found","error":"Not Found"}',
    );
    expect((await app.client.get('/THINGS/stats', { token: 'good' })).status).to.equal(404);
    expect((await app.client.get('/hello/')).status).to.equal(404);
  });

  it('is 405 with the allowed methods, with and without a token', async () => {
    const answer = await app.client.post('/things/stats', { any: 1 });
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.equal('GET, HEAD');
    expect(answer.body).to.deep.equal({ statusCode: 405, message: 'Method Not Allowed', error: 'Method Not Allowed' });
    expect((await app.client.raw('/api/v1/hello', { method: 'OPTIONS' })).status).to.equal(405);
  });

  it('is 405 for a method that only the sibling with a parameter has', async () => {
    for (const token of ['good', null]) {
      const answer = await app.client.patch('/things/stats', { amount: 1 }, { token });
      expect([answer.status, answer.headers.get('allow')], answer.text).to.deep.equal([405, 'GET, HEAD']);
    }
    expect((await app.client.patch(`/things/${ID}`, { amount: 1 }, { token: 'good' })).status).not.to.equal(405);
  });

  it('is 401 before the body is read', async () => {
    const missing = 'The access token is missing; send it as Authorization: Bearer TOKEN.';
    const foreign = 'This is not an access token of this service.';
    for (const [token, headers, message] of [
      [null, {}, missing],
      ['unknown', {}, foreign],
      [null, { Authorization: 'Basic good' }, missing],
      [null, { Authorization: 'Bearer' }, missing],
      [null, { Authorization: 'Bearer go od' }, foreign],
    ] as const) {
      const answer = await app.client.patch(`/things/${ID}`, undefined, {
        token,
        headers: { 'Content-Type': 'text/plain', ...headers },
      });
      expect(answer.status).to.equal(401);
      expect(answer.headers.get('www-authenticate')).to.equal(
        message === missing ? 'Bearer' : `Bearer error="invalid_token", error_description="${foreign}"`,
      );
      expect(answer.body).to.deep.equal({ statusCode: 401, message, error: 'Unauthorized' });
    }
    expect(
      (await app.client.get('/auth/me', { token: null, headers: { authorization: 'bearer good' } })).status,
    ).to.equal(200);
  });

  it('is 403 for the plan before 403 for the module: apiAccess, then the feature of the endpoint', async () => {
    const noAccess = await app.client.as('poor').patch(`/things/${ID}`, {});
    expect(noAccess.status).to.equal(403);
    expect(noAccess.body).to.deep.equal({
      error: {
        code: 'PLAN_FEATURE_NOT_ENABLED',
        message: FAILURES.PLAN_FEATURE_NOT_ENABLED.meaning,
        details: { feature: 'apiAccess', plans: ['business', 'enterprise'] },
      },
    });
    expect((await app.client.as('plain').patch(`/things/${ID}`, {})).body).to.have.nested.property(
      'error.details.feature',
      'customFields',
    );
  });

  it('does not include apiAccess under /auth and for sessions of our own pages', async () => {
    expect((await app.client.as('poor').get('/auth/me')).status).to.equal(200);
    expect((await app.client.as('page').get(`/things/${ID}`)).status).to.equal(200);
    expect((await app.client.as('poor').get(`/things/${ID}`)).status).to.equal(403);
  });

  it('is 403 for the module in the standard format, with the missing right, before the body is read', async () => {
    const answer = await app.client
      .as('viewer')
      .patch(`/things/${ID}`, undefined, { headers: { 'Content-Type': 'text/plain' } });
    expect(answer.status).to.equal(403);
    expect(answer.body).to.deep.equal({
      statusCode: 403,
      message: 'contract_edit (edit) is required; your role "owner" has contract_edit (view)',
      error: 'Forbidden',
    });
  });

  it('answers a path id that is not a UUID like a missing record, after the validation of the body', async () => {
    const notFound = '{"statusCode":404,"message":"Not Found","error":"Not Found"}';
    for (const id of ['7', 'x', ID.toUpperCase(), `${ID}0`, '%20', '..%2F..'])
      expect((await app.client.as('good').get(`/things/${id}`)).text).to.equal(notFound);
    expect((await app.client.as('good').patch('/things/7', { name: 'n' })).text).to.equal(notFound);
    expect((await app.client.as('good').patch('/things/7', {})).status).to.equal(400);
  });

  it('prefers a literal path to one with a parameter, in any order of declaration', async () => {
    expect((await app.client.as('good').get('/things/stats')).body).to.deep.equal({ count: 1 });
  });

  it('answers HEAD as GET without its body', async () => {
    const answer = await app.client.raw('/api/v1/hello', { method: 'HEAD' });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-length')).to.equal('14');
    expect(answer.text).to.equal('');
  });
});
