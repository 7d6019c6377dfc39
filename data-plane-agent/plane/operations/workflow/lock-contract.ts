import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail } from '../../contract/records/contracts.js';
import { LockInput } from '../../contract/records/workflow.js';
import { touched } from '../../domain/contracts/changes.js';
import { requireControl } from '../../domain/lifecycle/lifecycle.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { detailOf } from '../../steps/contracts/detail.js';
import { operation } from '../../steps/operation-context.js';

/** Locks or unlocks a contract's core fields until its next transition. A request without effect writes nothing. */
export const lockContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...LockInput.properties }),
  output: ContractDetail,
  fails: ['VERSION_MISMATCH', 'WORKFLOW_CONTROL_REQUIRED'],
  async run(context, call, { contractId, locked: asked, note }) {
    const { store, clock } = context;
    const locked = asked ?? true;
    const row = await store.contracts.find(contractId, { forUpdate: true });
    if (!row) throw fail('NOT_FOUND', {});
    checkVersion(row, call);
    if (row.locked === locked) return detailOf(context, call, { row });
    if (!locked) requireControl(call.controls, { code: row.stageCode, category: row.stageCategory }, 'approve');
    const after = await store.contracts.update(
      row,
      touched({ ...row, locked }, { now: clock.now(), actorId: call.actor.id }),
    );
    await store.workflowEvents.record({
      contractId: row.id,
      kind: locked ? 'locked' : 'unlocked',
      fromStageCode: row.stageCode,
      toStageCode: row.stageCode,
      transitionCode: null,
      locked,
      note: note ?? null,
    });
    return detailOf(context, call, { row: after });
  },
});
