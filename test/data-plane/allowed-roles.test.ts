import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { failureOf } from '../support/failures.js';
import { aSheet, cellsOf, faultsOf, HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { contractAt, controlsOf } from '../support/lifecycle.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };
const refusedAt = (stage: string, has: Control = 'edit') => ({
  code: 'WORKFLOW_CONTROL_REQUIRED',
  details: { control: 'approve', stage, has },
});
const withControl = ({ as }: TestPlane, control: Control) => as({ controls: controlsOf(control) });

describe('the roles allowed to move a contract', () => {
  forEachPlane((_name, makePlane) => {
    it('are set by approvers at its stage, and never by a role that they exclude', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review', { workflowAllowedRoles: ['legal'] });
      const sales = test.as({
        controls: { ...BUILT_IN_ROLES.find(({ code }) => code === 'sales')?.workflowControls },
        actor: { ...test.call.actor, roleCode: 'sales' },
      });
      expect(await failureOf(sales.transitionContract({ contractId: id, toStageCode: 'draft' }))).to.have.property(
        'code',
        'WORKFLOW_CONTROL_REQUIRED',
      );
      for (const workflowAllowedRoles of [[], null, ['sales'], ['legal', 'sales']]) {
        expect(
          await failureOf(sales.updateContract({ contractId: id, changes: { workflowAllowedRoles } })),
        ).to.deep.equal(refusedAt('review'));
      }
      expect(await test.plane.getContract({ contractId: id })).to.deep.include({
        workflowAllowedRoles: ['legal'],
        version: 1,
      });
      for (const control of ['none', 'view', 'edit'] as const)
        expect(
          await failureOf(
            withControl(test, control).updateContract({
              contractId: id,
              changes: { workflowAllowedRoles: ['manager'] },
            }),
          ),
          control,
        ).to.deep.equal(refusedAt('review', control));
      for (const [control, role] of [
        ['approve', 'manager'],
        ['sign', 'sales'],
        ['admin', 'owner'],
      ] as const) {
        expect(
          (
            await withControl(test, control).updateContract({
              contractId: id,
              changes: { workflowAllowedRoles: [role] },
            })
          ).workflowAllowedRoles,
        ).to.deep.equal([role]);
      }
    });

    it('are governed by the control on the stage itself, then by that on its category', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const change = (controls: TestPlane['call']['controls']) =>
        test.as({ controls }).updateContract({ contractId: id, changes: { workflowAllowedRoles: ['legal'] } });
      expect(await failureOf(change({ ...controlsOf('admin'), review: 'edit' }))).to.deep.equal(refusedAt('review'));
      expect((await change({ review: 'approve' })).workflowAllowedRoles).to.deep.equal(['legal']);
    });

    it('may be resent unchanged by every caller, in any order, without a change', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'signed', { workflowAllowedRoles: ['legal', 'sales'] });
      for (const workflowAllowedRoles of [
        ['legal', 'sales'],
        ['sales', 'legal'],
        ['sales', 'legal', 'sales'],
      ]) {
        expect(await test.plane.updateContract({ contractId: id, changes: { workflowAllowedRoles } })).to.deep.include({
          workflowAllowedRoles: ['legal', 'sales'],
          version: 1,
        });
      }
    });

    it('are a core field that no caller can change on a locked contract', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'signed', { workflowAllowedRoles: ['legal'] });
      for (const control of ['none', 'admin'] as const) {
        expect(
          await failureOf(
            withControl(test, control).updateContract({
              contractId: id,
              changes: { workflowAllowedRoles: [], partyA: 'Other' },
            }),
          ),
        ).to.deep.equal({ code: 'CONTRACT_LOCKED', details: { fields: ['partyA', 'workflowAllowedRoles'] } });
      }
      const admin = withControl(test, 'admin');
      await admin.lockContract({ contractId: id, locked: false });
      expect(
        (await admin.updateContract({ contractId: id, changes: { workflowAllowedRoles: [] } })).workflowAllowedRoles,
      ).to.deep.equal([]);
    });

    it('are set at creation by approvers at the initial stage', async () => {
      const test = makePlane();
      const enter = (controls: TestPlane['call']['controls'], changes: object) =>
        test.as({ controls }).createContract(aContract(changes));
      expect(await failureOf(enter(controlsOf('edit'), { workflowAllowedRoles: ['legal'] }))).to.deep.equal(
        refusedAt('draft'),
      );
      expect(
        await failureOf(
          enter(
            { ...controlsOf('approve'), review: 'edit' },
            { workflowStage: 'review', workflowAllowedRoles: ['legal'] },
          ),
        ),
      ).to.deep.equal(refusedAt('review'));
      expect((await test.plane.listContracts({})).total, 'nothing was written').to.equal(0);
      for (const workflowAllowedRoles of [[], null])
        expect((await enter({}, { workflowAllowedRoles })).workflowAllowedRoles).to.deep.equal([]);
      expect(
        (await enter({ draft: 'approve' }, { workflowAllowedRoles: ['legal'] })).workflowAllowedRoles,
      ).to.deep.equal(['legal']);
    });

    it('are set in an import under the same rule, which names the field of the row', async () => {
      const test = makePlane();
      const editor = withControl(test, 'edit');
      const rows = ofRows([
        aContract({ ...IDS, workflowAllowedRoles: ['sales'] }),
        aContract({ ...IDS, workflowAllowedRoles: [] }),
      ]);
      for (const report of [await editor.previewImport(rows), await editor.importContracts(rows)]) {
        expect(faultsOf(report)).to.deep.equal(['1 workflowAllowedRoles WORKFLOW_CONTROL_REQUIRED']);
        expect(report.created).to.equal(1);
      }
      expect(
        faultsOf(await editor.importContracts(aSheet([cellsOf({ workflowAllowedRoles: '["sales"]' })]))),
      ).to.deep.equal(['2 workflowAllowedRoles WORKFLOW_CONTROL_REQUIRED']);
      expect(
        (await withControl(test, 'approve').importContracts(rows)).rows.map(
          ({ errors }) => errors?.map(({ code }) => code) ?? [],
        ),
      ).to.deep.include([]);
    });

    it('are set in the review of an extraction under the same rule, on existing and new contracts', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const editor = withControl(test, 'edit');
      const override = [{ fieldKey: 'workflowAllowedRoles', status: 'overridden' as const, overrideValue: ['sales'] }];
      const run = await editor.extractContract({ contractId: id, text: 'Party A: Harbour Logistics Ltd\n' });
      expect(
        await failureOf(editor.reviewExtraction({ runId: run.id, fields: override, applyToContract: true })),
      ).to.deep.equal(refusedAt('review'));
      expect((await test.plane.getContract({ contractId: id })).workflowAllowedRoles).to.deep.equal([]);
      await withControl(test, 'approve').reviewExtraction({ runId: run.id, fields: override, applyToContract: true });
      expect((await test.plane.getContract({ contractId: id })).workflowAllowedRoles).to.deep.equal(['sales']);

      const people = {
        members: [{ id: test.call.actor.id ?? '', name: 'Ming Li', email: 'ming@acme.test', active: true }],
        subjects: [{ id: newId(), name: 'Acme' }],
      };
      const whole = Object.entries(aContract())
        .filter(([key]) => !['subjectId', 'ownerId', 'payments'].includes(key))
        .map(([fieldKey, overrideValue]) => ({ fieldKey, status: 'overridden' as const, overrideValue }));
      const free = await editor.extractContract({ text: 'Party A: Harbour Logistics Ltd\n' });
      const review = (fields: typeof override) =>
        editor.reviewExtraction({
          runId: free.id,
          fields: [...whole, ...fields] as typeof override,
          applyToContract: true,
          people,
        });
      expect(await failureOf(review(override))).to.deep.equal(refusedAt('draft'));
      expect((await review([])).contractId).to.be.a('string');
    });
  });
});
