import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { DynamicField, FieldCommandResult } from '../../data-plane-agent/plane/contract/records/fields.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import type { Answer, Client, DomainError, FrameworkError, RequestOptions } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

describe('custom fields over HTTP', () => {
  forEachServer((server) => {
    let made: MadeTenant;
    let owner: Client;
    before('a tenant with its owner signed in', async () => {
      made = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
    });

    const as = async (
      roleCode: string,
      {
        of = made,
        subjectScope = null,
      }: { readonly of?: MadeTenant; readonly subjectScope?: readonly string[] | null } = {},
    ): Promise<{ client: Client; id: string }> => {
      const member = await makeMember(server().services, of, { roleCode, subjectScope });
      return { client: (await signIn(server().client, { tenant: of.tenant, member })).client, id: member.id };
    };
    const command = <T = FieldCommandResult>(
      type: string,
      payload: unknown,
      { client = owner, ...options }: RequestOptions & { readonly client?: Client } = {},
    ): Promise<Answer<T>> => client.post<T>('/dynamic-fields/commands', { type, payload }, options);
    let names = 0;
    const field = async (payload: Readonly<Record<string, unknown>> = {}): Promise<DynamicField> => {
      const { status, body, text } = await command('CreateField', {
        name: `Field ${++names}`,
        type: 'text',
        ...payload,
      });
      expect(status, text).to.equal(200);
      return body.field;
    };
    const contract = (changes: Partial<ContractInput> = {}) =>
      aContract({ subjectId: made.subjectId, ownerId: made.owner.id, ...changes });

    it('a field is created, used, converted and archived', async () => {
      const gate = await field({ name: 'Gate', section: 'Site' });
      const entered = await owner.post<ContractDetail>('/contracts', contract({ dynamicFields: { [gate.id]: ' 4 ' } }));
      expect([entered.status, entered.body.dynamicFields]).to.deep.equal([201, { [gate.id]: '4' }]);
      const typed = await command('UpdateFieldType', { fieldId: gate.id, type: 'number' });
      expect([typed.status, typed.body.result?.converted, typed.body.field.type]).to.deep.equal([200, 1, 'number']);
      const changed = await owner.patch<ContractDetail>(
        `/contracts/${entered.body.id}`,
        { dynamicFields: { [gate.id]: 5 } },
        { headers: { 'If-Match': '"1"' } },
      );
      expect([changed.status, changed.body.dynamicFields, changed.body.version]).to.deep.equal([
        200,
        { [gate.id]: 5 },
        2,
      ]);
      const wrong = await owner.patch<FrameworkError>(`/contracts/${entered.body.id}`, {
        dynamicFields: { [gate.id]: '5', nowhere: 1 },
      });
      expect([wrong.status, wrong.body.message]).to.deep.equal([
        400,
        [`dynamicFields.${gate.id} must be a number`, 'dynamicFields.nowhere is not a known field'],
      ]);
      expect((await command('ArchiveField', { fieldId: gate.id })).body.field.archived).to.equal(true);
      expect((await owner.get<ContractDetail>(`/contracts/${entered.body.id}`)).body.dynamicFields).to.deep.equal({});
    });

    it('a value names an active member of the tenant', async () => {
      const reviewer = await field({ type: 'user' });
      const { id } = await as('legal');
      const entered = await owner.post<ContractDetail>(
        '/contracts',
        contract({ dynamicFields: { [reviewer.id]: id } }),
      );
      expect([entered.status, entered.body.dynamicFields]).to.deep.equal([201, { [reviewer.id]: id }]);
      const otherTenant = (await makeTenant(server().services)).owner.id;
      for (const value of [otherTenant, newId(), 'nobody']) {
        const refused = await owner.post<DomainError>(
          '/contracts',
          contract({ dynamicFields: { [reviewer.id]: value } }),
        );
        expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
          422,
          'REFERENCE_INVALID',
          { field: `dynamicFields.${reviewer.id}`, value },
        ]);
      }
      await server().services.tenants.members.update(
        { tenantId: made.tenant.id, memberId: id, status: 'disabled' },
        OPERATOR,
      );
      expect(
        (await owner.patch(`/contracts/${entered.body.id}`, { dynamicFields: { [reviewer.id]: id } })).status,
      ).to.equal(200);
      expect((await owner.post('/contracts', contract({ dynamicFields: { [reviewer.id]: id } }))).status).to.equal(422);
      // Names and addresses while converting from text.
      const person = await field();
      await owner.post('/contracts', contract({ dynamicFields: { [person.id]: made.owner.email.toUpperCase() } }));
      expect((await command('UpdateFieldType', { fieldId: person.id, type: 'user' })).body.result).to.include({
        converted: 1,
      });
    });

    it('each role sees and writes its own fields, and admins see every definition', async () => {
      const hidden = await field({ visibleRoles: ['finance', 'legal'], editableRoles: ['legal'] });
      const [sales, finance, legal] = [await as('sales'), await as('finance'), await as('legal')];
      const listed = async (client: Client) =>
        (await client.get<DynamicField[]>('/dynamic-fields')).body.some(({ id }) => id === hidden.id);
      expect([await listed(sales.client), await listed(finance.client), await listed(owner)]).to.deep.equal([
        false,
        true,
        true,
      ]);
      const entered = await legal.client.post<ContractDetail>(
        '/contracts',
        contract({ dynamicFields: { [hidden.id]: 'theirs' } }),
      );
      const path = `/contracts/${entered.body.id}`;
      const seen = async (client: Client) => (await client.get<ContractDetail>(path)).body.dynamicFields;
      expect([await seen(sales.client), await seen(finance.client), await seen(owner)]).to.deep.equal([
        {},
        { [hidden.id]: 'theirs' },
        {},
      ]);
      const refused = await sales.client.patch<FrameworkError>(path, { dynamicFields: { [hidden.id]: 'x' } });
      expect([refused.status, refused.body.message]).to.deep.equal([
        400,
        [`dynamicFields.${hidden.id} is not a known field`],
      ]);
      const shown = await field({ editableRoles: ['legal'] });
      const hiddenField = await sales.client.patch<DomainError>(path, { dynamicFields: { [shown.id]: 'x' } });
      expect([hiddenField.status, hiddenField.body.error.code, hiddenField.body.error.details]).to.deep.equal([
        403,
        'FIELD_NOT_EDITABLE',
        { fields: [shown.id], role: 'sales' },
      ]);
      const unknown = await command<DomainError>('CreateField', {
        name: 'For pirates',
        type: 'text',
        visibleRoles: ['pirate'],
      });
      expect([unknown.status, unknown.body.error.details]).to.deep.equal([
        422,
        { field: 'payload.visibleRoles', value: 'pirate' },
      ]);
    });

    it("commands need administration rights and the plan's feature", async () => {
      const { client } = await as('manager');
      const refused = await command<FrameworkError>('CreateField', { name: 'N', type: 'text' }, { client });
      expect([refused.status, refused.body.message]).to.deep.equal([
        403,
        'admin (edit) is required; your role "manager" has admin (none)',
      ]);
      const free = await makeTenant(server().services, { planCode: 'free' });
      const theirs = (await signIn(server().client, { tenant: free.tenant, member: free.owner })).client;
      const planned = await command<DomainError>('CreateField', { name: 'N', type: 'text' }, { client: theirs });
      expect([planned.status, planned.body.error.code, planned.body.error.details]).to.deep.equal([
        403,
        'PLAN_FEATURE_NOT_ENABLED',
        {
          feature: 'customFields',
          plans: ['pro', 'business', 'enterprise'],
          command: `duebook tenants set-plan ${free.tenant.slug} pro`,
        },
      ]);
      expect(await theirs.get('/dynamic-fields')).to.deep.include({ status: 200, body: [] });
    });

    it("another tenant's field is treated as missing, in a command and in a contract", async () => {
      const { id } = await field();
      const other = await makeTenant(server().services);
      const client = (await signIn(server().client, { tenant: other.tenant, member: other.owner })).client;
      const refused = await command<DomainError>('RenameField', { fieldId: id, name: 'Mine' }, { client });
      expect([refused.status, refused.body.error.details]).to.deep.equal([
        422,
        { field: 'payload.fieldId', value: id },
      ]);
      expect(
        (
          await client.post(
            '/contracts',
            aContract({ subjectId: other.subjectId, ownerId: other.owner.id, dynamicFields: { [id]: 'x' } }),
          )
        ).status,
      ).to.equal(400);
    });

    it('a command that is sent twice under one key runs once', async () => {
      const headers = { 'Idempotency-Key': `create-${newId()}` };
      const payload = { name: 'Once only', type: 'text' };
      const first = await command('CreateField', payload, { headers });
      const second = await command('CreateField', payload, { headers });
      expect([second.status, second.headers.get('Idempotency-Replayed'), second.body]).to.deep.equal([
        200,
        'true',
        first.body,
      ]);
      expect((await command<DomainError>('CreateField', payload)).body.error).to.deep.include({
        code: 'DUPLICATE_CODE',
        details: { field: 'name', value: 'Once only' },
      });
    });

    it('a loss is refused with its counts, which a dry run returns', async () => {
      const text = await field();
      await owner.post(
        '/contracts',
        contract({ contractNo: `LOSS-${text.code}`, dynamicFields: { [text.id]: 'no number' } }),
      );
      const refused = await command<DomainError>('UpdateFieldType', { fieldId: text.id, type: 'number' });
      const { samples, ...counts } = refused.body.error.details;
      expect([refused.status, refused.body.error.code, counts]).to.deep.equal([
        409,
        'FIELD_CONVERSION_LOSSY',
        { total: 1, convertible: 0, lossy: 1 },
      ]);
      const dry = await command('UpdateFieldType', { fieldId: text.id, type: 'number', dryRun: true });
      expect([dry.status, dry.body.result]).to.deep.equal([
        200,
        { dryRun: true, total: 1, converted: 0, cleared: 1, unchanged: 0, samples },
      ]);
      // The same for a caller who sees no contract.
      const { client } = await as('admin', { subjectScope: [] });
      expect(
        (await command('UpdateFieldType', { fieldId: text.id, type: 'number', dryRun: true }, { client })).body.result,
      ).to.deep.equal({ dryRun: true, total: 1, converted: 0, cleared: 1, unchanged: 0, samples: [] });
    });

    it('every bad field of a command is reported once, with its path', async () => {
      const messages = async (type: unknown, payload: unknown) =>
        (await owner.post<FrameworkError>('/dynamic-fields/commands', { type, payload })).body.message;
      expect(await messages('DropField', {})).to.deep.equal([
        'type must be one of CreateField, RenameField, UpdateFieldType, UpdateFieldOptions, DuplicateField, MoveField, ArchiveField',
      ]);
      expect(await messages('CreateField', undefined)).to.deep.equal(['payload is required']);
      expect(await messages('CreateField', { colour: 1 })).to.deep.equal([
        'payload.colour is not a known field',
        'payload.name is required',
        'payload.type is required',
      ]);
      expect(await messages('CreateField', {})).to.deep.equal(['payload.name is required', 'payload.type is required']);
      expect(await messages('RenameField', { fieldId: newId(), name: ' ', type: 'text' })).to.deep.equal([
        'payload.type is not a known field',
        'payload.name is required',
      ]);
      expect(
        await messages('UpdateFieldType', { fieldId: newId(), type: 'text', onInvalid: 'drop', dryRun: 'yes' }),
      ).to.deep.equal(['payload.onInvalid must be one of reject, clear', 'payload.dryRun must be true or false']);
      expect(
        await messages('UpdateFieldOptions', { fieldId: newId(), options: [{ label: '' }, { color: 'red' }] }),
      ).to.have.length(2);
    });
  });
});
