import { expect } from 'chai';
import fc from 'fast-check';
import { FAILURES, type FailureCode } from '../../data-plane-agent/base/failures.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { declaredFailures } from '../../server/http/openapi-responses.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { forEachServer } from '../support/server.js';
import { bodyFields, queryFields, withValue, type Json } from '../support/schemas.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
const RUNS = 20;

/** Random values, most of them almost valid. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.double(),
  fc.integer(),
  fc.constantFrom<unknown>(
    '',
    ' ',
    null,
    true,
    0,
    1,
    -1,
    0.01,
    1e21,
    '2026-02-28',
    '2026-02-30',
    'EUR',
    'JPY',
    'sale',
    'matched',
    'paid',
    'completed',
    '01890000-0000-7000-8000-0000000000ff',
    '%',
    "'",
    '\\',
    'null',
    '1e400',
  ),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);

forEachServer(
  (server) => {
    describe('arbitrary input', () => {
      let org: Organisation;
      before(async () => {
        org = await organisation(server());
      });

      for (const endpoint of endpoints.filter(({ body }) => body !== undefined)) {
        const { route } = endpoint;

        it(`to ${route} is answered with a result or a well-formed refusal`, async () => {
          const sample = await sampleOf(route, org);
          const fields = bodyFields(endpoint);
          const changes = fc.array(fc.tuple(fc.constantFrom(...fields), value), { minLength: 1, maxLength: 4 });
          const mutated = changes.map((list) =>
            list.reduce<unknown>(
              (body, [field, given]) =>
                withValue(body, { parts: field.parts, schema: endpoint.body as unknown as Json }, given),
              sample.body,
            ),
          );
          await fc.assert(
            fc.asyncProperty(
              fc.oneof(
                { weight: 4, arbitrary: mutated },
                { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<unknown> },
              ),
              async (body) => {
                check(endpoint, await send(org.client, route, { ...sample, body: body as Record<string, unknown> }));
              },
            ),
            { numRuns: RUNS },
          );
        });
      }

      for (const endpoint of endpoints.filter(({ query }) => query !== undefined)) {
        it(`to ${endpoint.route} in the query is answered in the same way`, async () => {
          const sample = await sampleOf(endpoint.route, org);
          const names = fc.oneof(
            { weight: 9, arbitrary: fc.constantFrom(...queryFields(endpoint).map(({ path }) => path)) },
            { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
          );
          const texts = fc
            .oneof(
              fc.string({ unit: 'grapheme', maxLength: 20 }),
              value.filter((given) => typeof given !== 'object' && typeof given !== 'symbol').map(String),
            )
            .map((text) => text.toWellFormed());
          await fc.assert(
            fc.asyncProperty(fc.array(fc.tuple(names, texts), { maxLength: 4 }), async (pairs) => {
              check(
                endpoint,
                await send(
                  org.client,
                  endpoint.route,
                  { ...sample, query: {} },
                  {
                    query: new URLSearchParams(
                      pairs.map(([name, text]): [string, string] => [name.toWellFormed(), text]),
                    ).toString(),
                  },
                ),
              );
            }),
            { numRuns: RUNS },
          );
        });
      }

      for (const endpoint of endpoints.filter(({ route }) => route.includes('/:'))) {
        it(`to ${endpoint.route} as an id is 404`, async () => {
          const sample = await sampleOf(endpoint.route, org);
          await fc.assert(
            fc.asyncProperty(
              fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }).filter((id) => !/^\.{1,2}$/.test(id)),
              async (id) => {
                const answer = await send(org.client, endpoint.route, {
                  ...sample,
                  params: Object.fromEntries(Object.keys(sample.params ?? {}).map((name) => [name, id])),
                });
                check(endpoint, answer);
                expect(answer.status, answer.text).to.equal(404);
              },
            ),
            { numRuns: RUNS },
          );
        });
      }

      it('causes no unexpected error', () => {
        expect(
          server().logged.filter(
            ({ level }) => level === 'error' || level === 'fatal' || (typeof level === 'number' && level >= 50),
          ),
        ).to.deep.equal([]);
      });
    });
  },
  { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
);

/** Whether it is a result, or a refusal that the endpoint declares, in the format for its status. */
function check(endpoint: Endpoint, { status, body, text }: Answer<unknown>): void {
  const { route, status: usual = 200 } = endpoint;
  expect(status, `${route}: ${text}`).to.be.below(500);
  if (status < 400) return void expect(status).to.equal(usual);
  const { error } = body as DomainError | FrameworkError;
  if (typeof error === 'string') {
    const { statusCode, message } = body as FrameworkError;
    expect(statusCode).to.equal(status);
    expect(Object.keys(body as object)).to.deep.equal(['statusCode', 'message', 'error']);
    if (Array.isArray(message))
      for (const line of message as readonly string[]) expect(line).to.match(/ (must|is|cannot)\b/u);
  } else {
    expect(Object.keys(error)).to.deep.equal(['code', 'message', 'details']);
    expect(declaredFailures(endpoint)).to.include(error.code as FailureCode);
    expect(FAILURES[error.code as FailureCode].status).to.equal(status);
  }
}
