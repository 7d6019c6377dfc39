import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type {
  Catalog,
  ContractType,
  Stage,
  Template,
  TransitionConfig,
} from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

describe('the contract configuration over HTTP', () => {
  forEachServer((server) => {
    let made: MadeTenant;
    let owner: Client;
    before('an organisation whose owner is signed in', async () => {
      made = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
    });
    const created = async <T>(path: string, body: object): Promise<T> => {
      const answer = await owner.post<T>(path, body);
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    };
    const catalog = async (client = owner): Promise<Catalog> =>
      (await client.get<Catalog>('/contract-config/catalog')).body;

    it('the defaults are readable in a new organisation, also by viewers', async () => {
      const viewer = (
        await signIn(server().client, { tenant: made.tenant, member: await makeMember(server().services, made) })
      ).client;
      const { types, templates } = await catalog(viewer);
      expect([types.map(({ code }) => code), templates.map(({ code }) => code)]).to.deep.equal([
        ['sale', 'lease'],
        ['standard'],
      ]);
      expect(await viewer.post('/contract-config/types', { code: 'x1', name: 'X' })).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'admin (edit) is required; your role "viewer" has admin (none)',
          error: 'Forbidden',
        },
      });
    });

    it('a custom flow is created, and contracts pass through it', async () => {
      const flow = await created<Template>('/contract-config/lifecycle/templates', { code: 'rental', name: 'Rental' });
      const base = `/contract-config/lifecycle/templates/${flow.id}`;
      await created<Stage>(`${base}/stages`, { code: 'draft', name: 'Draft' });
      const running = await created<Stage>(`${base}/stages`, {
        code: 'running',
        name: 'Running',
        category: 'active',
        locksCoreFields: true,
        allowedRoleCodes: ['owner'],
      });
      expect(running).to.include({ templateId: flow.id, order: 20, category: 'active' });
      const channel = await server().services.tenants.channels.add(
        { tenantId: made.tenant.id, kind: 'email', fields: { name: 'Books', target: 'books@example.com' } },
        OPERATOR,
      );
      const start = await created<TransitionConfig>(`${base}/transitions`, {
        code: 'start',
        name: 'Start',
        fromStageCode: 'draft',
        toStageCode: 'running',
        conditions: { requireNote: true },
        effects: {
          setFieldToday: ['startDate'],
          notifyChannelId: channel.id,
          createTask: { code: 'deliver', title: 'Deliver', dueInDays: 3, ownerId: made.owner.id },
        },
      });
      expect(start).to.deep.include({ requiredControl: 'edit', enabled: true, conditions: { requireNote: true } });
      const rent = await created<ContractType>('/contract-config/types', {
        code: 'rent',
        name: 'Rent',
        category: 'lease',
        defaultLifecycleTemplateId: flow.id,
        defaultRules: { remindFromStage: 'running' },
      });
      expect((await catalog()).types.find(({ id }) => id === rent.id)).to.deep.equal(rent);

      const { body: contract } = await owner.post<ContractDetail>(
        '/contracts',
        aContract({ subjectId: made.subjectId, ownerId: made.owner.id, typeCode: 'rent', endDate: '2099-12-31' }),
      );
      expect(contract).to.include({ type: 'lease', lifecycleTemplateId: flow.id, lifecycleStageName: 'Draft' });
      const refused = await owner.post<DomainError>(`/contracts/${contract.id}/workflow/transition`, {
        toStageCode: 'running',
      });
      expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
        409,
        'TRANSITION_CONDITION_FAILED',
        { failed: [{ condition: 'requireNote', of: 'transition', message: 'The move needs a note.' }] },
      ]);
      const moved = await owner.post<ContractDetail>(`/contracts/${contract.id}/workflow/transition`, {
        toStageCode: 'running',
        note: 'handed over',
      });
      expect(moved.body).to.include({ workflow: 'active', lifecycleStageCode: 'running', locked: true });
      expect(moved.body.fulfillmentTasks.map(({ code }) => code)).to.deep.equal(['deliver']);
      expect(
        (await owner.patch<DomainError>(`/contract-config/lifecycle/stages/${running.id}`, { code: 'runs' })).body
          .error,
      ).to.deep.include({
        code: 'STAGE_IN_USE',
        details: { contracts: 1, transitionCodes: ['start'], typeCodes: ['rent'] },
      });
    });

    it('roles, channels and members of the organisation must exist', async () => {
      const {
        templates: [standard],
      } = await catalog();
      const stages = `/contract-config/lifecycle/templates/${standard?.id ?? ''}/stages`;
      const transitions = `/contract-config/lifecycle/templates/${standard?.id ?? ''}/transitions`;
      const go = { code: 'go', name: 'Go', fromStageCode: 'draft', toStageCode: 'signed' };
      const unknownId = newId();
      for (const [path, body, field, value] of [
        [stages, { code: 'own', name: 'Own', allowedRoleCodes: ['owner', 'wizard'] }, 'allowedRoleCodes[1]', 'wizard'],
        [transitions, { ...go, effects: { notifyChannelId: unknownId } }, 'effects.notifyChannelId', unknownId],
        [
          transitions,
          { ...go, effects: { createTask: { code: 't', title: 'T', ownerId: unknownId } } },
          'effects.createTask.ownerId',
          unknownId,
        ],
        [transitions, { ...go, toStageCode: 'nowhere' }, 'toStageCode', 'nowhere'],
        [
          '/contract-config/types',
          { code: 'own', name: 'Own', defaultLifecycleTemplateId: unknownId },
          'defaultLifecycleTemplateId',
          unknownId,
        ],
      ] as const) {
        const answer = await owner.post<DomainError>(path, body);
        expect([answer.status, answer.body.error.code, answer.body.error.details], field).to.deep.equal([
          422,
          'REFERENCE_INVALID',
          { field, value },
        ]);
      }
      for (const [path, body] of [
        [`/contract-config/lifecycle/stages/${unknownId}`, { allowedRoleCodes: ['wizard'] }],
        [`/contract-config/lifecycle/transitions/${unknownId}`, { effects: { notifyChannelId: unknownId } }],
      ] as const)
        expect((await owner.patch(path, body)).status, 'the record in the path is checked first').to.equal(404);
      expect(
        (
          await owner.post(`/contract-config/lifecycle/templates/${unknownId}/stages`, {
            code: 'own',
            name: 'Own',
            allowedRoleCodes: ['wizard'],
          })
        ).status,
      ).to.equal(404);
    });

    it('a bad field is reported once, with its full path', async () => {
      const {
        templates: [standard],
      } = await catalog();
      const answer = await owner.post<FrameworkError>(
        `/contract-config/lifecycle/templates/${standard?.id ?? ''}/transitions`,
        {
          code: 'Bad Code',
          name: '',
          fromStageCode: 'draft',
          toStageCode: 'review',
          requiredControl: 'boss',
          conditions: { foo: 1, minAmount: '5' },
          effects: { setFieldToday: ['dueDate'], createTask: { code: 't', title: 'T', bar: 2 }, baz: 3 },
          order: -1,
        },
      );
      expect(answer.status).to.equal(400);
      expect(
        (answer.body.message as string[])
          .map((message) => message.split(' ')[0])
          .toSorted((a = '', b = '') => (a < b ? -1 : 1)),
      ).to.deep.equal([
        'code',
        'conditions.foo',
        'conditions.minAmount',
        'effects.baz',
        'effects.createTask.bar',
        'effects.setFieldToday[0]',
        'name',
        'order',
        'requiredControl',
      ]);
      expect(
        (
          await owner.patch<FrameworkError>(`/contract-config/lifecycle/templates/${standard?.id ?? ''}`, {
            isDefault: false,
          })
        ).body.message,
      ).to.deep.equal(['isDefault must stay true until another template is made the default']);
      expect(
        (
          await owner.post<FrameworkError>('/contract-config/types', {
            code: 'own',
            name: 'O',
            defaultRules: { remindFromStage: 'nowhere' },
          })
        ).body.message,
      )
        .to.have.lengthOf(1)
        .and.to.have.nested.property('[0]')
        .that.matches(/^defaultRules\.remindFromStage must be a stage code/);
      for (const code of ['1st', 'a', 'with space', 'UPPER', `a${'b'.repeat(64)}`])
        expect((await owner.post('/contract-config/types', { code, name: 'N' })).status, code).to.equal(400);
    });

    it('a code is unique, and a request under one key runs once', async () => {
      const headers = { 'Idempotency-Key': `key-${newId()}` };
      const first = await owner.post<ContractType>(
        '/contract-config/types',
        { code: 'twice', name: 'Twice' },
        { headers },
      );
      const again = await owner.post<ContractType>(
        '/contract-config/types',
        { code: 'twice', name: 'Twice' },
        { headers },
      );
      expect([again.status, again.text, again.headers.get('idempotency-replayed')]).to.deep.equal([
        201,
        first.text,
        'true',
      ]);
      const clash = await owner.post<DomainError>('/contract-config/types', { code: 'twice', name: 'Thrice' });
      expect([clash.status, clash.body.error.code, clash.body.error.details]).to.deep.equal([
        409,
        'DUPLICATE_CODE',
        { field: 'code', value: 'twice' },
      ]);
    });
  });
});
