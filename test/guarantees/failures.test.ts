import { expect } from 'chai';
import { STATUS_CODES } from 'node:http';
import { FAILURES, type FailureCode } from '../../data-plane-agent/base/failures.js';
import { LINK_FAILURES } from '../../data-plane-agent/base/failures-of-links.js';
import type { OperationList } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { declaredFailures, failuresOf } from '../../server/http/openapi-responses.js';
import { REASON_CODES } from '../../server/integrations/ai-gateway/policy.js';
import { startServer, type TestServer } from '../support/server.js';
import { read, sourceFiles } from '../support/source.js';

/** Failures that any endpoint may return without declaring them. */
const GENERAL: ReadonlySet<string> = new Set<FailureCode>([
  'INVALID_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'MFA_ENROLMENT_REQUIRED',
  'PLAN_FEATURE_NOT_ENABLED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'DATA_PLANE_NOT_CONNECTED',
  'DATA_PLANE_MISMATCH',
  'DATA_PLANE_DENIED',
  'DATA_PLANE_UNAVAILABLE',
  'DATA_PLANE_OUTCOME_UNKNOWN',
  'DATA_MOVING',
  'DATA_MOVED',
  'BOT_CHALLENGE_FAILED',
  'BOT_CHALLENGE_UNAVAILABLE',
]);

/** Of the paths for agents, which are no endpoints. */
const OF_LINKS: ReadonlySet<string> = new Set(Object.keys(LINK_FAILURES));

/** Of operations that only a command calls: it tells its user what to do. */
const OF_COMMANDS: ReadonlySet<string> = new Set<FailureCode>(['DATA_MOVE_REFUSED']);

/** Codes of services without an endpoint. Entries may only be removed. */
const NOT_ANSWERED_YET: readonly string[] = [];

/**
 * Callers of operations other than endpoints: scheduled jobs, services that use both databases, the validation of
 * bodies, the CLI.
 */
const otherCallers = sourceFiles()
  .filter((file) => /^(server\/(?!endpoints\/)|cli\/(?!demo\/)|data-plane-agent\/host\/)/.test(file))
  .map(read)
  .join('\n');

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
const operations: OperationList = OPERATIONS;
const declared = new Set<string>(endpoints.flatMap(declaredFailures));
const catalogue = Object.keys(FAILURES);
/** Found in the source as `fail('CODE', …)`. */
const thrown = new Set(
  sourceFiles()
    .filter((file) => !file.startsWith('test/'))
    .flatMap((file) => [...read(file).matchAll(/\bfail\(\s*'([A-Z_0-9]+)'/g)].map(([, code = '']) => code)),
);

describe('the catalogue of failures', () => {
  it('gives each a valid HTTP status, and a meaning in a sentence', () => {
    const faulty = Object.entries(FAILURES).filter(
      ([, { status, meaning }]) =>
        status < 400 || STATUS_CODES[status] === undefined || !/^[A-Z`].{10,}\.$/.test(meaning),
    );
    expect(faulty.map(([code]) => code)).to.deep.equal([]);
  });

  it("has codes in the domain's format, and framework errors without a code", () => {
    const framework = Object.entries(FAILURES)
      .filter(([, { shape }]) => shape === 'framework')
      .map(([, { status }]) => status);
    expect([...new Set(framework)]).to.have.members([400, 401, 403, 404, 429, 503]);
  });

  it('is the only place where codes are defined', () => {
    expect([...thrown].filter((code) => !catalogue.includes(code))).to.deep.equal([]);
  });

  it('has no unused code', () => {
    expect(catalogue.filter((code) => !thrown.has(code))).to.deep.equal([]);
  });

  it('has only codes that an endpoint declares, or that any endpoint may return', () => {
    const homeless = [...thrown].filter(
      (code) => !GENERAL.has(code) && !OF_LINKS.has(code) && !OF_COMMANDS.has(code) && !declared.has(code),
    );
    expect(homeless.toSorted()).to.deep.equal(NOT_ANSWERED_YET.toSorted());
  });

  it('lists the codes of each endpoint once', () => {
    for (const { route, fails } of endpoints) {
      expect(
        fails.filter((code) => !catalogue.includes(code)),
        route,
      ).to.deep.equal([]);
      expect(
        fails.filter((code, index) => fails.indexOf(code) !== index),
        route,
      ).to.deep.equal([]);
    }
  });
});

/** Reads that are events: they only record who read. */
const GOES_ON_RECORD: ReadonlySet<string> = new Set([
  'GET /files/:id/download',
  'GET /contracts/export',
  'GET /invoices/export',
]);

describe('an endpoint over contract data', () => {
  for (const endpoint of endpoints) {
    const called = endpoint.calls ?? [];
    if (called.length === 0) continue;

    it(`${endpoint.route} declares all failures of ${called.join(' and ')}`, () => {
      expect(called.filter((name) => operations[name] === undefined)).to.deep.equal([]);
      expect(failuresOf(endpoint)).to.include.members(called.flatMap((name) => operations[name]?.fails ?? []));
    });

    it(`${endpoint.route} calls at most one operation that writes, and none when it reads`, () => {
      const writes = called.filter((name) => operations[name]?.effect === 'write');
      expect(writes.length).to.be.at.most(
        endpoint.route.startsWith('GET ') && !GOES_ON_RECORD.has(endpoint.route) ? 0 : 1,
      );
    });
  }

  it('exists for every operation, unless a job, a service or the CLI calls it', () => {
    const called = new Set<string>(endpoints.flatMap(({ calls = [] }) => calls));
    const isCalled = (name: string) => otherCallers.includes(`.${name}({`) || otherCallers.includes(`'${name}'`);
    expect(Object.keys(operations).filter((name) => !called.has(name) && !isCalled(name))).to.deep.equal([]);
  });
});

describe('the catalogue and the OpenAPI document', () => {
  let server: TestServer;
  let text: string;
  before(async () => {
    server = await startServer();
    ({ text } = await server.client.get('/openapi.json'));
  });
  after(() => server.stop());

  it('have the same codes, with status and meaning', () => {
    const { 'x-failures': listed } = JSON.parse(text) as {
      'x-failures': Record<string, { status: number; meaning: string }>;
    };
    expect(Object.entries(listed).map(([code, { status, meaning }]) => [code, status, meaning])).to.deep.equal(
      Object.entries(FAILURES).map(([code, { status, meaning }]) => [code, status, meaning]),
    );
  });

  it('list every code of the domain in the introduction', () => {
    const { info } = JSON.parse(text) as { info: { description: string } };
    const domain = Object.entries(FAILURES).filter(([, { shape }]) => shape === 'domain');
    expect(
      domain.filter(([code, { status }]) => !info.description.includes(`| \`${code}\` | ${status} |`)),
    ).to.deep.equal([]);
  });

  it('name no unknown code', () => {
    const { 'x-failures': _, ...document } = JSON.parse(text) as Record<string, unknown>;
    const enums = [...JSON.stringify(document).matchAll(/"code":\{"type":"string","enum":\[([^\]]*)\]/g)].flatMap(
      ([, values = '']) => JSON.parse(`[${values}]`) as string[],
    );
    expect(enums.length).to.be.greaterThan(5);
    // Reasons of an inspection, whose answer is 200, have codes too.
    const codes: readonly string[] = [...catalogue, ...REASON_CODES];
    expect(enums.filter((code) => !codes.includes(code))).to.deep.equal([]);
  });

  it('agree on the failures of each endpoint', () => {
    const { paths } = JSON.parse(text) as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    for (const endpoint of endpoints) {
      const { route } = endpoint;
      const [method = '', path = ''] = route.split(' ');
      const responses = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.responses ?? {};
      for (const code of failuresOf(endpoint)) {
        const { status, shape, meaning } = FAILURES[code];
        expect(responses[status]?.description, `${route} ${code}`).to.contain(shape === 'domain' ? code : meaning);
      }
    }
  });
});
