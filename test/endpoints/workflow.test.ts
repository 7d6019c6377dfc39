import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { WorkflowEvent } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };

describe('the workflow over HTTP', () => {
  forEachServer((server) => {
    let made: MadeTenant;
    let owner: Client;
    let manager: Client;
    let sales: Client;
    before('an organisation with three who are signed in', async () => {
      made = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
      [manager, sales] = [await signedIn('manager'), await signedIn('sales')];
    });

    const signedIn = async (
      roleCode: string,
      {
        subjectScope = null,
        of = made,
      }: { readonly subjectScope?: readonly string[] | null; readonly of?: MadeTenant } = {},
    ): Promise<Client> =>
      (
        await signIn(server().client, {
          tenant: of.tenant,
          member: await makeMember(server().services, of, { roleCode, subjectScope }),
        })
      ).client;
    const enter = async (changes: Partial<ContractInput> = {}, client = owner): Promise<ContractDetail> => {
      const { status, body, text } = await client.post<ContractDetail>(
        '/contracts',
        aContract({ subjectId: made.subjectId, ownerId: made.owner.id, ...changes }),
      );
      expect(status, text).to.equal(201);
      return body;
    };
    const events = async (id: string): Promise<WorkflowEvent[]> =>
      (await owner.get<WorkflowEvent[]>(`/contracts/${id}/workflow/events`)).body;

    it('a contract passes from draft to its end, each step by a member who may perform it', async () => {
      const { id } = await enter({ payments: [aLine()] }, sales);
      const step = async (client: Client, transitionCode: string) => {
        const answer = await client.post<ContractDetail & { ownerName: string }>(
          `/contracts/${id}/workflow/transition`,
          { transitionCode },
        );
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.headers.get('etag')).to.equal(`"${answer.body.version}"`);
        expect(answer.body.ownerName).to.equal('Olive Owner');
        return answer.body;
      };
      expect(await step(sales, 'submit_review')).to.include({ workflow: 'review', locked: false });
      expect(
        (await sales.post<DomainError>(`/contracts/${id}/workflow/transition`, { transitionCode: 'approve' })).body,
      ).to.deep.include({
        error: {
          code: 'WORKFLOW_CONTROL_REQUIRED',
          message:
            'The role lacks the workflow control level required at this stage, or is not one of the `roles` that may move the contract or enter the stage. `details.control` is the required level, `details.has` the level of `details.role`.',
          details: { control: 'approve', stage: 'review', has: 'edit', role: 'sales' },
        },
      });
      expect(await step(manager, 'approve')).to.include({
        workflow: 'approved',
        locked: true,
        lifecycleStageName: 'Approved',
      });
      expect(await step(owner, 'sign'))
        .to.include({ workflow: 'signed' })
        .and.to.have.property('signDate')
        .that.is.a('string');
      expect(await step(sales, 'activate')).to.include({ workflow: 'active' });
    });

    it('core fields are locked and listed, and other fields remain editable', async () => {
      const { id } = await enter({ lifecycleStageCode: 'signed', payments: [aLine()], partyA: 'One' });
      const refused = await owner.patch<DomainError>(`/contracts/${id}`, {
        partyA: 'Two',
        quantity: 7,
        remark: 'fine',
        partyB: '上海远东机械有限公司',
      });
      expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
        409,
        'CONTRACT_LOCKED',
        { fields: ['partyA', 'quantity'] },
      ]);
      expect((await owner.patch(`/contracts/${id}`, { remark: 'fine', partyA: 'One' })).status).to.equal(200);
      expect(
        (await owner.post<ContractDetail>(`/contracts/${id}/workflow/lock`, { locked: false, note: 'typo' })).body,
      ).to.include({ locked: false });
      expect((await owner.patch<ContractDetail>(`/contracts/${id}`, { partyA: 'Two' })).body).to.include({
        partyA: 'Two',
      });
      expect((await owner.post<ContractDetail>(`/contracts/${id}/workflow/lock`)).body).to.include({ locked: true });
      expect((await events(id)).map(({ kind, note }) => [kind, note])).to.deep.equal([
        ['locked', null],
        ['unlocked', 'typo'],
        ['created', null],
      ]);
    });

    it('an invalid request is reported, and not recorded on the trail', async () => {
      const { id } = await enter();
      const path = `/contracts/${id}/workflow/transition`;
      for (const [body, status, message] of [
        [{}, 400, ['transitionCode must be given, or toStageCode']],
        [
          { transitionCode: 'submit_review', toStageCode: 'signed' },
          400,
          ['toStageCode must be review, to which submit_review leads, or be left out'],
        ],
        [
          { transitionCode: 5, note: [], foo: 1 },
          400,
          ['foo is not a known field', 'transitionCode must be a string', 'note must be a string'],
        ],
      ] as const) {
        const answer = await owner.post<FrameworkError>(path, body);
        expect([answer.status, (answer.body.message as string[]).toSorted()]).to.deep.equal([
          status,
          [...message].toSorted(),
        ]);
      }
      const unknown = await owner.post<DomainError>(path, { transitionCode: 'nonsense' });
      expect([unknown.status, unknown.body.error.details]).to.deep.equal([
        422,
        { field: 'transitionCode', value: 'nonsense', allowed: ['mark_extracted', 'submit_review'] },
      ]);
      const elsewhere = await owner.post<DomainError>(path, { transitionCode: 'sign' });
      expect([elsewhere.status, elsewhere.body.error.details]).to.deep.equal([
        409,
        { field: 'transitionCode', from: 'draft', to: 'signed', allowed: ['mark_extracted', 'submit_review'] },
      ]);
      expect(await events(id)).to.have.lengthOf(1);
    });

    it('If-Match and Idempotency-Key are honoured', async () => {
      const { id } = await enter();
      const path = `/contracts/${id}/workflow/transition`;
      const late = await owner.post<DomainError>(
        path,
        { transitionCode: 'submit_review' },
        { headers: { 'If-Match': '"7"' } },
      );
      expect([late.status, late.body.error.details]).to.deep.equal([412, { version: 1 }]);
      const keyed = { headers: { 'Idempotency-Key': `key-${id}`, 'If-Match': '"1"' } };
      const first = await owner.post(path, { transitionCode: 'submit_review' }, keyed);
      const again = await owner.post(path, { transitionCode: 'submit_review' }, keyed);
      expect([first.status, again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([200, 200, 'true']);
      expect(again.text).to.equal(first.text);
      const denied = { headers: { 'Idempotency-Key': `denied-${id}` } };
      for (let i = 0; i < 2; i++)
        expect((await sales.post(path, { transitionCode: 'approve' }, denied)).status).to.equal(403);
      expect((await events(id)).map(({ kind }) => kind)).to.deep.equal([
        'transition_denied',
        'stage_changed',
        'created',
      ]);
    });

    it('the trail is for callers who may see the contract; moving and locking require more', async () => {
      const { id } = await enter();
      const viewer = await signedIn('viewer');
      expect((await viewer.get<WorkflowEvent[]>(`/contracts/${id}/workflow/events`)).body).to.have.lengthOf(1);
      expect(
        await viewer.post(`/contracts/${id}/workflow/transition`, { transitionCode: 'submit_review' }),
      ).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'contract_edit (edit) is required; your role "viewer" has contract_edit (none)',
          error: 'Forbidden',
        },
      });
      expect(await manager.post(`/contracts/${id}/workflow/lock`, {})).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'admin (edit) is required; your role "manager" has admin (none)',
          error: 'Forbidden',
        },
      });
    });

    it('another tenant, and a caller of another subject company, find nothing', async () => {
      const { id } = await enter();
      const otherTenant = await makeTenant(server().services);
      const elsewhere = (await signIn(server().client, { tenant: otherTenant.tenant, member: otherTenant.owner }))
        .client;
      const scoped = await signedIn('admin', { subjectScope: [] });
      for (const caller of [elsewhere, scoped]) {
        for (const answer of [
          await caller.post(`/contracts/${id}/workflow/transition`, { transitionCode: 'submit_review' }),
          await caller.post(`/contracts/${id}/workflow/lock`, {}),
          await caller.get(`/contracts/${id}/workflow/events`),
        ]) {
          expect(answer).to.deep.include({ status: 404, body: NOT_FOUND });
        }
      }
      expect(await events(id)).to.have.lengthOf(1);
    });

    it('the free plan reads the trail and the configuration, and changes neither', async () => {
      const free = await makeTenant(server().services, { planCode: 'free' });
      const { client } = await signIn(server().client, { tenant: free.tenant, member: free.owner });
      const contract = (
        await client.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: free.subjectId, ownerId: free.owner.id }),
        )
      ).body;
      expect((await client.get<WorkflowEvent[]>(`/contracts/${contract.id}/workflow/events`)).body).to.have.lengthOf(1);
      expect((await client.get('/contract-config/catalog')).status).to.equal(200);
      const id = newId();
      for (const answer of [
        await client.post<DomainError>(`/contracts/${contract.id}/workflow/transition`, {
          transitionCode: 'submit_review',
        }),
        await client.post<DomainError>(`/contracts/${contract.id}/workflow/lock`, {}),
        await client.post<DomainError>('/contract-config/types', {}),
        await client.patch<DomainError>(`/contract-config/types/${id}`, {}),
        await client.post<DomainError>('/contract-config/lifecycle/templates', {}),
        await client.patch<DomainError>(`/contract-config/lifecycle/templates/${id}`, {}),
        await client.post<DomainError>(`/contract-config/lifecycle/templates/${id}/stages`, {}),
        await client.patch<DomainError>(`/contract-config/lifecycle/stages/${id}`, {}),
        await client.post<DomainError>(`/contract-config/lifecycle/templates/${id}/transitions`, {}),
        await client.patch<DomainError>(`/contract-config/lifecycle/transitions/${id}`, {}),
      ])
        expect([answer.status, answer.body.error.code, answer.body.error.details]).to.deep.equal([
          403,
          'PLAN_FEATURE_NOT_ENABLED',
          {
            feature: 'workflowAutomation',
            plans: ['pro', 'business', 'enterprise'],
            command: `duebook tenants set-plan ${free.tenant.slug} pro`,
          },
        ]);
    });

    it('a contract names only existing roles, at creation and later', async () => {
      const bad = await owner.post<DomainError>(
        '/contracts',
        aContract({ subjectId: made.subjectId, ownerId: made.owner.id, workflowAllowedRoles: ['legal', 'wizard'] }),
      );
      expect([bad.status, bad.body.error.code, bad.body.error.details]).to.deep.equal([
        422,
        'REFERENCE_INVALID',
        { field: 'workflowAllowedRoles[1]', value: 'wizard' },
      ]);
      const { id } = await enter({ workflowAllowedRoles: ['legal'] });
      expect(
        (await owner.patch<DomainError>(`/contracts/${id}`, { workflowAllowedRoles: ['wizard'] })).body.error.details,
      ).to.deep.equal({ field: 'workflowAllowedRoles[0]', value: 'wizard' });
      expect(
        (await owner.patch(`/contracts/${newId()}`, { workflowAllowedRoles: ['wizard'] })).status,
        'a missing contract is reported first',
      ).to.equal(404);
      const refused = await owner.post<DomainError>(`/contracts/${id}/workflow/transition`, {
        transitionCode: 'submit_review',
      });
      expect([refused.status, refused.body.error.details]).to.deep.equal([
        403,
        { control: 'edit', stage: 'draft', has: 'admin', role: 'owner', roles: ['legal'] },
      ]);
      expect(
        (
          await (
            await signedIn('legal')
          ).post(`/contracts/${id}/workflow/transition`, { transitionCode: 'submit_review' })
        ).status,
      ).to.equal(200);
    });

    it('an excluded role cannot add itself, by any operation', async () => {
      const { id } = await enter({ workflowAllowedRoles: ['legal'] });
      const reported = (answer: { readonly status: number; readonly body: DomainError }) => [
        answer.status,
        answer.body.error.code,
        answer.body.error.details,
      ];
      const needsApproval = [
        403,
        'WORKFLOW_CONTROL_REQUIRED',
        { control: 'approve', stage: 'draft', has: 'edit', role: 'sales' },
      ];
      for (const workflowAllowedRoles of [[], null, ['sales']])
        expect(reported(await sales.patch<DomainError>(`/contracts/${id}`, { workflowAllowedRoles }))).to.deep.equal(
          needsApproval,
        );
      expect(
        reported(
          await sales.post<DomainError>(
            '/contracts',
            aContract({ subjectId: made.subjectId, ownerId: made.owner.id, workflowAllowedRoles: ['sales'] }),
          ),
        ),
      ).to.deep.equal(needsApproval);
      const report = await sales.post<{ rows: { errors?: { field: string; code: string }[] }[] }>('/contracts/import', {
        rows: [aContract({ subjectId: made.subjectId, ownerId: made.owner.id, workflowAllowedRoles: ['sales'] })],
      });
      expect(report.body.rows[0]?.errors?.map(({ field, code }) => [field, code])).to.deep.equal([
        ['workflowAllowedRoles', 'WORKFLOW_CONTROL_REQUIRED'],
      ]);
      const run = await sales.post<{ id: string }>('/contracts/extract', {
        contractId: id,
        text: 'Party A: Harbour Logistics Ltd',
      });
      const fields = [{ fieldKey: 'workflowAllowedRoles', status: 'overridden', overrideValue: ['sales'] }];
      expect(
        reported(
          await sales.patch<DomainError>(`/contracts/extractions/${run.body.id}/review`, {
            fields,
            applyToContract: true,
          }),
        ),
      ).to.deep.equal(needsApproval);
      expect(
        (
          await sales.patch<ContractDetail>(`/contracts/${id}`, {
            workflowAllowedRoles: ['legal'],
            remark: 'sent back',
          })
        ).body,
      ).to.deep.include({ workflowAllowedRoles: ['legal'], remark: 'sent back' });
      expect(
        (await manager.patch<ContractDetail>(`/contracts/${id}`, { workflowAllowedRoles: ['sales'] })).body
          .workflowAllowedRoles,
      ).to.deep.equal(['sales']);
      const locked = await enter({ lifecycleStageCode: 'signed' });
      expect(
        reported(await owner.patch<DomainError>(`/contracts/${locked.id}`, { workflowAllowedRoles: ['sales'] })),
      ).to.deep.equal([409, 'CONTRACT_LOCKED', { fields: ['workflowAllowedRoles'] }]);
    });
  });
});
