import { expect } from 'chai';
import fc from 'fast-check';
import type { ContractSummary } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { ContractCores } from '../../data-plane-agent/plane/store/contract-cores.js';
import { contractStep, EVERY_CONTROL, walk } from '../support/contract-walk.js';
import { aField, fieldCommand } from '../support/fields.js';
import { forEachPlane, listedContracts } from '../support/plane.js';
import { aContract } from '../support/samples.js';

type Plane = BoundPlane<Operations>;

/** Compares the list, whose contracts were serialised before, with contracts that are read one by one. */
async function expectExact(plane: Plane): Promise<void> {
  const { items } = await listedContracts(plane, { pageSize: 200 });
  for (const item of items) {
    const detail: ContractSummary = await plane.getContract({ contractId: item.id });
    expect(detail).to.deep.include(item);
  }
}

describe('listed contracts', () => {
  forEachPlane((name, makePlane) => {
    it('are as they are when read one by one, after any changes', async function () {
      this.timeout(240_000);
      const steps = fc.array(contractStep, { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(steps, steps, steps, async (first, second, third) => {
          const test = makePlane({ controls: EVERY_CONTROL });
          for (const some of [first, second, third]) {
            await walk(test, some);
            await expectExact(test.plane);
          }
        }),
        { numRuns: name === 'sqlite' ? 40 : 12 },
      );
    });

    it('have the custom values and the stage name of now, which change without the version', async () => {
      const t = makePlane();
      const { id: field } = await aField(t);
      const { id } = await t.plane.createContract(aContract({ dynamicFields: { [field]: '17' } }));
      await expectExact(t.plane);
      await fieldCommand(t, 'UpdateFieldType', { fieldId: field, type: 'number' });
      await expectExact(t.plane);
      const { items } = await listedContracts(t.plane, {});
      expect(items.map(({ dynamicFields, version }) => [dynamicFields[field], version])).to.deep.equal([[17, 1]]);
      const { templates } = await t.plane.getContractCatalog({});
      const stage = templates.flatMap(({ stages }) => stages).find(({ code }) => code === 'draft');
      await t.plane.updateLifecycleStage({ stageId: stage?.id ?? '', changes: { name: '起草' } });
      expect((await listedContracts(t.plane, {})).items[0]).to.include({ id, lifecycleStageName: '起草', version: 1 });
    });

    it('show account numbers and custom values to those who may see them, whoever read the list before', async () => {
      const t = makePlane();
      await t.plane.createContract(aContract({ payeeAccount: '6222020200112233' }));
      const shown = async (sensitive: boolean) => {
        const plane = t.as({ rights: { ...t.call.rights, sensitive } });
        return (await listedContracts(plane, {})).items[0]?.payeeAccount;
      };
      expect([await shown(true), await shown(false), await shown(true)]).to.deep.equal([
        '6222020200112233',
        '****2233',
        '6222020200112233',
      ]);
    });

    it('are not serialised again until they change, and never from a transaction that has changed them', async () => {
      const t = makePlane();
      const { id, version } = await t.plane.createContract(aContract({ projectName: 'Before' }));
      const cores = new ContractCores();
      const { tenantId } = t.call;
      const nameIn = async (change: boolean): Promise<unknown> =>
        t.database.write({ tenantId }, async (tx) => {
          if (change)
            await tx.run('UPDATE contracts SET project_name = ? WHERE tenant_id = ? AND id = ?', [
              'Changed',
              tenantId,
              id,
            ]);
          const core = (await cores.of(tx, tenantId, [{ id, version }])).get(id) ?? '{}';
          return (JSON.parse(core) as { projectName?: string }).projectName;
        });
      expect(await nameIn(true), 'read in the transaction').to.equal('Changed');
      await t.database.write({ tenantId }, (tx) =>
        tx.run('UPDATE contracts SET project_name = ? WHERE tenant_id = ? AND id = ?', ['Before', tenantId, id]),
      );
      expect(await nameIn(false), 'not kept by it').to.equal('Before');
      expect(await nameIn(true), 'kept for the version').to.equal('Before');
    });
  });
});
