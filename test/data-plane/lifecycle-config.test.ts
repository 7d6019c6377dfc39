import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { StageInput } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { aTemplate, contractAt, controlsOf, refusal } from '../support/lifecycle.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

/** The shipped template as the catalogue has it. */
async function standard({ plane }: TestPlane) {
  const { templates } = await plane.getContractCatalog({});
  const template = templates.find(({ code }) => code === 'standard');
  if (!template) throw new Error('there is no template');
  const stage = (code: string) => template.stages.find((candidate) => candidate.code === code)?.id ?? '';
  const transition = (code: string) => template.transitions.find((candidate) => candidate.code === code)?.id ?? '';
  return { ...template, stage, transition };
}

const issue = (path: string, problem: string) => ({ code: 'INVALID_INPUT', details: { issues: [{ path, problem }] } });
const draft = (code = 'draft'): StageInput => ({ code, name: code });

describe('the contract configuration', () => {
  forEachPlane((_name, makePlane) => {
    it('is there before anybody has written anything, and the same afterwards', async () => {
      const test = makePlane();
      const before = await test.plane.getContractCatalog({});
      expect(
        before.types.map(({ code, category, enabled, defaultLifecycleTemplateId }) => [
          code,
          category,
          enabled,
          defaultLifecycleTemplateId,
        ]),
      ).to.deep.equal([
        ['sale', 'sale', true, before.templates[0]?.id],
        ['lease', 'lease', true, before.templates[0]?.id],
      ]);
      expect(
        before.templates.map(({ code, isDefault, stages, transitions }) => [
          code,
          isDefault,
          stages.length,
          transitions.length,
        ]),
      ).to.deep.equal([['standard', true, 8, 13]]);
      expect(
        before.templates[0]?.stages.map(
          ({ code, category, order, locksCoreFields, isTerminal }) =>
            `${code} ${category} ${order} ${locksCoreFields} ${isTerminal}`,
        ),
      ).to.deep.equal([
        'draft draft 10 false false',
        'extracted extracted 20 false false',
        'review review 30 false false',
        'approved approved 40 true false',
        'signed signed 50 true false',
        'active active 60 true false',
        'completed completed 70 true false',
        'archived archived 80 true true',
      ]);
      const contract = await test.plane.createContract(aContract());
      expect(contract.lifecycleTemplateId).to.equal(before.templates[0]?.id);
      expect(await test.plane.getContractCatalog({})).to.deep.equal(before);
    });

    it('is written by a first change of it, too', async () => {
      const test = makePlane();
      const before = await standard(test);
      const changed = await test.plane.updateLifecycleStage({
        stageId: before.stage('review'),
        changes: { name: 'Under review' },
      });
      expect(changed).to.include({ id: before.stage('review'), name: 'Under review', code: 'review' });
      expect((await standard(test)).stages.map(({ id }) => id)).to.deep.equal(before.stages.map(({ id }) => id));
    });

    it("is each tenant's own", async () => {
      const [ours, theirs] = [makePlane(), makePlane()];
      await theirs.plane.createContract(aContract());
      const template = await standard(theirs);
      const {
        types: [type],
      } = await theirs.plane.getContractCatalog({});
      const id = template.stage('draft');
      for (const refused of [
        () => ours.plane.updateLifecycleStage({ stageId: id, changes: { name: 'Mine' } }),
        () => ours.plane.addLifecycleStage({ templateId: template.id, stage: draft('more') }),
        () => ours.plane.updateLifecycleTemplate({ templateId: template.id, changes: { name: 'Mine' } }),
        () =>
          ours.plane.updateLifecycleTransition({
            transitionId: template.transition('approve'),
            changes: { name: 'Mine' },
          }),
        () => ours.plane.updateContractType({ typeId: type?.id ?? '', changes: { name: 'Mine' } }),
      ])
        expect(await refusal(refused())).to.include({ code: 'NOT_FOUND' });
      expect(
        await refusal(
          ours.plane.createContractType({ code: 'mine', name: 'Mine', defaultLifecycleTemplateId: template.id }),
        ),
      ).to.include({ code: 'REFERENCE_INVALID' });
      expect(
        await refusal(ours.plane.createLifecycleTemplate({ code: 'mine', name: 'Mine', copyFrom: template.id })),
      ).to.include({ code: 'REFERENCE_INVALID' });
    });

    it('types: defaults, order, codes once, and what they give to contracts', async () => {
      const test = makePlane();
      const { plane } = test;
      const flow = await aTemplate(test, { stages: [draft('start')] });
      const service = await plane.createContractType({
        code: 'service',
        name: 'Service',
        defaultLifecycleTemplateId: flow.id,
      });
      expect(service).to.include({
        category: 'sale',
        enabled: true,
        order: 30,
        description: null,
        defaultLifecycleTemplateId: flow.id,
      });
      const rent = await plane.createContractType({
        code: 'rent',
        name: 'Rent',
        category: 'lease',
        order: 5,
        fieldSchema: { any: ['thing'] },
      });
      expect(rent).to.deep.include({ category: 'lease', order: 5, fieldSchema: { any: ['thing'] } });
      expect((await plane.getContractCatalog({})).types.map(({ code }) => code)).to.deep.equal([
        'rent',
        'sale',
        'lease',
        'service',
      ]);
      expect(await refusal(plane.createContractType({ code: 'service', name: 'Again' }))).to.deep.equal({
        code: 'DUPLICATE_CODE',
        details: { field: 'code', value: 'service' },
      });
      expect(await refusal(plane.updateContractType({ typeId: rent.id, changes: { code: 'service' } }))).to.include({
        code: 'DUPLICATE_CODE',
      });

      expect(await plane.createContract(aContract({ typeCode: 'service' }))).to.include({
        type: 'sale',
        typeCode: 'service',
        lifecycleStageCode: 'start',
        lifecycleTemplateId: flow.id,
      });
      expect(await plane.createContract(aContract({ typeCode: 'rent' }))).to.include({
        type: 'lease',
        lifecycleStageCode: 'draft',
      });
      expect(await plane.createContract(aContract({ typeCode: 'rent', type: 'sale' }))).to.include({
        type: 'sale',
        typeCode: 'rent',
      });
      expect(await refusal(plane.createContract(aContract({ typeCode: 'nonsense' })))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'typeCode', value: 'nonsense' },
      });
    });

    it('types: a bad field is named before a code that is taken, and that before a template that is not there', async () => {
      const { plane } = makePlane();
      const { id } = await plane.createContractType({ code: 'service', name: 'Service' });
      await plane.createContract(aContract({ typeCode: 'service' }));
      const nowhere = { defaultRules: { remindFromStage: 'nowhere' } };
      const unknown = { defaultLifecycleTemplateId: newId() };
      const codeOf = async (work: Promise<unknown>) => {
        const outcome = await refusal(work);
        return outcome === 'carried out' ? outcome : outcome.code;
      };
      expect(await codeOf(plane.createContractType({ code: 'sale', name: 'S', ...nowhere }))).to.equal('INVALID_INPUT');
      expect(await codeOf(plane.createContractType({ code: 'sale', name: 'S', ...unknown, ...nowhere }))).to.equal(
        'DUPLICATE_CODE',
      );
      expect(await codeOf(plane.createContractType({ code: 'new', name: 'S', ...unknown, ...nowhere }))).to.equal(
        'REFERENCE_INVALID',
      );
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'sale', ...nowhere } }))).to.equal(
        'INVALID_INPUT',
      );
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'other', ...nowhere } }))).to.equal(
        'INVALID_INPUT',
      );
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'other', ...unknown } }))).to.equal(
        'TYPE_IN_USE',
      );
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: unknown }))).to.equal('REFERENCE_INVALID');
    });

    it('a disabled type takes no new contract; those that have it go on', async () => {
      const { plane } = makePlane();
      const type = await plane.createContractType({ code: 'service', name: 'Service' });
      const contract = await plane.createContract(aContract({ typeCode: 'service' }));
      expect(await plane.updateContractType({ typeId: type.id, changes: { enabled: false } })).to.include({
        enabled: false,
      });
      expect(await refusal(plane.createContract(aContract({ typeCode: 'service' })))).to.include({
        code: 'REFERENCE_INVALID',
      });
      expect(
        await plane.updateContract({ contractId: contract.id, changes: { typeCode: 'service', remark: 'goes on' } }),
      ).to.include({ remark: 'goes on', typeCode: 'service' });
      expect(await refusal(plane.updateContractType({ typeId: type.id, changes: { code: 'services' } }))).to.deep.equal(
        { code: 'TYPE_IN_USE', details: { contracts: 1, fieldCodes: [] } },
      );
      const unused = await plane.createContractType({ code: 'spare', name: 'Spare' });
      await plane.runFieldCommand({
        type: 'CreateField',
        payload: { name: 'Spare no', code: 'spare_no', type: 'text', typeCodes: ['spare'] },
      });
      expect(await refusal(plane.updateContractType({ typeId: unused.id, changes: { code: 'other' } }))).to.deep.equal({
        code: 'TYPE_IN_USE',
        details: { contracts: 0, fieldCodes: ['spare_no'] },
      });
    });

    it('null brings the defaults of a type back', async () => {
      const { plane } = makePlane();
      const { id } = await plane.createContractType({
        code: 'lease_back',
        name: 'Lease back',
        category: 'lease',
        description: 'D',
        enabled: false,
        fieldSchema: { a: 1 },
        defaultRules: { b: 2 },
      });
      expect(
        await plane.updateContractType({
          typeId: id,
          changes: { category: null, description: null, enabled: null, fieldSchema: null, defaultRules: null },
        }),
      ).to.deep.include({ category: 'sale', description: null, enabled: true, fieldSchema: {}, defaultRules: {} });
    });

    it("reminders begin at a stage of the type's own template", async () => {
      const test = makePlane();
      const { plane } = test;
      const flow = await aTemplate(test, { stages: [draft('start'), draft('running')] });
      const codes = 'draft, extracted, review, approved, signed, active, completed, archived';
      for (const remindFromStage of ['running', 7, ['active']]) {
        expect(
          await refusal(plane.createContractType({ code: 'service', name: 'S', defaultRules: { remindFromStage } })),
        ).to.deep.equal(
          issue('defaultRules.remindFromStage', `must be a stage code of the type's lifecycle template: ${codes}`),
        );
      }
      const { id } = await plane.createContractType({
        code: 'service',
        name: 'S',
        defaultRules: { remindFromStage: 'running', own: { deep: [1] } },
        defaultLifecycleTemplateId: flow.id,
      });
      expect(
        await refusal(plane.updateContractType({ typeId: id, changes: { defaultLifecycleTemplateId: null } })),
      ).to.include({ code: 'INVALID_INPUT' });
      const running = flow.stages.find(({ code }) => code === 'running')?.id ?? '';
      expect(await refusal(plane.updateLifecycleStage({ stageId: running, changes: { code: 'ran' } }))).to.deep.equal({
        code: 'STAGE_IN_USE',
        details: { contracts: 0, transitionCodes: [], typeCodes: ['service'] },
      });
      expect(
        await plane.updateContractType({ typeId: id, changes: { defaultRules: { remindFromStage: 'start' } } }),
      ).to.deep.include({ defaultRules: { remindFromStage: 'start' } });
      expect(await plane.updateLifecycleStage({ stageId: running, changes: { code: 'ran' } })).to.include({
        code: 'ran',
      });
    });

    it('templates: empty ones wait for a stage, copies are copies, and there is one default', async () => {
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

    it('several who make themselves the default at once leave one', async () => {
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

    it('stages: the category follows the code, or is review', async () => {
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

    it('a stage in use keeps its code and category; its name is shown at once, and moves nobody', async () => {
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
      expect((await plane.listContracts({ q: contract.contractNo })).items[0]).to.include({
        lifecycleStageName: '法务审核',
      });
      expect(
        await plane.createContract(aContract({ lifecycleStageCode: 'review' })),
        'new ones are as the stage says',
      ).to.include({ locked: true });

      await plane.deleteContract({ contractId: contract.id });
      expect(await refusal(change({ category: 'draft' })), 'one can come back, one is there').to.have.nested.property(
        'details.contracts',
        2,
      );
    });

    it('a change that changes nothing leaves no trace', async () => {
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

    it('transitions: defaults, both ends in the template, codes once', async () => {
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

    it('conditions that no contract could meet are refused, each by its place', async () => {
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

    it('a contract of its own flow: a stage code wins over its category, terminal stages open to admin alone, only some roles may enter', async () => {
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
      const needs = (control: string, stage: string, roles?: string[]) => ({
        code: 'WORKFLOW_CONTROL_REQUIRED',
        details: { control, stage, ...(roles ? { roles } : {}) },
      });
      for (const request of [{ transitionCode: 'check' }, { toStageCode: 'legal_check' }]) {
        expect(
          await refusal(by('manager', controlsOf('admin')).transitionContract({ contractId: id, ...request })),
        ).to.deep.equal(needs('view', 'draft', ['legal']));
      }
      await by('legal', { draft: 'view' }).transitionContract({ contractId: id, transitionCode: 'check' });
      expect(
        await refusal(
          by('sales', { legal_check: 'none', review: 'admin' }).transitionContract({
            contractId: id,
            toStageCode: 'draft',
          }),
        ),
        "no transition leads back, and the stage's own key says none",
      ).to.deep.equal(needs('approve', 'legal_check'));
      await by('sales', { legal_check: 'none', review: 'admin' }).transitionContract({
        contractId: id,
        transitionCode: 'finish',
      });
      for (const request of [{ transitionCode: 'again' }, { toStageCode: 'draft' }]) {
        expect(
          await refusal(by('owner', controlsOf('sign')).transitionContract({ contractId: id, ...request })),
        ).to.deep.equal(needs('admin', 'done'));
      }
      expect(
        await by('owner', { completed: 'admin' }).transitionContract({ contractId: id, transitionCode: 'again' }),
      ).to.include({ lifecycleStageCode: 'draft', lifecycleStageName: 'draft' });
    });

    it('of several ways to a stage the first applies that is open to the caller', async () => {
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
        'the first way says why',
      ).to.deep.equal({ code: 'WORKFLOW_CONTROL_REQUIRED', details: { control: 'admin', stage: 'one' } });
      await editor.transitionContract({ contractId: id, toStageCode: 'two', note: 'noted' });
      expect((await test.plane.listWorkflowEvents({ contractId: id }))[0]).to.include({ transitionCode: 'noted' });
    });

    it('a contract that waits for its place gets the stage as it is by then', async () => {
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
      const { items } = await test.plane.listContracts({ lifecycleStageCode: 'approved' });
      const name = (await standard(test)).stages.find(({ code }) => code === 'approved')?.name;
      expect(items).to.have.lengthOf(12);
      expect(new Set(items.map(({ lifecycleStageName }) => lifecycleStageName))).to.deep.equal(new Set([name]));
    });

    it('a code that changes while contracts come in leaves none in a stage that is not there', async () => {
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
      const { items } = await test.plane.listContracts({});
      expect(items.every(({ lifecycleStageCode }) => codes?.includes(lifecycleStageCode))).to.equal(true);
      expect(outcomes.filter((outcome) => outcome === 'carried out')).to.have.lengthOf(
        items.length + (codes?.includes('aside') ? 1 : 0),
      );
    });
  });

  forEachPlane(
    (_name, makePlane) => {
      it('has bounds', async () => {
        const test = makePlane();
        const { plane } = test;
        const numbered = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `c_${from + i}`);
        for (const code of numbered(98)) await plane.createContractType({ code, name: code });
        expect(await refusal(plane.createContractType({ code: 'more', name: 'More' }))).to.deep.equal({
          code: 'LIMIT_REACHED',
          details: { limit: 100 },
        });
        for (const code of numbered(49)) await plane.createLifecycleTemplate({ code, name: code });
        expect(await refusal(plane.createLifecycleTemplate({ code: 'more', name: 'More' }))).to.deep.equal({
          code: 'LIMIT_REACHED',
          details: { limit: 50 },
        });
        const { id } = await standard(test);
        for (const code of numbered(92)) await plane.addLifecycleStage({ templateId: id, stage: { code, name: code } });
        expect(
          await refusal(plane.addLifecycleStage({ templateId: id, stage: { code: 'more', name: 'More' } })),
        ).to.deep.equal({ code: 'LIMIT_REACHED', details: { limit: 100 } });
        const add = (code: string) =>
          plane.addLifecycleTransition({
            templateId: id,
            transition: { code, name: code, fromStageCode: 'draft', toStageCode: 'review' },
          });
        for (const code of numbered(487)) await add(code);
        expect(await refusal(add('more'))).to.deep.equal({ code: 'LIMIT_REACHED', details: { limit: 500 } });
      }).timeout(20_000);
    },
    { only: ['sqlite'] },
  );
});
