import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { bodyLimits } from '../../server/http/body-limits.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { Answer, FrameworkError } from '../support/http.js';
import { hostileTextFor, hostileParameters } from '../support/hostile-text.js';
import { forEachServer } from '../support/server.js';
import {
  bodyFields,
  namesRecord,
  pathOf,
  queryFields,
  typesOf,
  withValue,
  type Field,
  type Json,
} from '../support/schemas.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send, type Sample } from './requests.js';
import { platformCounts, rowsOfTenant } from './rows.js';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
/** Well-formed values that an endpoint refuses as a whole: the error names the whole. */
const REFUSED_WHOLE: Readonly<Record<string, RegExp>> = { 'PATCH /contracts/:id': /^payments\b/ };
/** Rows that fail one by one: their errors are in the report, and only unknown fields refuse the request. */
const FAILS_BY_ITSELF: Readonly<Record<string, RegExp>> = {
  'POST /contracts/import': /^rows\[0\]\./,
  'POST /contracts/import/preview': /^rows\[0\]\./,
};
const AT_ONCE = 16;

/** The number of tested values. */
let cases = 0;

forEachServer(
  (server, kind) => {
    describe('bad input', () => {
      let org: Organisation;
      before(async () => {
        org = await organisation(server());
        // The agent of a remote data plane joins with the first request.
        expect((await org.client.get('/contracts')).status).to.equal(200);
      });
      after('print the number of tested values', () => {
        process.stdout.write(`      (${cases} bad values)\n`);
      });

      // Malformed values are refused before a database is queried, so one database is enough.
      for (const endpoint of endpoints.filter(({ body }) => body !== undefined && kind === 'remote')) {
        const { route } = endpoint;
        const { bytes } = bodyLimits(endpoint);

        it(`in the body of ${route} is a 400 that names the field, and nothing is stored`, async () => {
          const sample = await sampleOf(route, org);
          const stored = await state(org);
          const wrong: string[] = [];
          await each(badBodies(endpoint, sample), async ({ label, json, names }) => {
            const answer = await sendText(org, route, sample, json);
            const fault = Buffer.byteLength(json) > bytes ? tooLargeFault(answer, bytes) : faultOf(answer, names);
            if (fault !== undefined) wrong.push(`${label}: ${fault}`);
          });
          expect(wrong).to.deep.equal([]);
          expect(await state(org)).to.equal(stored);
        }).timeout(60_000); // about two thousand requests
      }

      for (const endpoint of endpoints.filter(({ query }) => query !== undefined)) {
        const { route } = endpoint;

        it(`in the query of ${route} is a 400 that names the parameter`, async () => {
          const sample = await sampleOf(route, org);
          const wrong: string[] = [];
          const values = queryFields(endpoint).flatMap(({ path, schema }) => {
            const others = requiredBeside(endpoint, sample, path);
            // A list may be a repeated key; the error names the wrong element.
            const isList = typesOf(schema).includes('array');
            return [
              ...hostileParameters(isList ? (schema['items'] as Json) : schema).map((value) => ({
                path: isList ? `${path}[0]` : path,
                query: `${others}${path}=${value}`,
              })),
              ...(isList ? [] : [{ path, query: `${others}${path}=1&${path}=2` }]),
            ];
          });
          await each(values, async ({ path, query }) => {
            const fault = faultOf(await send<FrameworkError>(org.client, route, sample, { query }), [path]);
            if (fault !== undefined) wrong.push(`${query.slice(0, 60)}: ${fault}`);
          });
          expect(wrong).to.deep.equal([]);
        });

        it(`in the query of ${route}: an invalid id matches no record`, async () => {
          const sample = await sampleOf(route, org);
          for (const { path } of queryFields(endpoint).filter(namesRecord)) {
            for (const value of NO_IDS)
              expect(
                (await send(org.client, route, { ...sample, query: { ...sample.query, [path]: value } })).status,
                `${path}=${value}`,
              ).to.equal(404);
          }
        });
      }

      for (const { route } of endpoints.filter((endpoint) => endpoint.route.includes('/:'))) {
        it(`in the path of ${route}: an invalid id matches no record`, async () => {
          const sample = await sampleOf(route, org);
          for (const value of NO_IDS) {
            for (const name of Object.keys(sample.params ?? {}))
              expect(
                (await send(org.client, route, { ...sample, params: { ...sample.params, [name]: value } })).status,
                value,
              ).to.equal(404);
          }
        });
      }

      it('is never an unexpected error', () => {
        expect(server().logged.filter(({ msg }) => msg === 'unexpected error')).to.deep.equal([]);
      });
    });

    const state = async (org: Organisation): Promise<string> =>
      JSON.stringify([await rowsOfTenant(server(), org.tenant.id), await platformCounts(server())]);
  },
  { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
);

const NO_IDS = [
  'no-id',
  '0',
  '-1',
  'null',
  'undefined',
  '__proto__',
  "' OR '1'='1",
  '../../etc/passwd',
  '01890000-0000-7000-8000-00000000000',
  '01890000-0000-7000-8000-0000000000000',
  '0189000000007000800000000000000a',
  '{01890000-0000-7000-8000-000000000001}',
  '０１８９',
  '💥',
  'x'.repeat(90),
];

interface Bad {
  readonly label: string;
  readonly json: string;
  /** The fields of which exactly one must be named; `null` if the error is about the whole request. */
  readonly names: readonly string[] | null;
}

function badBodies(endpoint: Endpoint, { body = {} }: Sample): Bad[] {
  const schema = endpoint.body as unknown as Json;
  const fields = bodyFields(endpoint);
  const filled = (field: Field, json: string): string =>
    JSON.stringify(withValue(body, { parts: field.parts, schema }, HERE)).replace(`"${HERE}"`, () => json);
  const perField = fields
    .filter(({ path }) => !FAILS_BY_ITSELF[endpoint.route]?.test(path))
    .flatMap((field) => {
      const [outermost = ''] = field.parts.map(String);
      const whole = REFUSED_WHOLE[endpoint.route]?.test(field.path) ? [outermost] : [];
      const named = { outermost: [outermost], element: [`${field.path}[0]`] };
      const nasty = hostileTextFor(field.schema).map(({ label, json, names }): Bad => ({
        label: `${field.path} = ${label}`,
        json: filled(field, json),
        names: names ? named[names] : [field.path, ...whole],
      }));
      const missing: Bad[] =
        field.required && field.within === 'object'
          ? [{ label: `${field.path} left out`, json: without(filled(field, `"${HERE}"`)), names: [field.path] }]
          : [];
      return [...nasty, ...missing];
    });
  const keys = [
    [],
    ...fields.filter((field) => field.schema['additionalProperties'] === false).map(({ parts }) => parts),
  ].map((parts): Bad => {
    const path = pathOf([...parts, '__proto__']);
    const json = JSON.stringify(withValue(body, { parts: [...parts, HERE], schema }, 1)).replace(
      `"${HERE}"`,
      '"__proto__"',
    );
    return { label: `the key ${path}`, json, names: [path] };
  });
  const whole = ['null', '[]', '"text"', '5', 'true', '[{}]'].map((json): Bad => ({
    label: `the body ${json}`,
    json,
    names: ['body'],
  }));
  const broken = [
    '{',
    '{"a":}',
    '{"a":1,}',
    '{"a":01}',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":1}{"b":2}',
    '{"a":"\u0000"}',
    '\uFEFF\uFEFF{}',
    '{"a":1}x',
  ].map((json): Bad => ({ label: `the body ${json}`, json, names: null }));
  return [...perField, ...keys, ...whole, ...broken, { label: '50 000 levels', json: '['.repeat(50_000), names: null }];
}

/** Parameters that are required besides the wrong one. */
function requiredBeside({ query }: Endpoint, sample: Sample, path: string): string {
  const required = ((query as { required?: readonly string[] } | undefined)?.required ?? []).filter(
    (name) => name !== path,
  );
  return required.map((name) => `${name}=${encodeURIComponent(sample.query?.[name] ?? '')}&`).join('');
}

/** A placeholder in the JSON text for values that no serialiser would write. */
const HERE = 'b8d1-here';
const without = (json: string): string => json.replace(new RegExp(`,?"[^"]+":"${HERE}"`), '').replaceAll('{,', '{');

/** A body of too many bytes is refused before its fields are looked at. */
const tooLargeFault = ({ status, text }: Answer<FrameworkError>, bytes: number): string | undefined =>
  status === 413 && text.includes(`at most ${bytes} bytes`) ? undefined : `${status} ${text.slice(0, 300)}`;

/** Describes the error in the refusal; undefined if it has one message that begins with the field. */
function faultOf({ status, body, text }: Answer<FrameworkError>, names: readonly string[] | null): string | undefined {
  const short = text.slice(0, 300);
  if (status !== 400) return `${status} ${short}`;
  if (body.statusCode !== 400 || body.error !== 'Bad Request') return `another shape: ${short}`;
  if (names === null) return undefined;
  if (!Array.isArray(body.message) || body.message.length !== 1) return `not one message: ${short}`;
  const [message = ''] = body.message as readonly string[];
  return names.some((name) => message.startsWith(`${name} `)) ? undefined : `does not name it: ${message}`;
}

async function sendText(
  org: Organisation,
  route: string,
  sample: Sample,
  json: string,
): Promise<Answer<FrameworkError>> {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => sample.params?.[name] ?? '');
  return org.client.raw<FrameworkError>(`/api/v1${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${org.token}` },
    body: json,
  });
}

/** A few at a time, to keep the server busy without overloading the machine. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  cases += items.length;
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
