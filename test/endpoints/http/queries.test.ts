import { expect } from 'chai';
import { s } from '../../../data-plane-agent/base/schema.js';
import { endpoint } from '../../../server/http/endpoint.js';
import type { FrameworkError } from '../../support/http.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

const ID = '01890000-0000-7000-8000-00000000000a';
const query = s.object({
  page: s.optional(s.integer({ min: 1, max: 100, default: 1 })),
  min: s.optional(s.number()),
  overdue: s.optional(s.flag()),
  q: s.optional(s.text({ max: 20 })),
  sort: s.optional(s.enum(['name', 'date'])),
  ids: s.optional(s.list(s.id(), 3)),
  stages: s.optional(s.list(s.text(), 10)),
  ownerId: s.optional(s.id()),
  from: s.optional(s.day()),
});
const endpoints = {
  list: endpoint('GET /things', {
    summary: 'List',
    needs: 'signed_in',
    query,
    returns: s.free(),
    fails: [],
    run: ({ query: sent }) => Promise.resolve({ ...sent }),
  }),
  find: endpoint('GET /find', {
    summary: 'Find',
    needs: 'signed_in',
    query: s.object({ name: s.text() }),
    returns: s.free(),
    fails: [],
    run: ({ query: sent }) => Promise.resolve({ ...sent }),
  }),
  callback: endpoint('GET /callback', {
    summary: 'Come back',
    needs: 'public',
    query: s.object({ code: s.optional(s.text()) }),
    openQuery: true,
    returns: s.free(),
    fails: [],
    run: ({ query: sent }) => Promise.resolve({ ...sent }),
  }),
  health: endpoint('GET /health', {
    summary: 'Health',
    needs: 'public',
    returns: s.free(),
    fails: [],
    run: () => Promise.resolve({}),
  }),
};

describe('queries', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints);
  });
  after(() => app.stop());

  const list = (text: string, path = '/things') => app.client.as('good').get<FrameworkError>(path, { query: text });
  const refused = async (text: string, path?: string) => {
    const { status, body } = await list(text, path);
    expect(status, text).to.equal(400);
    return body.message;
  };

  it('are converted by the schema', async () => {
    expect(
      (
        await list(
          `page=2&min=-1.5&overdue=false&q=+a%20b+&sort=date&ids=${ID},${ID}&ids=${ID}&from=2026-03-31T10:00:00Z`,
        )
      ).body,
    ).to.deep.equal({
      page: 2,
      min: -1.5,
      overdue: false,
      q: 'a b',
      sort: 'date',
      ids: [ID, ID, ID],
      from: '2026-03-31',
    });
    expect((await list('stages=a&stages=b,c')).body).to.deep.include({ stages: ['a', 'b', 'c'] });
  });

  it('have the documented defaults, and no value for an empty parameter', async () => {
    expect((await list('')).body).to.deep.equal({ page: 1 });
    expect((await list('page=&q=&sort=&overdue=&stages=')).body).to.deep.equal({ page: 1 });
  });

  it('have one message for each bad parameter', async () => {
    expect(await refused('page=0&min=x&overdue=yes&sort=size&q=123456789012345678901&from=2026-02-30')).to.have.members(
      [
        'page must be >= 1',
        'min must be a number',
        'overdue must be true or false',
        'sort must be one of name, date',
        'q must have at most 20 characters',
        'from must be a calendar date like 2026-03-31',
      ],
    );
    for (const page of ['1.5', '1e1', '0x1', ' 1', '9999999999999999999', 'NaN', '1,2'])
      expect(await refused(`page=${page}`)).to.have.length(1);
    for (const flag of ['TRUE', '1', 'null'])
      expect(await refused(`overdue=${flag}`)).to.deep.equal(['overdue must be true or false']);
  });

  it('with undocumented parameters are refused with their names', async () => {
    expect(await refused('pagesize=2&page=1')).to.deep.equal(['pagesize is not a known parameter']);
    expect(await refused('__proto__=1&constructor=2')).to.deep.equal([
      '__proto__ is not a known parameter',
      'constructor is not a known parameter',
    ]);
    expect(await refused('q[$ne]=1')).to.deep.equal(['q[$ne] is not a known parameter']);
    expect(await refused('x=1', '/health')).to.deep.equal(['x is not a known parameter']);
  });

  it('that repeat a scalar, or have too many list elements, are refused', async () => {
    expect(await refused('q=a&q=b')).to.deep.equal(['q must be given once']);
    expect(await refused(`ids=${[ID, ID, ID, ID].join(',')}`)).to.deep.equal(['ids must have at most 3 items']);
    expect(await refused(Array.from({ length: 201 }, (_, at) => `a${at}=1`).join('&'))).to.deep.equal([
      'query must have at most 200 parameters',
    ]);
  });

  it('without required parameters are refused', async () => {
    expect(await refused('', '/find')).to.deep.equal(['name is required']);
    expect(await refused('name=', '/find')).to.deep.equal(['name must not be empty']);
  });

  it('of callbacks may contain parameters added by the provider', async () => {
    expect((await list('code=c&session_state=1&iss=x', '/callback')).body).to.deep.equal({ code: 'c' });
  });

  it('with an id that is not a UUID find no record', async () => {
    for (const text of ['ownerId=me', `ids=${ID},7`]) {
      expect((await list(text)).text).to.equal('{"statusCode":404,"message":"Not Found","error":"Not Found"}');
    }
    expect((await list(`ownerId=${ID}`)).status).to.equal(200);
  });

  it('with broken escapes are 400, also in the path', async () => {
    for (const path of ['/api/v1/things?q=%ZZ', '/api/v1/things?q=%C3%28', '/api/v1/th%ings']) {
      expect((await app.client.raw(path, { headers: { Authorization: 'Bearer good' } })).body, path).to.deep.equal({
        statusCode: 400,
        message: 'The URL contains invalid percent-escapes',
        error: 'Bad Request',
      });
    }
  });

  it('with control characters or broken Unicode are 400', async () => {
    expect(await refused('q=a%00b')).to.deep.equal(['q must not contain control characters or broken Unicode']);
  });
});
