import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { startServer, type TestServer } from '../support/server.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
}
interface Document {
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An operation's name says what it does to what: a verb, and a noun unless the verb needs none. */
const VERBS =
  /^(accept|add|bulkDelete|bulkSet|change|confirm|create|declare|delete|disable|download|end|exchange|export|extract|find|finish|get|import|list|login|offboard|presign|preview|record|refresh|register|request|resend|restore|review|revoke|run|send|set|start|transfer|transition|update|withdraw)[A-Z]\w{2,}$/;
const WITHOUT_NOUN = ['login', 'logout'];

describe('the reference is arranged for its readers', () => {
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

  it('groups operations by the subject that a reader looks for', () => {
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

  it('describes each group, and has none that is empty', () => {
    expect(document.tags.filter(({ description }) => !/^[A-Z].{15,}\.$/.test(description))).to.deep.equal([]);
    expect(document.tags.map(({ name }) => name).toSorted()).to.deep.equal(
      [...new Set(operations.flatMap(({ tags }) => tags))].toSorted(),
    );
  });

  it('names operations so that the name alone says what they do', () => {
    expect(
      operations
        .map(({ operationId }) => operationId)
        .filter((name) => !VERBS.test(name) && !WITHOUT_NOUN.includes(name)),
    ).to.deep.equal([]);
  });
});
