import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { Answer } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import type { Json } from '../support/schemas.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters: readonly {
    readonly $ref?: string;
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Json;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<
      string,
      { readonly schema: Json; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }
    >;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, object>>;
        readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
      }
    >
  >;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

const endpoints = Object.entries(ENDPOINTS) as readonly (readonly [string, Endpoint])[];

describe('the OpenAPI document', () => {
  let server: TestServer;
  let org: Organisation;
  let document: Document;
  let ajv: Ajv2020;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
    org = await organisation(server);
    ({ body: document } = await server.client.get<Document>('/openapi.json'));
    ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'duebook', components: document.components });
  });
  after(() => server.stop());

  const operationOf = ({ route }: Endpoint): Operation => {
    const [method = '', path = ''] = route.split(' ');
    const found = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    if (!found) throw new Error(`${route} is not in the document`);
    return found;
  };
  const responseOf = (endpoint: Endpoint, { status, text, headers }: Answer<unknown>) => {
    const response = operationOf(endpoint).responses[status];
    expect(response, `${endpoint.route} answers ${status}, which is not documented: ${text}`).not.to.equal(undefined);
    if (status === 302) {
      expect([headers.get('location') === null, headers.get('content-type'), text]).to.deep.equal([false, null, '']);
      return {};
    }
    const reported = Object.keys(response?.headers ?? {}).filter((header) => header !== 'Idempotency-Replayed');
    expect(
      ['ETag', 'Content-Disposition', 'WWW-Authenticate', 'Retry-After'].filter((header) => headers.has(header)),
      `${endpoint.route} answers ${status} with these headers`,
    ).to.have.members(reported);
    const type = status < 300 ? (endpoint.produces ?? 'application/json') : 'application/json';
    expect(headers.get('content-type')).to.equal(`${type}; charset=utf-8`);
    return response?.content?.[type]?.schema ?? {};
  };
  /** The schema from the document, with the components that it refers to. */
  const faultsIn = (value: unknown, schema: Json): readonly unknown[] => {
    const validate = ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"duebook#/components/')) as Json,
    );
    return validate(value) ? [] : (validate.errors ?? []);
  };

  it('is valid OpenAPI 3.1, including references', async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect(result.errors ?? []).to.deep.equal([]);
    expect([result.valid, validator.version, document.openapi]).to.deep.equal([true, '3.1', '3.1.0']);
    expect(() => validator.resolveRefs()).not.to.throw();
  });

  it('has only recorded requests that its schemas accept', () => {
    let checked = 0;
    for (const [name, endpoint] of endpoints) {
      const media = operationOf(endpoint).requestBody?.content['application/json'];
      for (const [example, { value }] of Object.entries(media?.examples ?? {})) {
        if (example === 'empty') continue; // so that a form is not sent with amounts by mistake
        checked++;
        expect(faultsIn(value, media?.schema ?? {}), `${name}: ${example}`).to.deep.equal([]);
      }
    }
    expect(checked).to.be.above(50);
  });

  it('has no broken reference and no unused component', () => {
    const text = JSON.stringify(document);
    const named = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name),
    );
    expect([...named].toSorted()).to.deep.equal(Object.keys(document.components.schemas).toSorted());
  });

  it('has every endpoint once, with its name', () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ]),
    );
    expect(listed).to.have.deep.members(endpoints.map(([name, { route }]) => [name, route]));
    expect(new Set(listed.map(([name]) => name)).size).to.equal(listed.length);
  });

  it('does not contain internal keywords', () => {
    expect(JSON.stringify(document)).not.to.match(/"x-(text|verbatim|free|one-of|some-of)"/);
  });

  it('says of fields that are each optional that one of them must have a value', async () => {
    const rows = [{}];
    for (const [endpoint, bodies] of [
      [
        ENDPOINTS.importContracts,
        [{ rows: null, csv: '' }, { csv: 'a', rows }, { sheetName: 'a' }, { csv: 'a', rows: null }],
      ],
      [ENDPOINTS.extractContract, [{ text: '' }, { text: 'a', fileRef: 'b' }, { fileName: 'a' }, { text: 'a' }]],
      [ENDPOINTS.transitionContract, [{ toStageCode: null }, { note: 'a' }, { toStageCode: '' }, { toStageCode: 'a' }]],
    ] as const) {
      const schema = operationOf(endpoint).requestBody?.content['application/json']?.schema ?? {};
      const sample = await sampleOf(endpoint.route, org);
      for (const [i, body] of bodies.entries()) {
        const isRefused = i < bodies.length - 1;
        expect(faultsIn(body, schema).length > 0, JSON.stringify(body)).to.equal(isRefused);
        const { status } = await send(org.client, endpoint.route, { ...sample, body });
        expect(status === 400, JSON.stringify(body)).to.equal(isRefused);
      }
    }
  });

  it('documents the 404 for filters with an unknown member or record', async () => {
    for (const query of ['actor=0', 'record=0']) {
      const answer = await org.client.get<Json>(`/audit?${query}`);
      expect(answer.status, query).to.equal(404);
      expect(faultsIn(answer.body, responseOf(ENDPOINTS.listAuditEvents, answer)), query).to.deep.equal([]);
    }
  });

  it('is answered with 304 to clients that have it', async () => {
    const first = await server.client.get('/openapi.json');
    // By default fetch sends this request with `Cache-Control: no-cache`.
    const again = await server.client.get('/openapi.json', {
      headers: { 'If-None-Match': first.headers.get('etag') ?? '', 'Cache-Control': 'max-age=0' },
    });
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });

  for (const [name, endpoint] of endpoints) {
    const { route, body, query, needs } = endpoint;

    it(`describes the request and the answers of ${name}`, () => {
      const operation = operationOf(endpoint);
      expect(operation.summary).to.match(/^[A-Z][^.]{3,80}$/);
      expect(operation.tags).to.have.length(1);
      expect(operation.security).to.deep.equal(needs === 'public' ? [] : undefined);
      expect(
        operation.parameters
          .filter((parameter) => parameter.in === 'path')
          .map((parameter) => [parameter.name, parameter.required]),
      ).to.deep.equal([...route.matchAll(/:(\w+)/g)].map(([, param]) => [param, true]));
      expect(
        operation.parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name),
      ).to.deep.equal(Object.keys(query?.properties ?? {}));
      expect(operation.requestBody !== undefined).to.equal(body !== undefined);
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description, status).to.have.length.greaterThan(3);
        if (status === '302' || status === '304') expect(content).to.equal(undefined);
        else
          expect(
            Object.keys(
              content?.[status === '200' ? (endpoint.produces ?? 'application/json') : 'application/json']?.schema ??
                {},
            ),
            `${status} has no schema`,
          ).not.to.deep.equal([]);
      }
    });

    if (endpoint.conditional)
      it(`describes that ${name} is answered with 304 to clients that have the answer`, async () => {
        const { responses, parameters } = operationOf(endpoint);
        expect(Object.keys(responses)).to.include('304');
        expect(JSON.stringify(parameters)).to.contain('#/components/parameters/IfNoneMatch');
        const sample = await sampleOf(route, org);
        const first = await send(org.client, route, sample);
        const again = await send(org.client, route, sample, {
          headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
        });
        expect([first.status, again.status, again.text]).to.deep.equal([200, 304, '']);
      });

    if (body)
      it(`states whether ${name} requires a body, and whether it may be empty`, async () => {
        const { body: _body, ...sample } = await sampleOf(route, org);
        const answer = await send(org.client, route, sample);
        const described = operationOf(endpoint).requestBody;
        expect(answer.status === 400, answer.text).to.equal(described?.required);
        const empty = await send(org.client, route, { ...sample, body: {} });
        const faults = faultsIn({}, described?.content['application/json']?.schema ?? {});
        expect(empty.status === 400, `the document finds ${JSON.stringify(faults)}`).to.equal(faults.length > 0);
      });

    it(`describes ${name} as it behaves: accepted requests and answers match`, async () => {
      const sample = await sampleOf(route, org);
      const schema = operationOf(endpoint).requestBody?.content['application/json']?.schema;
      if (schema) expect(faultsIn(sample.body, schema)).to.deep.equal([]);
      // First the refused request, because the successful one may end the session.
      for (const refused of [
        await send(org.client, route, sample, { query: 'surprise=1' }),
        await send(server.client, route, sample, {
          headers: { Authorization: 'Bearer garbage' },
          ...(needs === 'public' ? { query: 'surprise=1' } : {}),
        }),
        ...(route.includes('/:') ? [await send(org.client, route, { ...sample, params: {} })] : []),
      ]) {
        expect(refused.status).to.be.within(400, 404);
        expect(faultsIn(refused.body, responseOf(endpoint, refused)), refused.text).to.deep.equal([]);
      }
      const own = route === 'POST /auth/logout' ? (await organisation(server)).client : org.client;
      const answer = await send(own, route, sample);
      expect(answer.status, answer.text).to.equal(endpoint.status ?? 200);
      expect(faultsIn(endpoint.produces ? answer.text : answer.body, responseOf(endpoint, answer))).to.deep.equal([]);
    });
  }
});
