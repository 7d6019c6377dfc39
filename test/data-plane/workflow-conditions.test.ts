import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Conditions, Effects } from '../../data-plane-agent/plane/contract/records/conditions.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { TransitionInput } from '../../data-plane-agent/plane/contract/records/workflow.js';
import { aTemplate, controlsOf, refusal } from '../support/lifecycle.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

interface Flow {
  readonly conditions?: Conditions;
  readonly completionRules?: Conditions;
  readonly effects?: Effects;
}

/** A contract in the first of two stages, and the outcome of a move to the second. */
async function tryMove(
  test: TestPlane,
  { conditions = {}, completionRules = {}, effects = {} }: Flow,
  contract: Partial<ContractInput> = {},
  request: TransitionInput = { transitionCode: 'go' },
) {
  const flow = await aTemplate(test, {
    code: `t_${newId().replaceAll('-', '_')}`,
    stages: [
      { code: 'first', name: 'First', category: 'draft', completionRules },
      { code: 'second', name: 'Second', category: 'extracted' },
    ],
    transitions: [{ code: 'go', name: 'Go', fromStageCode: 'first', toStageCode: 'second', conditions, effects }],
  });
  const made = await test.plane.createContract(aContract({ lifecycleTemplateId: flow.id, ...contract }));
  const move = (more: TransitionInput = request, as: TestPlane['plane'] = test.as({ controls: controlsOf('edit') })) =>
    as.transitionContract({ contractId: made.id, ...more });
  return { ...made, move, outcome: () => refusal(move()) };
}

/** The names of the failed conditions, or `none`. */
const failedIn = (outcome: Awaited<ReturnType<typeof refusal>>): unknown =>
  outcome === 'carried out'
    ? outcome
    : ((outcome.details['failed'] as { condition: string; of: string }[] | undefined)?.map(
        ({ condition, of }) => `${of} ${condition}`,
      ) ?? outcome.code);

describe('the conditions of a move', () => {
  forEachPlane((_name, makePlane) => {
    const failing = async (flow: Flow, contract: Partial<ContractInput> = {}, request?: TransitionInput) =>
      failedIn(await (await tryMove(makePlane(), flow, contract, request)).outcome());

    it('requireFields: every field must have a value, and a list an element', async () => {
      const conditions: Conditions = {
        requireFields: ['signDate', 'deposit', 'payments', 'terms', 'extraNotes', 'contractNo', 'totalAmount'],
      };
      const test = makePlane();
      const bare = await tryMove(test, { conditions });
      expect(await bare.outcome()).to.deep.equal({
        code: 'TRANSITION_CONDITION_FAILED',
        details: {
          failed: [
            {
              condition: 'requireFields',
              of: 'transition',
              message: 'These fields need a value: signDate, deposit, payments, terms, extraNotes.',
              missing: ['signDate', 'deposit', 'payments', 'terms', 'extraNotes'],
            },
          ],
        },
      });
      expect(
        await failing(
          { conditions },
          {
            signDate: '2026-01-01',
            deposit: 0,
            payments: [aLine()],
            terms: [{ kind: 'deposit', title: 'T', note: 'N' }],
            extraNotes: [{ label: 'L', value: 'V' }],
          },
        ),
      ).to.equal('carried out');
    });

    it('requireFields: a custom field must have a value', async () => {
      const test = makePlane();
      const { field } = await test.plane.runFieldCommand({
        type: 'CreateField',
        payload: { name: 'Crane number', type: 'text' },
      });
      const conditions: Conditions = { requireFields: [`dynamicFields.${field.id}`] };
      expect(failedIn(await (await tryMove(test, { conditions })).outcome())).to.deep.equal([
        'transition requireFields',
      ]);
      expect(await (await tryMove(test, { conditions }, { dynamicFields: { [field.id]: 'K-7' } })).outcome()).to.equal(
        'carried out',
      );
    });

    it('requireFileKinds: files of the contract count, and its attachment', async () => {
      const test = makePlane();
      const { database, call } = test;
      const file = async (kind: string, contractId: string | null) => {
        const id = newId();
        await database.write(call, (tx) =>
          tx.run(
            'INSERT INTO files (tenant_id, id, kind, file_name, subject_id, contract_id, payment_id, created_at, updated_at) VALUES (?, ?, ?, ?, NULL, ?, NULL, 0, 0)',
            [call.tenantId, id, kind, 'f.pdf', contractId],
          ),
        );
        return id;
      };
      const conditions: Conditions = { requireFileKinds: ['contract_original', 'acceptance_report'] };
      const contract = await tryMove(
        test,
        { conditions },
        { contractAttachment: await file('contract_original', null) },
      );
      await file('acceptance_report', newId());
      const outcome = await contract.outcome();
      expect(outcome).to.have.deep.nested.property('details.failed[0].missing', ['acceptance_report']);
      await file('acceptance_report', contract.id);
      expect(await contract.outcome()).to.equal('carried out');
    });

    it('requireAllPaid: there must be lines, and every line must be paid', async () => {
      const conditions: Conditions = { requireAllPaid: true };
      expect(await failing({ conditions })).to.deep.equal(['transition requireAllPaid']);
      expect(
        await failing(
          { conditions },
          { payments: [aLine({ amount: 5, receivedAmount: 5 }), aLine({ period: 'open' })] },
        ),
      ).to.deep.equal(['transition requireAllPaid']);
      expect(await failing({ conditions }, { payments: [aLine({ amount: 5, receivedAmount: 5 })] })).to.equal(
        'carried out',
      );
      expect(await failing({ conditions: { requireAllPaid: false } })).to.equal('carried out');
    });

    it('requireTasksDone: open tasks prevent the move, canceled ones do not', async () => {
      const test = makePlane();
      const contract = await tryMove(test, { conditions: { requireTasksDone: true } });
      const { id } = await test.plane.addTask({ contractId: contract.id, code: 'deliver', title: 'Deliver' });
      await test.plane.addTask({ contractId: contract.id, code: 'gone', title: 'Gone', status: 'canceled' });
      await test.plane.addTask({ contractId: contract.id, code: 'done', title: 'Done', status: 'accepted' });
      expect(await contract.outcome()).to.have.nested.property(
        'details.failed[0].message',
        '1 of 2 fulfillment tasks are still to be completed.',
      );
      await test.plane.updateTask({ contractId: contract.id, taskId: id, changes: { status: 'completed' } });
      expect(await contract.outcome()).to.equal('carried out');
    });

    it('requireNote: the move must include a note', async () => {
      expect(await failing({ conditions: { requireNote: true } })).to.deep.equal(['transition requireNote']);
      expect(
        await failing({ conditions: { requireNote: true } }, {}, { transitionCode: 'go', note: 'because' }),
      ).to.equal('carried out');
    });

    it('minAmount and maxAmount: both ends are included', async () => {
      for (const [totalAmount, expected] of [
        [99.99, ['transition minAmount']],
        [100, 'carried out'],
        [200.1, 'carried out'],
        [200.11, ['transition maxAmount']],
      ] as const) {
        expect(
          await failing({ conditions: { minAmount: 100, maxAmount: 200.1 } }, { totalAmount }),
          String(totalAmount),
        ).to.deep.equal(expected);
      }
    });

    it('forbidSelfApproval: the caller must neither have created the contract nor moved it last', async () => {
      const test = makePlane();
      const contract = await tryMove(test, { conditions: { forbidSelfApproval: true } });
      expect(failedIn(await contract.outcome())).to.deep.equal(['transition forbidSelfApproval']);
      const [second, third] = [newId(), newId()].map((id) =>
        test.as({ controls: controlsOf('admin'), actor: { ...test.call.actor, id } }),
      );
      if (!second || !third) throw new Error('two others');
      await contract.move({ transitionCode: 'go' }, second);
      await contract.move({ toStageCode: 'first' }, second);
      expect(
        failedIn(await refusal(contract.move({ toStageCode: 'second' }, second))),
        'a member who moved it back was the last to move it',
      ).to.deep.equal(['transition forbidSelfApproval']);
      expect(await contract.move({ transitionCode: 'go' }, third)).to.include({ lifecycleStageCode: 'second' });
    });

    it('report all failures at once, of the transition and of the stage that is left', async () => {
      const conditions: Conditions = {
        requireFields: ['signDate'],
        requireFileKinds: ['invoice'],
        requireAllPaid: true,
        requireNote: true,
        minAmount: 1_000_000,
        maxAmount: 2_000_000,
        forbidSelfApproval: true,
      };
      expect(
        await failing({ conditions, completionRules: { requireFields: ['deposit'], maxAmount: 1 } }),
      ).to.deep.equal([
        'transition requireFields',
        'transition requireFileKinds',
        'transition requireAllPaid',
        'transition requireNote',
        'transition minAmount',
        'transition forbidSelfApproval',
        'stage requireFields',
        'stage maxAmount',
      ]);
    });

    it('also apply if a request names the stage instead of the transition', async () => {
      const test = makePlane();
      const contract = await tryMove(
        test,
        { conditions: { requireNote: true }, completionRules: { requireFields: ['signDate'] } },
        {},
        { toStageCode: 'second' },
      );
      expect(failedIn(await contract.outcome())).to.deep.equal(['transition requireNote', 'stage requireFields']);
      const [denied] = await test.plane.listWorkflowEvents({ contractId: contract.id });
      expect(denied).to.include({
        kind: 'transition_denied',
        fromStageCode: 'first',
        toStageCode: 'second',
        transitionCode: null,
      });
    });

    it('include completion rules for a move without a transition', async () => {
      const test = makePlane();
      const contract = await tryMove(test, { completionRules: { requireNote: true } });
      await contract.move({ transitionCode: 'go', note: 'fine' });
      const { templates } = await test.plane.getContractCatalog({});
      const second = templates
        .find(({ id }) => id === contract.lifecycleTemplateId)
        ?.stages.find(({ code }) => code === 'second');
      await test.plane.updateLifecycleStage({
        stageId: second?.id ?? '',
        changes: { completionRules: { requireFields: ['signDate'] } },
      });
      expect(failedIn(await refusal(contract.move({ toStageCode: 'first' })))).to.deep.equal(['stage requireFields']);
    });
  });
});

describe('the effects of a move', () => {
  forEachPlane((_name, makePlane) => {
    it('set status, lock and dates, overriding those of the stage', async () => {
      const test = makePlane();
      const contract = await tryMove(
        test,
        { effects: { setStatus: 'completed', setLocked: true, setFieldToday: ['signDate', 'endDate'] } },
        { startDate: '2026-01-01', endDate: '2026-12-31' },
      );
      expect(await contract.move()).to.include({
        status: 'completed',
        locked: true,
        signDate: '2026-03-15',
        startDate: '2026-01-01',
        endDate: '2026-03-15',
      });
      const signed = await tryMove(test, { effects: { setFieldToday: ['signDate'] } }, { signDate: '2026-02-02' });
      expect(await signed.move()).to.include({ signDate: '2026-02-02' });
    });

    it('are refused if the contract would end before it starts', async () => {
      const test = makePlane();
      const contract = await tryMove(
        test,
        { effects: { setFieldToday: ['startDate'] } },
        { startDate: '2025-01-01', endDate: '2025-12-31' },
      );
      expect(await contract.outcome()).to.deep.equal({
        code: 'TRANSITION_CONDITION_FAILED',
        details: {
          failed: [
            {
              condition: 'setFieldToday',
              of: 'transition',
              message: 'The contract would end (2025-12-31) before it starts (2026-03-15).',
            },
          ],
        },
      });
      expect(await test.plane.getContract({ contractId: contract.id })).to.include({
        startDate: '2025-01-01',
        lifecycleStageCode: 'first',
      });
    });

    it('include a message for a channel in the same transaction, and none if the move is refused', async () => {
      const test = makePlane();
      const notifyChannelId = newId();
      const outbox = () =>
        test.database.read(test.call, async (tx) =>
          (
            await tx.all("SELECT reference FROM outbox WHERE tenant_id = ? AND topic = 'workflow.moved'", [
              test.call.tenantId,
            ])
          ).map((row) => JSON.parse(String(row['reference'])) as unknown),
        );
      const contract = await tryMove(test, { conditions: { requireNote: true }, effects: { notifyChannelId } });
      await contract.outcome();
      expect(await outbox()).to.deep.equal([]);
      await contract.move({ transitionCode: 'go', note: 'now' });
      const [event] = await test.plane.listWorkflowEvents({ contractId: contract.id });
      expect(await outbox()).to.deep.equal([
        { channelId: notifyChannelId, contractId: contract.id, eventId: event?.id },
      ]);
    });

    it("create a task once, for the contract's owner by default", async () => {
      const test = makePlane();
      const contract = await tryMove(test, {
        effects: { createTask: { code: 'deliver', title: 'Deliver it', kind: 'delivery', dueInDays: 10 } },
      });
      const moved = await contract.move();
      expect(moved.fulfillmentTasks).to.have.lengthOf(1);
      expect(moved.fulfillmentTasks[0]).to.include({
        code: 'deliver',
        title: 'Deliver it',
        kind: 'delivery',
        dueDate: '2026-03-25',
        status: 'pending',
        ownerId: moved.ownerId,
      });
      expect(moved).to.include({ fulfillmentStatus: 'unfulfilled', version: 2 });
      await contract.move({ toStageCode: 'first' });
      const again = await contract.move();
      expect(again.fulfillmentTasks).to.have.lengthOf(1);
      expect(again.warnings.map(({ code }) => code)).to.deep.equal(['TASK_EXISTS']);

      const other = newId();
      const owned = await (
        await tryMove(test, { effects: { createTask: { code: 'x', title: 'X', ownerId: other } } })
      ).move();
      expect(owned.fulfillmentTasks[0]).to.include({ ownerId: other, dueDate: null });
    });

    it('do nothing if they are empty', async () => {
      const moved = await (
        await tryMove(makePlane(), {
          effects: { setStatus: null, setLocked: null, setFieldToday: [], createTask: null },
        })
      ).move();
      expect(moved).to.include({ status: 'in_progress', locked: false, signDate: null });
    });
  });
});
