import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { OPERATOR } from '../support/accounts.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { forEachServer } from '../support/server.js';
import { bodyFields, namesRecord, queryFields, withValue, type Json } from '../support/schemas.js';
import { CHANGES_CALLER } from './auth-requests.js';
import { memberOf, organisation, type Organisation } from './organisations.js';
import { uploadsOf } from '../support/uploads.js';
import { sampleOf, send, type Sample } from './requests.js';
import { rowsOfTenant } from './rows.js';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
/** Roles and single sign-on providers are the same for all tenants, so their codes identify no foreign record. */
const withPathIds = endpoints.filter(({ route }) => route.includes('/:') && !/\/:(code|provider)\b/.test(route));
/** Administration and contract configuration apply to the whole organisation: scopes limit contract data only. */
const ofContractData = withPathIds.filter(({ route }) => !/ \/(tenant-admin|contract-config)\//.test(route));

/** For each field that refers to a record, the id of a record of the other tenant. */
const RECORDS: Readonly<Record<string, (org: Organisation) => string | Promise<string>>> = {
  subjectId: ({ subjectId }) => subjectId,
  ownerId: ({ owner }) => owner.id,
  ownerSuperiorId: ({ memberId }) => memberId,
  successorUserId: ({ memberId }) => memberId,
  newOwnerId: ({ memberId }) => memberId,
  ids: async (org) => (await contractOf(org)).id,
  contractId: async (org) => (await contractOf(org)).id,
  paymentId: async (org) => String((await sampleOf('PATCH /payments/:paymentId', org)).params?.['paymentId']),
  defaultLifecycleTemplateId: async (org) => (await contractOf(org)).lifecycleTemplateId,
  notifyChannelId: channelOf,
  channelId: channelOf,
  runId: async ({ client }) =>
    (await send<{ runId: string }>(client, 'POST /collections/run-due-reminders', {})).body.runId,
  lifecycleTemplateId: async (org) => (await contractOf(org)).lifecycleTemplateId,
  // Files of the other tenant.
  contractAttachment: fileOf,
  fileRef: fileOf,
  proof: fileOf,
  invoiceAttachment: fileOf,
  attachment: fileOf,
  receivablePlanId: async (org) => (await contractOf(org)).payments[0]?.id ?? '',
  paymentRecordId: receiptOf,
  fieldId: customFieldOf,
  beforeFieldId: customFieldOf,
  afterFieldId: customFieldOf,
  id: customFieldOf,
};
/** Ids of an authenticator or a sign-in flow, not of a record; foreign ones are tested with passkeys. */
const NO_RECORDS = new Set(['flowId', 'response.id', 'response.rawId']);
/** A value that is not a file id is stored as text: it refers to external evidence. */
const FREE_TEXT = new Set(['attachment']);
/** Fields whose requests have another status, whatever they refer to. */
const REFUSED_SOONER: readonly { readonly route: string; readonly path: RegExp; readonly status: number }[] = [
  // The template of a contract cannot be changed.
  { route: 'PATCH /contracts/:id', path: /^lifecycleTemplateId$/, status: 409 },
  // Bulk requests process contracts one by one, and the answer names those not found.
  { route: 'POST /contracts/bulk-delete', path: /^ids/, status: 200 },
  { route: 'POST /contracts/bulk-attachment', path: /^ids/, status: 200 },
  // Unknown ids are ignored.
  { route: 'POST /contracts/export', path: /^ids/, status: 200 },
  // Only the row fails, and the report has its error.
  { route: 'POST /contracts/import/preview', path: /^rows\[0\]\./, status: 200 },
  // Either a text or a file can be given, not both.
  { route: 'POST /contracts/extract', path: /^fileRef$/, status: 400 },
  // The token determines where the upload belongs, and all other values are a mismatch.
  { route: 'POST /files/confirm', path: /Id$/, status: 422 },
  // The sample creates a text field, which refers to no other field and has no options; commands that refer to fields
  // are tested with custom fields.
  { route: 'POST /dynamic-fields/commands', path: /^payload\./, status: 400 },
];

/** Its answers contain a new batch id each time; its preview, which has the same rules, is tested instead. */
const LIKE_ITS_PREVIEW = 'POST /contracts/import';

forEachServer(
  (server) => {
    describe('records of another tenant', () => {
      let ours: Organisation;
      let theirs: Organisation;
      let unchanged: () => Promise<void>;
      let tests = 0;
      beforeEach(async () => {
        // Each test leaves records behind and compares all of them: new organisations keep their number small.
        if (tests++ % 12 === 0) [ours, theirs] = [await organisation(server()), await organisation(server())];
        unchanged = async () => undefined;
      });
      /** Nothing of the other tenant may change after this. */
      const watch = async () => {
        const before = await rowsOfTenant(server(), theirs.tenant.id);
        unchanged = async () => void expect(await rowsOfTenant(server(), theirs.tenant.id)).to.equal(before);
      };
      afterEach(() => unchanged());

      for (const { route } of withPathIds) {
        it(`${route} finds none: the answer is byte for byte that for a nonexistent record`, async () => {
          const [foreign, own] = [await sampleOf(route, theirs), await sampleOf(route, ours)];
          await watch();
          for (const name of Object.keys(foreign.params ?? {})) {
            const ask = (id: string) => send(ours.client, route, { ...own, params: { ...own.params, [name]: id } });
            const answer = await ask(foreign.params?.[name] ?? '');
            expect(answer.status, answer.text).to.equal(404);
            for (const nothing of [newId(), randomUUID(), 'no-id', '0', `${foreign.params?.[name] ?? ''}x`])
              expect(seen(await ask(nothing)), nothing).to.deep.equal(seen(answer));
          }
        });

        it(`${route} changes nothing with an idempotency key or a version either`, async () => {
          const [foreign, own] = [await sampleOf(route, theirs), await sampleOf(route, ours)];
          await watch();
          for (const headers of [
            { 'Idempotency-Key': `key-${newId()}` },
            { 'If-Match': '"1"' },
            { 'If-Match': '"99"' },
          ] as readonly Record<string, string>[]) {
            const answer = await send(ours.client, route, { ...own, params: foreign.params ?? {} }, { headers });
            const nothing = await send(
              ours.client,
              route,
              { ...own, params: unknownIds(foreign) },
              { headers: 'Idempotency-Key' in headers ? { 'Idempotency-Key': `key-${newId()}` } : headers },
            );
            expect(answer.status, answer.text).to.equal(404);
            expect(seen(nothing)).to.deep.equal(seen(answer));
          }
        });
      }

      for (const endpoint of endpoints) {
        for (const { parts, path, schema } of (endpoint.route === LIKE_ITS_PREVIEW ? [] : bodyFields(endpoint)).filter(
          (field) => namesRecord(field) && !NO_RECORDS.has(field.path) && !('properties' in field.schema),
        )) {
          it(`${endpoint.route} refuses ${path}`, async () => {
            const id = await recordFor(parts, theirs);
            await watch();
            const sample = await sampleOf(endpoint.route, ours);
            const ask = (value: string) =>
              send<DomainError>(ours.client, endpoint.route, {
                ...sample,
                body: withValue(
                  sample.body,
                  { parts, schema: endpoint.body as unknown as Json },
                  schema['items'] ? [value] : value,
                ) as Record<string, unknown>,
              });
            const answer = await ask(id);
            const sooner = REFUSED_SOONER.find((row) => row.route === endpoint.route && row.path.test(path));
            expect(answer.status, answer.text).to.equal(sooner?.status ?? 422);
            if (!sooner) {
              expect(answer.body.error.code).to.be.oneOf(['REFERENCE_INVALID', 'FILE_REFERENCE_INVALID']);
              expect(answer.body.error.details).to.include({ field: path });
            }
            for (const nothing of [newId(), ...(FREE_TEXT.has(path) ? [] : ['no-id'])])
              expect(seen(await ask(nothing), nothing)).to.deep.equal(seen(answer, id));
          });
        }

        for (const { path } of queryFields(endpoint).filter(namesRecord)) {
          it(`${endpoint.route} finds nothing by ${path}`, async () => {
            const id = await recordFor([path], theirs);
            const sample = await sampleOf(endpoint.route, ours);
            const ask = (value: string) =>
              send(ours.client, endpoint.route, {
                ...sample,
                query: { ...required(endpoint, sample), [path]: value },
              });
            const answer = await ask(id);
            expect(seen(await ask(newId()))).to.deep.equal(seen(answer));
            expect(answer.text).not.to.contain(theirs.marker);
          });
        }

        it(`${endpoint.route} reveals nothing`, async () => {
          await sampleOf('GET /contracts/:id', theirs);
          const own = CHANGES_CALLER.has(endpoint.route) ? await organisation(server()) : ours;
          const mine = await sampleOf(endpoint.route, own);
          const answer = await send(
            own.client,
            endpoint.route,
            endpoint.route.startsWith('GET ') && !endpoint.route.includes('/:') && !endpoint.openQuery
              ? { query: required(endpoint, mine) }
              : mine,
          );
          expect(answer.status, answer.text).to.be.within(200, 302);
          for (const secret of [theirs.marker, theirs.tenant.id, theirs.subjectId, theirs.owner.id])
            expect(answer.text).not.to.contain(secret);
        });
      }
    });

    describe("records outside the caller's scope", () => {
      let org: Organisation;
      const narrow = new Map<string, Client>();
      let tests = 0;
      beforeEach(async () => {
        if (tests++ % 40 !== 0) return; // as above
        org = await organisation(server());
        narrow.set(
          'a scope of another subject company',
          (await memberOf(org, { roleCode: 'admin', subjectScope: [org.otherSubjectId] })).client,
        );
        narrow.set(
          'a scope of no subject company',
          (await memberOf(org, { roleCode: 'admin', subjectScope: [] })).client,
        );
        await server().services.tenants.updateSettings(
          { tenantId: org.tenant.id, settings: { ownerScopeEnabled: true } },
          OPERATOR,
        );
        for (const roleCode of ['manager', 'sales'])
          narrow.set(`the owner scope of ${roleCode}`, (await memberOf(org, { roleCode })).client);
      });

      for (const who of [
        'a scope of another subject company',
        'a scope of no subject company',
        'the owner scope of manager',
        'the owner scope of sales',
      ]) {
        const client = () => {
          const found = narrow.get(who);
          if (!found) throw new Error(`nobody has ${who}`);
          return found;
        };

        for (const { route } of ofContractData) {
          it(`${route} finds no record for ${who}`, async () => {
            const sample = await sampleOf(route, org);
            const before = await rowsOfTenant(server(), org.tenant.id);
            const answer = await send(client(), route, sample);
            // A role without the permission is refused whatever the record.
            expect(answer.status, answer.text).to.be.oneOf(who.startsWith('the owner scope') ? [403, 404] : [404]);
            expect(seen(await send(client(), route, { ...sample, params: unknownIds(sample) }))).to.deep.equal(
              seen(answer),
            );
            expect(await rowsOfTenant(server(), org.tenant.id)).to.equal(before);
          });
        }

        for (const endpoint of endpoints.filter(
          // Callbacks of providers have required parameters and no caller.
          ({ route, openQuery }) => route.startsWith('GET ') && !route.includes('/:') && !openQuery,
        )) {
          const { route } = endpoint;
          it(`${route} shows nothing to ${who}`, async () => {
            const contract = await contractOf(org);
            const query = required(endpoint, await sampleOf(route, org));
            const answer = await send(client(), route, { query });
            // A query that names a record finds none.
            const shown = Object.keys(query).some((name) => name.endsWith('Id')) ? [403, 404] : [200, 302, 403];
            expect(answer.status, answer.text).to.be.oneOf(shown);
            for (const secret of [contract.id, contract.contractNo]) expect(answer.text).not.to.contain(secret);
          });
        }
      }

      for (const who of ['a scope of another subject company', 'a scope of no subject company']) {
        const client = () => narrow.get(who) ?? org.client;
        const outside: Readonly<Record<string, () => Promise<string>>> = {
          subjectId: async () => org.subjectId,
          contractId: async () => (await contractOf(org)).id,
        };

        for (const endpoint of endpoints) {
          for (const { path } of queryFields(endpoint).filter((field) => field.path in outside)) {
            it(`${endpoint.route} finds nothing by ${path} outside ${who}`, async () => {
              const sample = await sampleOf(endpoint.route, org);
              const ask = (value: string) =>
                send(client(), endpoint.route, {
                  ...sample,
                  query: { ...required(endpoint, sample), [path]: value },
                });
              const answer = await ask((await outside[path]?.()) ?? '');
              expect(answer.text).not.to.contain(org.marker);
              expect(seen(await ask(newId()))).to.deep.equal(seen(answer));
            });
          }
        }

        it(`POST /contracts refuses a subject company outside ${who}`, async () => {
          const { body } = await sampleOf('POST /contracts', org);
          const ask = (subjectId: string) =>
            send<DomainError>(client(), 'POST /contracts', { body: { ...body, subjectId } });
          const [answer, nothing] = [await ask(org.subjectId), newId()];
          expect(answer.status, answer.text).to.equal(422);
          expect(seen(await ask(nothing), nothing)).to.deep.equal(seen(answer, org.subjectId));
        });
      }

      it("PATCH /contracts/:id cannot move a contract out of the caller's scope", async () => {
        const client = narrow.get('a scope of another subject company') ?? org.client;
        const { body } = await sampleOf('POST /contracts', org);
        const { body: contract, status } = await send<{ id: string }>(client, 'POST /contracts', {
          body: { ...body, subjectId: org.otherSubjectId },
        });
        expect(status).to.equal(201);
        const ask = (subjectId: string) =>
          send(client, 'PATCH /contracts/:id', { params: { id: contract.id }, body: { subjectId } });
        const [answer, nothing] = [await ask(org.subjectId), newId()];
        expect(answer.status, answer.text).to.equal(422);
        expect(seen(await ask(nothing), nothing)).to.deep.equal(seen(answer, org.subjectId));
      });
    });
  },
  { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
);

/** Status, headers and bytes, without the values that differ for each answer and without the id sent by the caller. */
function seen({ status, headers, text }: Answer<unknown>, sent?: string) {
  const kept = [...headers].filter(
    ([name]) =>
      !['date', 'x-request-id', 'connection', 'keep-alive', ...(sent === undefined ? [] : ['content-length'])].includes(
        name,
      ),
  );
  return { status, headers: kept, text: sent === undefined ? text : text.replaceAll(sent, 'SENT') };
}

async function channelOf({ server, tenant }: Organisation): Promise<string> {
  const fields = { name: `accounting ${newId()}`, target: 'accounting@example.com' };
  return (await server.services.tenants.channels.add({ tenantId: tenant.id, kind: 'email', fields }, OPERATOR)).id;
}

/** The parameters of the sample without which the request would be refused. */
const required = ({ query }: Endpoint, sample: Sample): NonNullable<Sample['query']> =>
  Object.fromEntries(
    Object.entries(sample.query ?? {}).filter(([name]) =>
      ((query as { readonly required?: readonly string[] } | undefined)?.required ?? []).includes(name),
    ),
  );

async function fileOf({ client }: Organisation): Promise<string> {
  return (await uploadsOf(client).upload()).id;
}

async function recordFor(parts: readonly (string | number)[], org: Organisation): Promise<string> {
  const name = String(parts.findLast((part) => typeof part === 'string'));
  const make = RECORDS[name];
  if (!make) throw new Error(`say in RECORDS which record of another tenant a ${name} would name`);
  return make(org);
}

interface Contract {
  readonly id: string;
  readonly contractNo: string;
  readonly lifecycleTemplateId: string;
  readonly payments: readonly { readonly id: string }[];
}

async function contractOf(org: Organisation): Promise<Contract> {
  const sample = await sampleOf('GET /contracts/:id', org);
  return (await send<Contract>(org.client, 'GET /contracts/:id', sample)).body;
}

async function receiptOf(org: Organisation): Promise<string> {
  const sample = await sampleOf('PATCH /payments/:paymentId/receipt', org);
  await send(org.client, 'PATCH /payments/:paymentId/receipt', sample);
  const { body } = await org.client.get<{ items: { id: string }[] }>(
    `/payments/${sample.params?.['paymentId'] ?? ''}/receipts`,
  );
  return body.items[0]?.id ?? '';
}

async function customFieldOf(org: Organisation): Promise<string> {
  const made = await send<{ field: { id: string } }>(
    org.client,
    'POST /dynamic-fields/commands',
    await sampleOf('POST /dynamic-fields/commands', org),
  );
  return made.body.field.id;
}

const unknownIds = ({ params = {} }: Sample): Record<string, string> =>
  Object.fromEntries(Object.keys(params).map((name) => [name, newId()]));
