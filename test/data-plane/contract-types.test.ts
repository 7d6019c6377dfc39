import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { aTemplate, refusal } from '../support/lifecycle.js';
import { forEachPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { draft, issue, standard } from '../support/lifecycle-config.js';

describe('the contract configuration', () => {
  forEachPlane((_name, makePlane) => {
    it('is readable before the first write, and the same afterwards', async () => {
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

    it('is stored by its first change, too', async () => {
      const test = makePlane();
      const before = await standard(test);
      const changed = await test.plane.updateLifecycleStage({
        stageId: before.stage('review'),
        changes: { name: 'Under review' },
      });
      expect(changed).to.include({ id: before.stage('review'), name: 'Under review', code: 'review' });
      expect((await standard(test)).stages.map(({ id }) => id)).to.deep.equal(before.stages.map(({ id }) => id));
    });

    it('is separate for each tenant', async () => {
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

    it('provides types with defaults, an order, unique codes, and values for new contracts', async () => {
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

    it('reports an invalid field of a type before a duplicate code, and that before a missing template', async () => {
      const { plane } = makePlane();
      const { id } = await plane.createContractType({ code: 'service', name: 'Service' });
      await plane.createContract(aContract({ typeCode: 'service' }));
      const unknownStage = { defaultRules: { remindFromStage: 'nowhere' } };
      const unknown = { defaultLifecycleTemplateId: newId() };
      const codeOf = async (work: Promise<unknown>) => {
        const outcome = await refusal(work);
        return outcome === 'carried out' ? outcome : outcome.code;
      };
      expect(await codeOf(plane.createContractType({ code: 'sale', name: 'S', ...unknownStage }))).to.equal(
        'INVALID_INPUT',
      );
      expect(await codeOf(plane.createContractType({ code: 'sale', name: 'S', ...unknown, ...unknownStage }))).to.equal(
        'DUPLICATE_CODE',
      );
      expect(await codeOf(plane.createContractType({ code: 'new', name: 'S', ...unknown, ...unknownStage }))).to.equal(
        'REFERENCE_INVALID',
      );
      expect(
        await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'sale', ...unknownStage } })),
      ).to.equal('INVALID_INPUT');
      expect(
        await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'other', ...unknownStage } })),
      ).to.equal('INVALID_INPUT');
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: { code: 'other', ...unknown } }))).to.equal(
        'TYPE_IN_USE',
      );
      expect(await codeOf(plane.updateContractType({ typeId: id, changes: unknown }))).to.equal('REFERENCE_INVALID');
    });

    it('refuses new contracts of a disabled type, but not changes of existing ones', async () => {
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

    it('restores the defaults of a type with null', async () => {
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

    it("accepts only a stage of the type's own template as the start of reminders", async () => {
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
  });

  forEachPlane(
    (_name, makePlane) => {
      it('has limits', async () => {
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
