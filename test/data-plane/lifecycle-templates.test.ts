import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { aTemplate, controlsOf, refusal } from '../support/lifecycle.js';
import { forEachPlane, listedContracts } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { draft, issue, standard } from '../support/lifecycle-config.js';

describe('lifecycle templates', () => {
  forEachPlane((_name, makePlane) => {
    it('are unusable without a stage, are copied completely, and include one default', async () => {
      const test = makePlane();
      const { plane } = test;
      const shipped = await standard(test);
      const empty = await plane.createLifecycleTemplate({ code: 'empty', name: 'Empty' });
      expect(empty).to.deep.include({ stages: [], transitions: [], isDefault: false, description: null });
      expect(await refusal(plane.createContract(aContract({ lifecycleTemplateId: empty.id })))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'lifecycleTemplateId', value: empty.id },
      });
      expect(
        await refusal(plane.updateLifecycleTemplate({ templateId: empty.id, changes: { isDefault: true } })),
      ).to.deep.equal(issue('isDefault', 'must be false until the template has a stage'));
      expect(await refusal(plane.createLifecycleTemplate({ code: 'other', name: 'O', isDefault: true }))).to.include({
        code: 'INVALID_INPUT',
      });
      expect(
        await refusal(plane.createContractType({ code: 'service', name: 'S', defaultLifecycleTemplateId: empty.id })),
      ).to.deep.equal(issue('defaultLifecycleTemplateId', 'must be a template that has a stage'));
      expect(await refusal(plane.createLifecycleTemplate({ code: 'standard', name: 'Again' }))).to.include({
        code: 'DUPLICATE_CODE',
      });
      expect(await refusal(plane.createLifecycleTemplate({ code: 'other', name: 'O', copyFrom: newId() }))).to.include({
        code: 'REFERENCE_INVALID',
      });
      expect(
        await refusal(plane.createLifecycleTemplate({ code: 'other', name: 'O', copyFrom: 'standard' })),
      ).to.include({ code: 'REFERENCE_INVALID' });

      const copy = await plane.createLifecycleTemplate({
        code: 'ours',
        name: 'Ours',
        copyFrom: shipped.id,
        isDefault: true,
      });
      const inside = ({ stages, transitions }: typeof copy) =>
        [...stages, ...transitions].map(({ id: _i, templateId: _t, createdAt: _c, updatedAt: _u, ...rest }) => rest);
      expect(inside(copy)).to.deep.equal(inside(shipped));
      expect(
        [...copy.stages, ...copy.transitions].every(
          ({ templateId, id }) => templateId === copy.id && !shipped.stages.some((stage) => stage.id === id),
        ),
      ).to.equal(true);
      const defaults = async () =>
        (await plane.getContractCatalog({})).templates.filter(({ isDefault }) => isDefault).map(({ code }) => code);
      expect(await defaults()).to.deep.equal(['ours']);
      expect(await plane.createContract(aContract())).to.include({ lifecycleTemplateId: copy.id });
      expect(
        await refusal(plane.updateLifecycleTemplate({ templateId: copy.id, changes: { isDefault: false } })),
      ).to.deep.equal(issue('isDefault', 'must stay true until another template is made the default'));
      expect(
        await plane.updateLifecycleTemplate({
          templateId: shipped.id,
          changes: { isDefault: true, name: 'House', description: 'Ours too' },
        }),
      ).to.include({ isDefault: true, name: 'House', description: 'Ours too' });
      expect(await defaults()).to.deep.equal(['standard']);
    });

    it('include one default after several concurrent requests', async () => {
      const test = makePlane();
      const made = await Promise.all(
        ['a', 'b', 'c', 'd'].map((letter) => aTemplate(test, { code: `flow_${letter}`, stages: [draft()] })),
      );
      await Promise.all(
        made.map(({ id }) => test.plane.updateLifecycleTemplate({ templateId: id, changes: { isDefault: true } })),
      );
      expect((await test.plane.getContractCatalog({})).templates.filter(({ isDefault }) => isDefault)).to.have.lengthOf(
        1,
      );
    });

    it('derive the category of a stage from its code, or use review', async () => {
      const test = makePlane();
      const flow = await aTemplate(test, {
        stages: [
          draft(),
          draft('legal_check'),
          {
            code: 'own',
            name: 'Own',
            category: 'signed',
            order: 5,
            isTerminal: true,
            locksCoreFields: true,
            allowedRoleCodes: ['legal', 'legal'],
            completionRules: { requireNote: true, minAmount: null },
          },
        ],
      });
      expect(
        flow.stages.map(
          ({ code, category, order, isTerminal, locksCoreFields, allowedRoleCodes, completionRules }) => ({
            code,
            category,
            order,
            isTerminal,
            locksCoreFields,
            allowedRoleCodes,
            completionRules,
          }),
        ),
      ).to.deep.equal([
        {
          code: 'own',
          category: 'signed',
          order: 5,
          isTerminal: true,
          locksCoreFields: true,
          allowedRoleCodes: ['legal'],
          completionRules: { requireNote: true },
        },
        {
          code: 'draft',
          category: 'draft',
          order: 10,
          isTerminal: false,
          locksCoreFields: false,
          allowedRoleCodes: [],
          completionRules: {},
        },
        {
          code: 'legal_check',
          category: 'review',
          order: 20,
          isTerminal: false,
          locksCoreFields: false,
          allowedRoleCodes: [],
          completionRules: {},
        },
      ]);
      expect(await refusal(test.plane.addLifecycleStage({ templateId: flow.id, stage: draft() }))).to.include({
        code: 'DUPLICATE_CODE',
      });
      expect(await refusal(test.plane.addLifecycleStage({ templateId: newId(), stage: draft('x1') }))).to.include({
        code: 'NOT_FOUND',
      });
      const contract = await test
        .as({ controls: controlsOf('admin') })
        .createContract(aContract({ lifecycleTemplateId: flow.id, workflowStage: 'review' }));
      expect(contract).to.include({ lifecycleStageCode: 'legal_check', workflow: 'review' });
    });

    it('protect the code and category of a stage in use, and show its new name at once without moving a contract', async () => {
      const test = makePlane();
      const { plane } = test;
      const { stage } = await standard(test);
      const contract = await plane.createContract(aContract({ lifecycleStageCode: 'review' }));
      const change = (changes: object) => plane.updateLifecycleStage({ stageId: stage('review'), changes });
      const transitionCodes = ['submit_review', 'submit_extracted', 'return_to_draft', 'approve', 'revise'];
      expect(await refusal(change({ code: 'checking' }))).to.deep.equal({
        code: 'STAGE_IN_USE',
        details: { contracts: 1, transitionCodes, typeCodes: [] },
      });
      expect(await refusal(change({ category: 'draft' }))).to.deep.equal({
        code: 'STAGE_IN_USE',
        details: { contracts: 1, transitionCodes: [], typeCodes: [] },
      });
      await change({ name: '法务审核', locksCoreFields: true, isTerminal: true });
      expect(await plane.getContract({ contractId: contract.id })).to.include({
        lifecycleStageName: '法务审核',
        version: 1,
        locked: false,
        updatedAt: contract.updatedAt,
      });
      expect((await listedContracts(plane, { q: contract.contractNo })).items[0]).to.include({
        lifecycleStageName: '法务审核',
      });
      expect(
        await plane.createContract(aContract({ lifecycleStageCode: 'review' })),
        "new contracts get the stage's defaults",
      ).to.include({ locked: true });

      await plane.deleteContract({ contractId: contract.id });
      expect(
        await refusal(change({ category: 'draft' })),
        'one contract can be restored, one is live',
      ).to.have.nested.property('details.contracts', 2);
    });

    it('leave no trace of a change that changes nothing', async () => {
      const test = makePlane();
      const { plane } = test;
      const flow = await aTemplate(test, {
        stages: [draft('one'), draft('two')],
        transitions: [{ code: 'go', name: 'Go', fromStageCode: 'one', toStageCode: 'two' }],
      });
      const [first] = flow.stages;
      const [go] = flow.transitions;
      test.clock.advance(60_000);
      const audited = () =>
        test.database.read(test.call, async (tx) =>
          Number(
            (await tx.get('SELECT count(*) AS n FROM audit_log WHERE tenant_id = ?', [test.call.tenantId]))?.['n'],
          ),
        );
      const before = await audited();
      expect(
        await plane.updateLifecycleStage({
          stageId: first?.id ?? '',
          changes: { code: 'one', name: 'one', order: 10 },
        }),
      ).to.deep.equal(first);
      expect(
        await plane.updateLifecycleTransition({
          transitionId: go?.id ?? '',
          changes: { enabled: true, conditions: null, requiredControl: null },
        }),
      ).to.deep.equal(go);
      expect(
        await plane.updateLifecycleTemplate({ templateId: flow.id, changes: { isDefault: false, name: 'own' } }),
      ).to.deep.equal(flow);
      expect(await audited()).to.equal(before);
      await plane.updateLifecycleStage({ stageId: first?.id ?? '', changes: { order: 11 } });
      expect(await audited()).to.equal(before + 1);
    });
  });
});
