import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { FAILURES } from '../../../data-plane-agent/base/failures.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import { edit } from '../../../server/access/permissions.js';
import { ENDPOINTS } from '../../../server/endpoints/index.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { openapi } from '../../../server/http/openapi.js';
import { speak } from '../../support/http.js';
import { startServer, type TestServer } from '../../support/server.js';

type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
  tags: { name: string }[];
  'x-failures': Record<string, { status: number }>;
  info: { description: string; version: string };
};
type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  security?: unknown[];
  parameters: Record<string, unknown>[];
  requestBody?: { required: boolean };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }>; headers?: object }>;
};

const ABOUT = { productName: 'Duebook', version: '1.2.3' };
const document = (endpoints: Parameters<typeof openapi>[0] = ENDPOINTS) =>
  openapi(endpoints, ABOUT) as unknown as Document; // with the fields that the test uses
const operations = (of: Document) => Object.values(of.paths).flatMap((path) => Object.values(path));
const plain = { summary: 'Do', needs: 'public', returns: s.free(), fails: [], run: () => Promise.resolve({}) } as const;

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...openapi(ENDPOINTS, ABOUT) });
    expect(result.errors ?? []).to.deep.equal([]);
    expect(result.valid).to.equal(true);
  });

  it('has every endpoint under its own name, with a tag, a summary and a schema for each status', () => {
    const all = operations(document());
    expect(all.map(({ operationId }) => operationId).toSorted()).to.deep.equal(Object.keys(ENDPOINTS).toSorted());
    for (const { operationId, tags, summary, responses } of all) {
      expect(tags, operationId).to.have.length(1);
      expect(summary, operationId).to.match(/^[A-Z]/);
      expect(Object.keys(responses), operationId).to.include.members(['400', '429', '500', '503']);
      for (const [status, { description, content, headers }] of Object.entries(responses)) {
        expect(description, `${operationId} ${status}`).not.to.equal('');
        // A redirect has a location instead of a body.
        if (status === '302') expect(headers, operationId).to.have.property('Location');
        // The client has the body.
        else if (status === '304') expect([Object.keys(headers ?? {}), content]).to.deep.equal([['ETag'], undefined]);
        else expect(Object.values(content ?? {})[0]?.schema, `${operationId} ${status}`).to.be.an('object');
      }
    }
  });

  it('marks endpoints that answer with a file, and requires no key for reads', () => {
    for (const method of ['get', 'post']) {
      const asked = document().paths['/contracts/export']?.[method];
      expect(asked?.responses['200']?.content).to.have.all.keys('text/csv');
      expect(asked?.responses['200']?.content?.['text/csv']?.schema).to.include({
        type: 'string',
        contentMediaType: 'text/csv',
      });
      expect(asked?.responses['400']?.content).to.have.all.keys('application/json');
      expect(JSON.stringify(asked)).not.to.contain('Idempotency-Key is').and.not.to.contain('IDEMPOTENCY_');
      expect(JSON.stringify(asked?.parameters)).not.to.contain('IdempotencyKey');
    }
  });

  it('lists the failures of each endpoint, with their codes', () => {
    const create = document().paths['/contracts']?.['post'];
    expect(create?.responses['409']?.description).to.contain('`DUPLICATE_CONTRACT_NO`');
    expect(JSON.stringify(document().components.schemas['DuplicateContractNoError']))
      .to.contain('"enum":["DUPLICATE_CONTRACT_NO"]')
      .and.contain('"contractNo"');
    expect(create?.responses).to.have.property('201').and.not.to.have.property('200');
    expect(create?.parameters).to.deep.equal([{ $ref: '#/components/parameters/IdempotencyKey' }]);
  });

  it('lists the whole catalogue of failures', () => {
    expect(Object.keys(document()['x-failures'])).to.deep.equal(Object.keys(FAILURES));
    for (const [code, { shape }] of Object.entries(FAILURES))
      if (shape === 'domain') expect(document().info.description).to.contain(`| \`${code}\` |`);
  });

  it('contains no internal keywords, and null as a type', () => {
    const text = JSON.stringify(document());
    expect(text).not.to.match(/x-text|x-name|x-plain|x-verbatim|x-free|"nullable"/);
    expect(JSON.stringify(document().components.schemas['ContractInput'])).to.contain('"type":["string","null"]');
  });

  it('requires a token except on public endpoints', () => {
    for (const operation of operations(document())) {
      const declared = Object.entries(ENDPOINTS).find(([name]) => name === operation.operationId)?.[1];
      expect(operation.security, operation.operationId).to.deep.equal(declared?.needs === 'public' ? [] : undefined);
    }
  });

  it('describes parameters as they are sent: typed ids in the path, no null in the query', () => {
    const Thing = s.object({ id: s.id() }, { title: 'Thing' });
    const made = document({
      find: endpoint('GET /saved-views/:id', {
        ...plain,
        needs: edit('contract_edit'),
        feature: 'customFields',
        returns: s.object({ thing: s.nullable(Thing) }),
        run: () => Promise.resolve({ thing: null }),
        query: s.object({
          sort: s.optional(s.enum(['a', 'b'], 'By what.')),
          page: s.optional(s.integer({ default: 1 })),
          q: s.text(),
        }),
      }),
    });
    const operation = made.paths['/saved-views/{id}']?.['get'];
    expect(operation?.parameters).to.deep.equal([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'The id of the view. An id that is not a UUID is 404.',
        schema: { type: 'string', format: 'uuid' },
      },
      {
        name: 'sort',
        in: 'query',
        required: false,
        description: 'By what.',
        schema: { type: 'string', enum: ['a', 'b'] },
      },
      {
        name: 'page',
        in: 'query',
        required: false,
        description: 'The number of the page, from 1.',
        schema: { type: 'integer', minimum: 0, maximum: 1_000_000_000, default: 1 },
      },
      { name: 'q', in: 'query', required: true, schema: { type: 'string', minLength: 1, maxLength: 500 } },
    ]);
    expect(operation?.tags).to.deep.equal(['Views']);
    expect(JSON.stringify(operation?.responses['200'])).to.contain(
      '"anyOf":[{"$ref":"#/components/schemas/Thing"},{"type":"null"}]',
    );
    expect(operation?.responses['403']?.description).to.contain('PLAN_FEATURE_NOT_ENABLED').and.contain('module level');
  });

  it('is refused for endpoints that are undocumented or defined twice', () => {
    const get = endpoint('GET /files/:id', plain);
    expect(() => document({ a: get, b: endpoint('GET /files/:other', plain) })).to.throw(
      'two endpoints have the route GET /files/:other',
    );
    expect(() => document({ a: endpoint('GET /files', { ...plain, summary: ' ' }) })).to.throw(
      'the endpoint a has no summary',
    );
    expect(() => document({ 'a-b': get })).to.throw('the endpoint a-b needs a camelCase name');
    const titled = (max: number) => s.object({ a: s.optional(s.text({ max })) }, { title: 'Same' });
    expect(() =>
      document({
        a: endpoint('GET /files', { ...plain, returns: titled(1) }),
        b: endpoint('GET /audit', { ...plain, returns: titled(2) }),
      }),
    ).to.throw('two different schemas have the title Same');
  });
});

describe('pages beside the API', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ env: { METRICS_TOKEN: 'metrics-token-1' } });
  });
  after(() => server.stop());

  it('serve the OpenAPI document under the prefix, with an entity tag', async () => {
    const first = await server.client.get<Document>('/openapi.json');
    expect(first.status).to.equal(200);
    expect(Object.keys(first.body.paths)).to.include('/contracts');
    // Not by fetch, which bypasses caches as soon as a condition is set.
    const again = await speak(
      server.url,
      `GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${first.headers.get('etag') ?? ''}\r\nConnection: close\r\n\r\n`,
    );
    expect(again)
      .to.match(/^HTTP\/1.1 304 /)
      .and.match(/\r\n\r\n$/);
  });

  it('serve a reference page whose parts all come from this origin', async () => {
    const page = await server.client.raw('/docs');
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).to.match(/^default-src 'none'; script-src 'self';/);
    expect(page.text).not.to.match(/https?:\/\//);
    for (const [, path = ''] of page.text.matchAll(/(?:href|src|spec-url)="(\/[^"]+)"/g))
      expect((await server.client.raw(path)).status, path).to.equal(200);
    expect((await server.client.raw('/docs/viewer.js')).headers.get('content-type')).to.contain('javascript');
  });

  it('accept GET only: other methods are 405', async () => {
    for (const path of ['/docs', '/livez', '/metrics', '/api/v1/openapi.json']) {
      const answer = await server.client.raw(path, { method: 'POST' });
      expect([answer.status, answer.headers.get('allow')], path).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('serve metrics to clients with the token: routes as templates, never with ids', async () => {
    expect((await server.client.raw('/metrics')).status).to.equal(401);
    expect(
      (await server.client.raw('/metrics', { headers: { Authorization: 'Bearer metrics-token-2' } })).status,
    ).to.equal(401);
    await server.client.get('/contracts/01890000-0000-7000-8000-00000000000a');
    await server.client.raw('/no/such/path');
    const metrics = await server.client.raw('/metrics', { headers: { Authorization: 'Bearer metrics-token-1' } });
    expect(metrics.status).to.equal(200);
    expect(metrics.headers.get('content-type')).to.match(/^text\/plain; version=0.0.4/);
    for (const line of [
      'duebook_http_requests_total{method="GET",route="/contracts/:id",status="401"} 1',
      'duebook_http_requests_total{method="GET",route="none",status="404"} 1',
      'duebook_http_request_duration_seconds_count{method="GET",route="/contracts/:id"} 1',
      'duebook_database_connections{database="tenant",state="waiting"} 0',
    ])
      expect(metrics.text).to.contain(line);
    expect(metrics.text).to.contain('nodejs_eventloop_lag_seconds').and.contain('process_resident_memory_bytes');
    expect(metrics.text).not.to.match(/[\da-f]{8}-[\da-f]{4}-/);
  });

  it('serve no metrics if no token is set', async () => {
    const other = await startServer();
    const [answer] = await Promise.allSettled([
      other.client.raw('/metrics', { headers: { Authorization: 'Bearer ' } }),
    ]);
    await other.stop();
    expect(answer.status === 'fulfilled' && [answer.value.status, answer.value.text]).to.deep.equal([
      404,
      '{"statusCode":404,"message":"Not Found","error":"Not Found"}',
    ]);
  });
});
