import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { DEMO_OWNER, DEMO_TENANT } from '../../cli/demo/cast.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { tagOf } from '../../server/http/openapi-tags.js';
import { installations } from '../support/cli.js';
import { fakeClock } from '../support/clock.js';
import { signIn } from '../support/accounts.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHANGES_CALLER } from './auth-requests.js';
import { DEMO_PASSWORD, EXAMPLE_REQUESTS, RECORDED_AT } from './example-requests.js';
import { memberOf, type Organisation } from './organisations.js';
import { recorder } from './recorded.js';
import { REQUESTS, send, type Sample } from './requests.js';

const FOLDER = new URL('../../server/endpoints/', import.meta.url);
const endpoints = Object.entries(ENDPOINTS) as readonly (readonly [string, Endpoint])[];

type Example = { path?: unknown; query?: unknown; request?: unknown; answer?: unknown };
type Json = Readonly<Record<string, unknown>>;

describe('the examples of the reference', () => {
  let server: TestServer;
  const recorded: Record<string, Record<string, Example>> = {};

  // Creates demo data of three hundred contracts, and sends a request to each endpoint.
  const installation = installations(after);
  before('record each request on the demo data', async function record() {
    this.timeout(240_000);
    const clock = fakeClock(RECORDED_AT);
    const one = await installation();
    await mkdir(one.dataDir, { recursive: true });
    await writeFile(join(one.dataDir, 'demo-password'), `${DEMO_PASSWORD}\n`);
    const made = await one.inProcess(['demo', '--no-serve', '--json'], { clock });
    expect(made.code, made.stderr).to.equal(0);
    server = await startServer({
      clock,
      env: {
        DATA_DIR: one.dataDir,
        LOGIN_FAILURES_PER_ACCOUNT: '0',
        AI_GATEWAY_ALLOWED_PROVIDERS: 'openai',
        AI_GATEWAY_ALLOWED_MODELS: 'gpt-5*',
      },
    });
    const org = await demoOrganisation(server);
    const failed: string[] = [];
    for (const [name, endpoint] of endpoints) {
      const { route } = endpoint;
      const isOwn = CHANGES_CALLER.has(route) && route !== 'POST /tenant-admin/owner-transfer';
      const caller = isOwn ? { ...org, ...(await memberOf(org, { roleCode: 'admin' })) } : org;
      try {
        const sample = await (EXAMPLE_REQUESTS[route] ?? REQUESTS[route] ?? missing(route))(caller);
        const answer = await send(caller.client, route, sample);
        expect(answer.status, answer.text).to.equal(endpoint.status ?? 200);
        (recorded[tagOf(endpoint)] ??= {})[name] = exampleOf(endpoint, sample, answer);
      } catch (error) {
        failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    expect(failed).to.deep.equal([]);
  });
  after(() => server?.stop());

  it('are equal to the current answers on the demo data', async () => {
    for (const [tag, examples] of Object.entries(recorded)) {
      const file = new URL(fileOf(tag), FOLDER);
      const text = await format(JSON.stringify(examples), { parser: 'json', printWidth: 120 });
      if (process.env['UPDATE_EXAMPLES'] === '1') await writeFile(file, text);
      expect(await readFile(file, 'utf8'), `${fileOf(tag)}: UPDATE_EXAMPLES=1 records it again`).to.equal(text);
    }
    expect((await readdir(FOLDER)).filter((name) => name.endsWith('.json')).toSorted()).to.deep.equal(
      Object.keys(recorded).map(fileOf).toSorted(),
    );
  });

  it('exist for each operation in the document, and match its schemas', async () => {
    const { body: document } = await server.client.get<Document>('/openapi.json');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'duebook', components: document.components });
    const faults: unknown[] = [];
    const check = (name: string, value: unknown, schema: Json): void => {
      const validate = ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"duebook#/components/')) as Json,
      );
      if (!validate(value)) faults.push({ name, value, errors: validate.errors });
    };
    for (const [name, endpoint] of endpoints) {
      const [method = '', path = ''] = endpoint.route.split(' ');
      const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const request = Object.values(operation?.requestBody?.content ?? {})[0];
      if (endpoint.body)
        if (request?.examples?.['recorded'])
          check(`${name} request`, request.examples['recorded'].value, request.schema);
        else if (operation?.requestBody?.required) faults.push(`${name}: no example of the request`);
      const answer = Object.values(operation?.responses[String(endpoint.status ?? 200)]?.content ?? {})[0];
      if (endpoint.status !== 302)
        if (answer?.examples?.['recorded']) check(`${name} answer`, answer.examples['recorded'].value, answer.schema);
        else faults.push(`${name}: no example of the answer`);
      for (const { name: parameter, example, schema } of operation?.parameters ?? [])
        if (example !== undefined) check(`${name} ${parameter}`, example, schema);
    }
    expect(faults).to.deep.equal([]);
  });

  it('are not prefilled in forms that change amounts', async () => {
    const { body: document } = await server.client.get<Document>('/openapi.json');
    const prefilled = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ requestBody }) => requestBody)
      .map(({ operationId, requestBody }) => ({
        operationId,
        value: Object.values(Object.values(requestBody?.content ?? {})[0]?.examples ?? {})[0]?.value,
      }));
    expect(prefilled.map(({ operationId }) => operationId)).to.include.members(['recordReceipt', 'createContract']);
    expect(
      prefilled.filter(({ value }) => /"\w*(amount|price|deposit|rent)":/i.test(JSON.stringify(value) ?? '')),
    ).to.deep.equal([]);
  });
});

interface Media {
  readonly schema: Json;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly example?: unknown; readonly schema: Json }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface Document {
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const fileOf = (tag: string): string => `${tag.toLowerCase().replaceAll(' ', '-')}.examples.json`;

function missing(route: string): never {
  throw new Error(`add a request for ${route} to test/guarantees/requests.ts`);
}

function exampleOf(endpoint: Endpoint, sample: Sample, answer: { text: string; body: unknown }): Example {
  const record = recorder();
  const isFile = endpoint.produces !== undefined;
  return {
    ...(sample.params ? { path: record(sample.params) } : {}),
    ...(sample.query ? { query: record(sample.query) } : {}),
    ...(sample.body ? { request: record(sample.body) } : {}),
    ...(endpoint.status === 302 ? {} : { answer: record(isFile ? answer.text : answer.body) }),
  };
}

/** The demo's organisation in the form that the requests of the guarantee tests use. */
async function demoOrganisation(server: TestServer): Promise<Organisation> {
  const { services } = server;
  const tenant = await services.tenants.bySlug(DEMO_TENANT.slug);
  if (!tenant) throw new Error('the demo has no organisation');
  const members = await services.tenants.members.list(tenant.id);
  const [owner, other] = [DEMO_OWNER.email, undefined].map((email) =>
    members.find((member) => (email === undefined ? member.roleCode === 'admin' : member.email === email)),
  );
  const [subject, second] = (await services.directory.of(tenant.id)).subjects();
  if (!owner || !other || !subject || !second) throw new Error('the demo lacks an owner, an admin or companies');
  const { client, result } = await signIn(server.client, { tenant, member: owner });
  return {
    tenant,
    owner,
    subjectId: subject.id,
    otherSubjectId: second.id,
    memberId: other.id,
    client,
    token: result.accessToken,
    server,
    marker: 'harbour-terminal',
  };
}
