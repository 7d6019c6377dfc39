import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { contractAt, controlsOf, refusal } from '../support/lifecycle.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

/** The shipped flow, repeated here independently: code, from, to, control. */
const SHIPPED = [
  'mark_extracted draft extracted edit',
  'submit_review draft review edit',
  'submit_extracted extracted review edit',
  'return_to_draft review draft approve',
  'approve review approved approve',
  'revise approved review approve',
  'sign approved signed sign',
  'activate signed active edit',
  'complete active completed approve',
  'reopen completed active admin',
  'archive completed archived approve',
  'terminate active archived admin',
  'restore archived completed admin',
].map((line) => line.split(' ') as [code: string, from: string, to: string, control: Control]);

const LEVELS: readonly Control[] = ['none', 'view', 'edit', 'approve', 'sign', 'admin'];
const reaches = (actual: Control | undefined, needed: Control) =>
  LEVELS.indexOf(actual ?? 'none') >= LEVELS.indexOf(needed);
const LOCKING = ['approved', 'signed', 'active', 'completed', 'archived'];

describe('moving a contract', () => {
  forEachPlane((_name, makePlane) => {
    for (const role of BUILT_IN_ROLES) {
      it(`allows a ${role.code} the moves of the shipped flow, with or without naming the transition`, async () => {
        const test = makePlane();
        const plane = test.as({
          controls: { ...role.workflowControls },
          actor: { ...test.call.actor, roleCode: role.code },
        });
        for (const [transitionCode, from, to, control] of SHIPPED) {
          for (const request of [{ transitionCode }, { toStageCode: to }, { transitionCode, toStageCode: to }]) {
            const { id } = await contractAt(test, from);
            const outcome = await refusal(plane.transitionContract({ contractId: id, ...request }));
            const label = JSON.stringify(request);
            if (reaches(role.workflowControls[from], control)) {
              expect(outcome, label).to.equal('carried out');
              expect(await test.plane.getContract({ contractId: id }), label).to.include({
                lifecycleStageCode: to,
                workflow: to,
                workflowStage: to,
                locked: LOCKING.includes(to),
                version: 2,
              });
            } else {
              expect(outcome, label).to.deep.equal({
                code: 'WORKFLOW_CONTROL_REQUIRED',
                details: { control, stage: from, has: role.workflowControls[from] },
              });
              expect(await test.plane.getContract({ contractId: id }), label).to.include({
                lifecycleStageCode: from,
                version: 1,
              });
            }
            const [event] = await test.plane.listWorkflowEvents({ contractId: id });
            expect(event, label).to.include({
              kind: outcome === 'carried out' ? 'stage_changed' : 'transition_denied',
              fromStageCode: from,
              toStageCode: to,
              locked: LOCKING.includes(outcome === 'carried out' ? to : from),
            });
          }
        }
      });
    }

    it('adds the action, the member and the time to the trail, newest first', async () => {
      const test = makePlane();
      const { plane, call } = test;
      const admin = test.as({ controls: controlsOf('admin') });
      const { id } = await plane.createContract(aContract());
      await admin.transitionContract({ contractId: id, transitionCode: 'submit_review', note: 'ready' });
      await admin.transitionContract({ contractId: id, transitionCode: 'approve' });
      await refusal(plane.transitionContract({ contractId: id, transitionCode: 'sign', note: 'mine' }));
      await admin.lockContract({ contractId: id, locked: false, note: 'a typo' });
      const events = await plane.listWorkflowEvents({ contractId: id });
      expect(
        events.map(({ kind, fromStageCode, toStageCode, transitionCode, locked, note }) => [
          kind,
          fromStageCode,
          toStageCode,
          transitionCode,
          locked,
          note,
        ]),
      ).to.deep.equal([
        ['unlocked', 'approved', 'approved', null, false, 'a typo'],
        ['transition_denied', 'approved', 'signed', 'sign', true, 'mine'],
        ['stage_changed', 'review', 'approved', 'approve', true, null],
        ['stage_changed', 'draft', 'review', 'submit_review', false, 'ready'],
        ['created', null, 'draft', null, false, null],
      ]);
      for (const event of events) {
        expect(event.actor).to.deep.equal({ id: call.actor.id, name: 'Ming Li', roleCode: 'manager' });
        expect(event).to.include({ source: 'user', createdAt: event.at, updatedAt: event.at });
      }
    });

    it('removes nothing from the trail if refused: it keeps fifty refusals per member and day', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'approved');
      const refused = (who = test.call.actor.id) =>
        refusal(
          test
            .as({ actor: { ...test.call.actor, id: who } })
            .transitionContract({ contractId: id, transitionCode: 'sign' }),
        );
      const denials = async () =>
        (await test.plane.listWorkflowEvents({ contractId: id })).filter(({ kind }) => kind === 'transition_denied')
          .length;
      for (let n = 0; n < 60; n++) expect(await refused()).to.include({ code: 'WORKFLOW_CONTROL_REQUIRED' });
      expect(await denials()).to.equal(50);
      await refused(newId());
      expect(await denials(), 'refusals of another member').to.equal(51);
      test.clock.advance(24 * 3_600_000);
      await refused();
      expect(await denials(), 'on the next day').to.equal(52);
    });

    it('sets the signing date only if there is none, and sets the status when completing and reopening', async () => {
      const test = makePlane();
      const admin = test.as({ controls: controlsOf('admin') });
      const undated = await contractAt(test, 'approved');
      const dated = await contractAt(test, 'approved', { signDate: '2026-01-20' });
      expect(await admin.transitionContract({ contractId: undated.id, transitionCode: 'sign' })).to.include({
        signDate: '2026-03-15',
        status: 'in_progress',
      });
      expect(await admin.transitionContract({ contractId: dated.id, toStageCode: 'signed' })).to.include({
        signDate: '2026-01-20',
      });
      await admin.transitionContract({ contractId: dated.id, transitionCode: 'activate' });
      expect(await admin.transitionContract({ contractId: dated.id, transitionCode: 'complete' })).to.include({
        status: 'completed',
      });
      expect(await admin.transitionContract({ contractId: dated.id, transitionCode: 'reopen' })).to.include({
        status: 'in_progress',
      });
      expect(
        await admin.transitionContract({ contractId: dated.id, transitionCode: 'terminate' }),
        'terminating keeps the status',
      ).to.include({ status: 'in_progress', workflow: 'archived' });
    });

    it('reports open items when a contract is completed, and requires a note when it is returned', async () => {
      const test = makePlane();
      const admin = test.as({ controls: controlsOf('admin') });
      const { id, payments } = await contractAt(test, 'active', {
        payments: [aLine(), aLine({ period: 'paid', amount: 5, receivedAmount: 5 })],
        totalAmount: aLine().amount + 5,
      });
      const completed = await admin.transitionContract({ contractId: id, transitionCode: 'complete' });
      expect(completed.warnings.map(({ code, paymentIds }) => [code, paymentIds])).to.deep.equal([
        ['OPEN_BALANCE', [payments.find(({ period }) => period !== 'paid')?.id]],
      ]);
      expect((await admin.transitionContract({ contractId: id, transitionCode: 'archive' })).warnings).to.deep.equal(
        [],
      );
      expect(
        (await admin.transitionContract({ contractId: id, transitionCode: 'restore' })).warnings,
        'it was completed before',
      ).to.deep.equal([]);

      const inReview = await contractAt(test, 'review');
      expect((await admin.transitionContract({ contractId: inReview.id, transitionCode: 'return_to_draft' })).warnings)
        .to.have.lengthOf(1)
        .and.to.have.nested.property('[0].code', 'NOTE_RECOMMENDED');
      await admin.transitionContract({ contractId: inReview.id, transitionCode: 'submit_review' });
      expect(
        (
          await admin.transitionContract({
            contractId: inReview.id,
            transitionCode: 'return_to_draft',
            note: 'the rent is wrong',
          })
        ).warnings,
      ).to.deep.equal([]);
    });

    it('reports fields of low confidence that were submitted without review', async () => {
      const test = makePlane();
      const admin = test.as({ controls: controlsOf('admin') });
      const submit = async (id: string) =>
        (await admin.transitionContract({ contractId: id, transitionCode: 'submit_extracted' })).warnings;
      const { id } = await contractAt(test, 'extracted');
      const run = await test.plane.extractContract({
        contractId: id,
        text: 'Contract No.: HL-2026-001\nParty A: Harbour Logistics Ltd\n',
      });
      const [field] = run.fields.filter(({ value }) => value !== null);
      // Simulates a bad scan.
      await test.database.write(test.call, async (tx) => {
        const row = await tx.get('SELECT fields FROM extraction_runs WHERE tenant_id = ? AND id = ?', [
          test.call.tenantId,
          run.id,
        ]);
        const fields = (JSON.parse(String(row?.['fields'])) as { fieldKey: string }[]).map((read) =>
          read.fieldKey === field?.fieldKey ? { ...read, confidence: 0.4 } : read,
        );
        await tx.run('UPDATE extraction_runs SET fields = ? WHERE tenant_id = ? AND id = ?', [
          JSON.stringify(fields),
          test.call.tenantId,
          run.id,
        ]);
      });
      expect(await submit(id)).to.deep.equal([
        {
          code: 'EXTRACTION_UNREVIEWED',
          message: `Fields that were read with low confidence are still to be reviewed: ${field?.fieldKey}.`,
        },
      ]);
      await admin.transitionContract({ contractId: id, toStageCode: 'extracted' });
      await test.plane.reviewExtraction({
        runId: run.id,
        fields: [{ fieldKey: field?.fieldKey ?? '', status: 'accepted' }],
      });
      expect(await submit(id)).to.deep.equal([]);
    });

    it('keeps the lines of a terminated contract collectable', async () => {
      const test = makePlane();
      const { id, payments } = await contractAt(test, 'active', { payments: [aLine()] });
      await test
        .as({ controls: controlsOf('admin') })
        .transitionContract({ contractId: id, transitionCode: 'terminate' });
      const received = await test.plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 10 });
      expect(received).to.include({ receivedAmount: 10 });
      expect((await test.plane.listPayments({ tab: 'due', contractId: id })).total).to.equal(1);
    });

    it('refuses invalid targets, each with a distinct answer', async () => {
      const test = makePlane();
      const admin = test.as({ controls: controlsOf('admin') });
      const { id } = await contractAt(test, 'review');
      const stages = ['draft', 'extracted', 'review', 'approved', 'signed', 'active', 'completed', 'archived'];
      const move = (request: object) => refusal(admin.transitionContract({ contractId: id, ...request }));
      expect(await move({})).to.deep.include({
        code: 'INVALID_INPUT',
        details: { issues: [{ path: 'transitionCode', problem: 'must be given, or toStageCode' }] },
      });
      expect(await move({ transitionCode: null, toStageCode: null })).to.include({ code: 'INVALID_INPUT' });
      expect(await move({ transitionCode: 'approve', toStageCode: 'signed' })).to.deep.include({
        code: 'INVALID_INPUT',
        details: {
          issues: [{ path: 'toStageCode', problem: 'must be approved, to which approve leads, or be left out' }],
        },
      });
      expect(await move({ transitionCode: 'nonsense' })).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'transitionCode', value: 'nonsense', allowed: ['return_to_draft', 'approve'] },
      });
      expect(await move({ toStageCode: 'nonsense' })).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'toStageCode', value: 'nonsense', allowed: stages },
      });
      expect(await move({ transitionCode: 'approve', toStageCode: 'nonsense' })).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'toStageCode', value: 'nonsense', allowed: stages },
      });
      expect(await move({ transitionCode: 'sign' })).to.deep.equal({
        code: 'INVALID_TRANSITION',
        details: { field: 'transitionCode', from: 'review', to: 'signed', allowed: ['return_to_draft', 'approve'] },
      });
      expect(await refusal(admin.transitionContract({ contractId: newId(), transitionCode: 'approve' }))).to.include({
        code: 'NOT_FOUND',
      });
      expect(
        await refusal(
          test
            .as({ controls: controlsOf('admin'), ifVersion: 7 })
            .transitionContract({ contractId: id, transitionCode: 'approve' }),
        ),
      ).to.deep.equal({ code: 'VERSION_MISMATCH', details: { version: 1 } });
      const events = await test.plane.listWorkflowEvents({ contractId: id });
      expect(
        events.map(({ kind }) => kind),
        'none of these is recorded as a denial',
      ).to.deep.equal(['created']);
    });

    it('to the present stage returns the contract unchanged, for every caller', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'signed');
      expect(await test.plane.transitionContract({ contractId: id, toStageCode: 'signed' })).to.include({
        version: 1,
        lifecycleStageCode: 'signed',
      });
      expect(await test.plane.listWorkflowEvents({ contractId: id })).to.have.lengthOf(1);
    });

    it('by a disabled transition is refused, and recorded once under one key', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const {
        templates: [standard],
      } = await test.plane.getContractCatalog({});
      const approve = standard?.transitions.find(({ code }) => code === 'approve');
      await test.plane.updateLifecycleTransition({ transitionId: approve?.id ?? '', changes: { enabled: false } });
      const keyed = test.as({ controls: controlsOf('admin'), idempotency: { key: 'once', requestHash: 'h' } });
      for (let i = 0; i < 3; i++) {
        expect(
          await refusal(keyed.transitionContract({ contractId: id, transitionCode: 'approve', note: 'please' })),
        ).to.deep.equal({
          code: 'INVALID_TRANSITION',
          details: { field: 'transitionCode', from: 'review', to: 'approved', allowed: ['return_to_draft'] },
        });
      }
      const events = await test.plane.listWorkflowEvents({ contractId: id });
      expect(events.map(({ kind, note }) => [kind, note])).to.deep.equal([
        ['transition_denied', 'please'],
        ['created', null],
      ]);
    });

    it('happens once under one key', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const keyed = test.as({ controls: controlsOf('admin'), idempotency: { key: 'once', requestHash: 'h' } });
      const first = await keyed.transitionContract({ contractId: id, transitionCode: 'approve' });
      expect(await keyed.transitionContract({ contractId: id, transitionCode: 'approve' })).to.deep.equal(first);
      expect((await test.plane.listWorkflowEvents({ contractId: id })).map(({ kind }) => kind)).to.deep.equal([
        'stage_changed',
        'created',
      ]);
    });

    it('happens once in ten concurrent requests', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () =>
          refusal(
            test
              .as({ controls: controlsOf('admin') })
              .transitionContract({ contractId: id, transitionCode: 'approve' }),
          ),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'carried out')).to.have.lengthOf(1);
      expect(
        outcomes.filter((outcome) => outcome !== 'carried out').every(({ code }) => code === 'INVALID_TRANSITION'),
      ).to.equal(true);
      expect((await test.plane.listWorkflowEvents({ contractId: id })).map(({ kind }) => kind)).to.deep.equal([
        'stage_changed',
        'created',
      ]);
      expect(await test.plane.getContract({ contractId: id })).to.include({
        version: 2,
        lifecycleStageCode: 'approved',
      });
    });

    it('is allowed only for the roles that the contract names', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review', { workflowAllowedRoles: ['legal', 'sales'] });
      const by = (roleCode: string | null) =>
        test.as({ controls: controlsOf('admin'), actor: { ...test.call.actor, roleCode } });
      for (const role of ['owner', 'manager', null]) {
        for (const request of [{ transitionCode: 'approve' }, { toStageCode: 'archived' }]) {
          const refused = await refusal(by(role).transitionContract({ contractId: id, ...request }));
          expect(refused).to.include({ code: 'WORKFLOW_CONTROL_REQUIRED' });
          expect(refused).to.have.deep.nested.property('details.roles', ['legal', 'sales']);
        }
      }
      expect(await by('legal').transitionContract({ contractId: id, transitionCode: 'approve' })).to.include({
        lifecycleStageCode: 'approved',
      });
    });

    it('out of scope is answered as for a missing contract, without a move or an event', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'review');
      const outside = [
        test.as({ subjectScope: [newId()], controls: controlsOf('admin') }),
        test.as({ ownerScope: newId(), controls: controlsOf('admin') }),
        test.as({ tenantId: newId(), controls: controlsOf('admin') }),
      ];
      for (const plane of outside) {
        expect(await refusal(plane.transitionContract({ contractId: id, transitionCode: 'approve' }))).to.include({
          code: 'NOT_FOUND',
        });
        expect(await refusal(plane.lockContract({ contractId: id }))).to.include({ code: 'NOT_FOUND' });
        expect(await refusal(plane.listWorkflowEvents({ contractId: id }))).to.include({ code: 'NOT_FOUND' });
      }
      expect(await test.plane.listWorkflowEvents({ contractId: id })).to.have.lengthOf(1);
    });
  });
});

describe('locking a contract', () => {
  forEachPlane((_name, makePlane) => {
    it('protects its core fields until it is unlocked or moved', async () => {
      const test = makePlane();
      const admin = test.as({ controls: controlsOf('admin') });
      const { id } = await contractAt(test, 'draft');
      expect(await test.plane.lockContract({ contractId: id })).to.include({ locked: true, version: 2 });
      expect(
        await refusal(test.plane.updateContract({ contractId: id, changes: { partyA: 'Another' } })),
      ).to.deep.equal({ code: 'CONTRACT_LOCKED', details: { fields: ['partyA'] } });
      expect(await admin.lockContract({ contractId: id, locked: false })).to.include({ locked: false });
      expect(await test.plane.updateContract({ contractId: id, changes: { partyA: 'Another' } })).to.include({
        partyA: 'Another',
      });
      await admin.lockContract({ contractId: id, locked: true });
      expect(
        await admin.transitionContract({ contractId: id, transitionCode: 'submit_review' }),
        'at the next stage the roles are chosen again',
      ).to.include({ locked: false });
    });

    it('needs no control, while unlocking needs the control approve at the present stage', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'signed');
      for (const control of ['none', 'view', 'edit'] as const) {
        expect(
          await refusal(test.as({ controls: { signed: control } }).lockContract({ contractId: id, locked: false })),
        ).to.deep.equal({
          code: 'WORKFLOW_CONTROL_REQUIRED',
          details: { control: 'approve', stage: 'signed', has: control },
        });
      }
      expect(
        await test.as({ controls: { signed: 'approve' } }).lockContract({ contractId: id, locked: false }),
      ).to.include({ locked: false, version: 2 });
      expect(await test.as({ controls: {} }).lockContract({ contractId: id, locked: true })).to.include({
        locked: true,
        version: 3,
      });
      expect(
        (await test.plane.listWorkflowEvents({ contractId: id })).map(({ kind, locked }) => [kind, locked]),
      ).to.deep.equal([
        ['locked', true],
        ['unlocked', false],
        ['created', true],
      ]);
    });

    it('leaves no trace if nothing changes', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'signed');
      expect(await test.plane.lockContract({ contractId: id, note: 'again' })).to.include({ locked: true, version: 1 });
      expect(await test.plane.listWorkflowEvents({ contractId: id })).to.have.lengthOf(1);
      const draft = await contractAt(test, 'draft');
      expect(
        await test.plane.lockContract({ contractId: draft.id, locked: false }),
        'unlocking an unlocked contract needs no control',
      ).to.include({ locked: false, version: 1 });
    });

    it('requires the version in the request, if given', async () => {
      const test = makePlane();
      const { id } = await contractAt(test, 'draft');
      expect(await refusal(test.as({ ifVersion: 2 }).lockContract({ contractId: id }))).to.deep.equal({
        code: 'VERSION_MISMATCH',
        details: { version: 1 },
      });
      expect(await test.as({ ifVersion: 1 }).lockContract({ contractId: id })).to.include({ version: 2 });
    });
  });
});
