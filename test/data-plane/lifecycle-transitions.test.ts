import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { aTemplate, contractAt, controlsOf, refusal } from '../support/lifecycle.js';
import { forEachPlane, listedContracts } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { draft, issue, standard } from '../support/lifecycle-config.js';

describe('lifecycle transitions', () => {
  forEachPlane((_name, makePlane) => {
    it('have defaults, both ends in the template, and unique codes', async () => {
      const test = makePlane();
      const { plane } = test;
      const flow = await aTemplate(test, { stages: [draft('one'), draft('two')] });
      const add = (changes: object) =>
        plane.addLifecycleTransition({
          templateId: flow.id,
          transition: { code: 'go', name: 'Go', fromStageCode: 'one', toStageCode: 'two', ...changes },
        });
      expect(await refusal(add({ toStageCode: 'draft' }))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'toStageCode', value: 'draft' },
      });
      expect(await refusal(add({ fromStageCode: 'three' }))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'fromStageCode', value: 'three' },
      });
      expect(await refusal(add({ toStageCode: 'one' }))).to.deep.equal(
        issue('toStageCode', 'must not be fromStageCode'),
      );
      expect(await refusal(add({ effects: { notifyChannelId: 'no-id' } }))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'effects.notifyChannelId', value: 'no-id' },
      });
      const go = await add({});
      expect(go).to.deep.include({
        requiredControl: 'edit',
        conditions: {},
        effects: {},
        enabled: true,
        order: 10,
        templateId: flow.id,
      });
      expect(await refusal(add({}))).to.include({ code: 'DUPLICATE_CODE' });
      const back = await add({
        code: 'back',
        fromStageCode: 'two',
        toStageCode: 'one',
        requiredControl: 'sign',
        conditions: { requireFields: ['signDate', 'signDate'] },
        effects: { setStatus: 'completed', createTask: { code: 't', title: 'T', kind: null } },
      });
      expect(back).to.deep.include({
        requiredControl: 'sign',
        conditions: { requireFields: ['signDate'] },
        effects: { setStatus: 'completed', createTask: { code: 't', title: 'T' } },
        order: 20,
      });
      const change = (changes: object) => plane.updateLifecycleTransition({ transitionId: back.id, changes });
      expect(await refusal(change({ code: 'go' }))).to.include({ code: 'DUPLICATE_CODE' });
      expect(await refusal(change({ toStageCode: 'two' }))).to.include({ code: 'INVALID_INPUT' });
      expect(await change({ conditions: { requireNote: true }, effects: null })).to.deep.include({
        conditions: { requireNote: true },
        effects: {},
      });
    });

    it('are refused with conditions that no contract could meet, each with its position', async () => {
      const test = makePlane();
      const { plane } = test;
      const flow = await aTemplate(test, { stages: [draft('one'), draft('two')] });
      const add = (conditions: object) =>
        refusal(
          plane.addLifecycleTransition({
            templateId: flow.id,
            transition: { code: 'go', name: 'Go', fromStageCode: 'one', toStageCode: 'two', conditions },
          }),
        );
      const problem = 'must be a field of a contract that can be sent with it, or dynamicFields.<id>';
      expect(
        await add({
          requireFields: [
            'signDate',
            'nonsense',
            'workflowStage',
            'lifecycleStageCode',
            'dynamicFields',
            'dynamicFields.no-id',
            'toString',
          ],
          minAmount: 5,
          maxAmount: 4,
        }),
      ).to.deep.equal({
        code: 'INVALID_INPUT',
        details: {
          issues: [
            ...[1, 2, 3, 4, 5, 6].map((i) => ({ path: `conditions.requireFields[${i}]`, problem })),
            { path: 'conditions.maxAmount', problem: 'must not be less than minAmount' },
          ],
        },
      });
      const unknown = newId();
      expect(await add({ requireFields: ['signDate', `dynamicFields.${unknown}`] })).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'conditions.requireFields[1]', value: `dynamicFields.${unknown}` },
      });
      for (const [conditions, path] of [
        [{ foo: 1 }, 'conditions.foo'],
        [{ requireNote: 'yes' }, 'conditions.requireNote'],
        [{ requireFileKinds: ['photo'] }, 'conditions.requireFileKinds[0]'],
        [{ minAmount: -1 }, 'conditions.minAmount'],
      ] as const) {
        expect(await add(conditions)).to.have.nested.property('details.issues[0].path', `transition.${path}`);
      }
    });

    it('follow a custom flow: a stage code before its category, terminal stages only for admin, some stages only for some roles', async () => {
      const test = makePlane();
      const flow = await aTemplate(test, {
        stages: [
          draft(),
          { code: 'legal_check', name: 'Legal', category: 'review', allowedRoleCodes: ['legal'] },
          { code: 'done', name: 'Done', category: 'completed', isTerminal: true },
        ],
        transitions: [
          { code: 'check', name: 'Check', fromStageCode: 'draft', toStageCode: 'legal_check', requiredControl: 'view' },
          {
            code: 'finish',
            name: 'Finish',
            fromStageCode: 'legal_check',
            toStageCode: 'done',
            requiredControl: 'none',
          },
          { code: 'again', name: 'Again', fromStageCode: 'done', toStageCode: 'draft', requiredControl: 'view' },
        ],
      });
      const { id } = await test.plane.createContract(aContract({ lifecycleTemplateId: flow.id }));
      const by = (roleCode: string, controls: ReturnType<typeof controlsOf> = {}) =>
        test.as({ controls, actor: { ...test.call.actor, roleCode } });
      const needs = ({ control, stage, has }: Readonly<Record<string, string>>, roles?: string[]) => ({
        code: 'WORKFLOW_CONTROL_REQUIRED',
        details: { control, stage, has, ...(roles ? { roles } : {}) },
      });
      for (const request of [{ transitionCode: 'check' }, { toStageCode: 'legal_check' }]) {
        expect(
          await refusal(by('manager', controlsOf('admin')).transitionContract({ contractId: id, ...request })),
        ).to.deep.equal(needs({ control: 'view', stage: 'draft', has: 'admin' }, ['legal']));
      }
      await by('legal', { draft: 'view' }).transitionContract({ contractId: id, transitionCode: 'check' });
      expect(
        await refusal(
          by('sales', { legal_check: 'none', review: 'admin' }).transitionContract({
            contractId: id,
            toStageCode: 'draft',
          }),
        ),
        'no transition leads back, and the stage itself declares none',
      ).to.deep.equal(needs({ control: 'approve', stage: 'legal_check', has: 'none' }));
      await by('sales', { legal_check: 'none', review: 'admin' }).transitionContract({
        contractId: id,
        transitionCode: 'finish',
      });
      for (const request of [{ transitionCode: 'again' }, { toStageCode: 'draft' }]) {
        expect(
          await refusal(by('owner', controlsOf('sign')).transitionContract({ contractId: id, ...request })),
        ).to.deep.equal(needs({ control: 'admin', stage: 'done', has: 'sign' }));
      }
      expect(
        await by('owner', { completed: 'admin' }).transitionContract({ contractId: id, transitionCode: 'again' }),
      ).to.include({ lifecycleStageCode: 'draft', lifecycleStageName: 'draft' });
    });

    it('apply the first of several to a stage that is open to the caller', async () => {
      const test = makePlane();
      const transition = (code: string, more: object) => ({
        code,
        name: code,
        fromStageCode: 'one',
        toStageCode: 'two',
        ...more,
      });
      const flow = await aTemplate(test, {
        stages: [draft('one'), draft('two')],
        transitions: [
          transition('strict', { requiredControl: 'admin' }),
          transition('noted', { conditions: { requireNote: true } }),
          transition('off', { enabled: false, requiredControl: 'none' }),
        ],
      });
      const { id } = await test.plane.createContract(aContract({ lifecycleTemplateId: flow.id }));
      const editor = test.as({ controls: controlsOf('edit') });
      expect(
        await refusal(editor.transitionContract({ contractId: id, toStageCode: 'two' })),
        'the first transition gives the reason',
      ).to.deep.equal({ code: 'WORKFLOW_CONTROL_REQUIRED', details: { control: 'admin', stage: 'one', has: 'edit' } });
      await editor.transitionContract({ contractId: id, toStageCode: 'two', note: 'noted' });
      expect((await test.plane.listWorkflowEvents({ contractId: id }))[0]).to.include({ transitionCode: 'noted' });
    });

    it('use the current stage for a contract that waits for a lock', async () => {
      const test = makePlane();
      const { stage } = await standard(test);
      await test.plane.createContract(aContract());
      const admin = test.as({ controls: controlsOf('admin') });
      const moving = await Promise.all(Array.from({ length: 6 }, () => contractAt(test, 'review')));
      await Promise.all([
        ...Array.from({ length: 5 }, (_, i) =>
          test.plane.updateLifecycleStage({ stageId: stage('approved'), changes: { name: `Approved ${i}` } }),
        ),
        ...moving.map(({ id }) => admin.transitionContract({ contractId: id, transitionCode: 'approve' })),
        ...Array.from({ length: 6 }, () => contractAt(test, 'approved')),
      ]);
      const { items } = await listedContracts(test.plane, { lifecycleStageCode: 'approved' });
      const name = (await standard(test)).stages.find(({ code }) => code === 'approved')?.name;
      expect(items).to.have.lengthOf(12);
      expect(new Set(items.map(({ lifecycleStageName }) => lifecycleStageName))).to.deep.equal(new Set([name]));
    });

    it('leave no contract in a missing stage if a code changes while contracts are created', async () => {
      const test = makePlane();
      const flow = await aTemplate(test, { stages: [draft('start'), draft('side')] });
      const side = flow.stages.find(({ code }) => code === 'side')?.id ?? '';
      const outcomes = await Promise.all([
        ...Array.from({ length: 5 }, () =>
          refusal(test.plane.createContract(aContract({ lifecycleTemplateId: flow.id, lifecycleStageCode: 'side' }))),
        ),
        refusal(test.plane.updateLifecycleStage({ stageId: side, changes: { code: 'aside' } })),
        ...Array.from({ length: 5 }, () =>
          refusal(test.plane.createContract(aContract({ lifecycleTemplateId: flow.id, lifecycleStageCode: 'side' }))),
        ),
      ]);
      const codes = (await test.plane.getContractCatalog({})).templates
        .find(({ id }) => id === flow.id)
        ?.stages.map(({ code }) => code);
      const { items } = await listedContracts(test.plane, {});
      expect(items.every(({ lifecycleStageCode }) => codes?.includes(lifecycleStageCode))).to.equal(true);
      expect(outcomes.filter((outcome) => outcome === 'carried out')).to.have.lengthOf(
        items.length + (codes?.includes('aside') ? 1 : 0),
      );
    });
  });
});
