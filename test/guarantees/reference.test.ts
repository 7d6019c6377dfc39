import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ADMINISTRATION } from '../../server/http/described-administration.js';
import { PARTICULAR } from '../../server/http/described-particulars.js';
import { PROPERTIES } from '../../server/http/described-properties.js';
import { SCHEMAS } from '../../server/http/described-schemas.js';
import { startServer, type TestServer } from '../support/server.js';

type Schema = { readonly [keyword: string]: unknown };
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Schema[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
}
interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Names of operations consist of a verb and a noun, except those in `WITHOUT_NOUN`. */
const VERBS =
  /^(accept|add|bulkDelete|bulkSet|change|confirm|create|declare|delete|disable|download|end|exchange|export|extract|find|finish|get|import|inspect|list|login|offboard|presign|preview|record|refresh|register|request|resend|restore|review|revoke|run|send|set|start|transfer|transition|update|withdraw)[A-Z]\w{2,}$/;
const WITHOUT_NOUN = ['login', 'logout'];

/** Properties that need no description, because the name is sufficient. */
const PLAIN: readonly string[] = ['name'];

/** Each property below a schema, with the title of the schema that it belongs to. */
function* propertiesIn(schema: Schema, title: string): Generator<{ title: string; name: string; property: Schema }> {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema as Record<string, never>;
  for (const [name, property] of Object.entries(properties as Record<string, Schema>)) {
    yield { title, name, property };
    yield* propertiesIn(property, title);
  }
  for (const one of [items, additionalProperties, ...(anyOf as Schema[]), ...(oneOf as Schema[])])
    if (typeof one === 'object') yield* propertiesIn(one as Schema, title);
}

const isDescribed = (schema: Schema): boolean =>
  '$ref' in schema || (typeof schema['description'] === 'string' && schema['description'] !== '');

describe('the reference', () => {
  let server: TestServer;
  let document: Document;
  let operations: readonly Operation[];
  before(async () => {
    server = await startServer();
    ({ body: document } = await server.client.get<Document>('/openapi.json'));
    operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  });
  after(() => server.stop());

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(document.info.version).to.equal(version);
  });

  it('groups operations by subject', () => {
    const tagOf = (path: string, method: string) => document.paths[path]?.[method]?.tags;
    expect([
      tagOf('/contracts/import', 'post'),
      tagOf('/contracts/export', 'get'),
      tagOf('/contracts/extract', 'post'),
      tagOf('/contracts/{id}/invoices', 'post'),
      tagOf('/payments/{paymentId}/invoice', 'patch'),
      tagOf('/contracts/{id}/fulfillment-tasks', 'post'),
      tagOf('/contracts/{id}/workflow/transition', 'post'),
      tagOf('/contracts/{id}/payments', 'post'),
      tagOf('/contracts/{id}', 'get'),
      tagOf('/auth/login', 'post'),
      tagOf('/auth/me', 'get'),
      tagOf('/tenant-admin/members', 'get'),
    ]).to.deep.equal(
      [
        'Imports',
        'Exports',
        'Extraction',
        'Invoices',
        'Invoices',
        'Tasks',
        'Workflow',
        'Payment plan and receipts',
        'Contracts',
        'Sign-in',
        'Account',
        'Members and invitations',
      ].map((tag) => [tag]),
    );
  });

  it('describes each group, and has no empty group', () => {
    expect(document.tags.filter(({ description }) => !/^[A-Z].{15,}\.$/.test(description))).to.deep.equal([]);
    expect(document.tags.map(({ name }) => name).toSorted()).to.deep.equal(
      [...new Set(operations.flatMap(({ tags }) => tags))].toSorted(),
    );
  });

  it('names operations by a verb and a noun', () => {
    expect(
      operations
        .map(({ operationId }) => operationId)
        .filter((name) => !VERBS.test(name) && !WITHOUT_NOUN.includes(name)),
    ).to.deep.equal([]);
  });

  it('describes each schema and property', () => {
    const { schemas } = document.components;
    expect(Object.keys(schemas).filter((title) => !isDescribed(schemas[title] ?? {}))).to.deep.equal([]);
    expect(
      Object.entries(schemas)
        .flatMap(([title, schema]) => [...propertiesIn(schema, title)])
        .filter(({ name, property }) => !PLAIN.includes(name) && !isDescribed(property))
        .map(({ title, name }) => `${title}.${name}`),
    ).to.deep.equal([]);
  });

  it('describes each parameter', () => {
    expect(
      operations.flatMap(({ operationId, parameters }) =>
        parameters
          .filter((parameter) => !isDescribed(parameter))
          .map((parameter) => `${operationId}: ${JSON.stringify(parameter['name'])}`),
      ),
    ).to.deep.equal([]);
  });

  it('explains for each answer that is a plain array why it has no pages', () => {
    const arrays = operations.flatMap(({ operationId, responses }) =>
      Object.values(responses)
        .flatMap(({ content = {} }) => Object.values(content))
        .filter(({ schema }) => schema['type'] === 'array')
        .map(({ schema }) => ({ operationId, about: schema['description'] })),
    );
    expect(arrays).to.have.length.greaterThan(10);
    expect(
      arrays.filter(({ about }) => typeof about !== 'string' || !about.startsWith('A plain array: ')),
    ).to.deep.equal([]);
  });

  it('has no unused and no duplicate descriptions', () => {
    const all = Object.entries(document.components.schemas).flatMap(([title, schema]) => [
      ...propertiesIn(schema, title),
    ]);
    const names = new Set(all.map(({ name }) => name));
    const words = [...Object.keys(PROPERTIES), ...Object.keys(ADMINISTRATION)];
    expect(words.filter((name) => !names.has(name))).to.deep.equal([]);
    expect(words.filter((name, index) => words.indexOf(name) !== index)).to.deep.equal([]);
    expect(Object.keys(SCHEMAS).filter((title) => !(title in document.components.schemas))).to.deep.equal([]);
    const places = new Set(all.map(({ title, name }) => `${title}.${name}`));
    expect(
      Object.entries(PARTICULAR)
        .flatMap(([title, own]) => Object.keys(own).map((name) => `${title}.${name}`))
        .filter((place) => !places.has(place)),
    ).to.deep.equal([]);
  });
});
