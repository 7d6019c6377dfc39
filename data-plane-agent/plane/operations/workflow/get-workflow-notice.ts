import { s } from '../../../base/schema.js';
import { WorkflowNotice } from '../../contract/records/notices.js';
import { operation } from '../../steps/operation-context.js';

/** A move of a contract, as a message announces it; `null` if the contract was deleted. */
export const getWorkflowNotice = operation({
  effect: 'read',
  input: s.object({ contractId: s.id(), eventId: s.id() }),
  output: s.object({ notice: s.nullable(WorkflowNotice) }),
  fails: [],
  async run({ store }, _call, { contractId, eventId }) {
    const contract = await store.contracts.find(contractId);
    const event = contract && (await store.workflowEvents.find(contractId, eventId));
    if (!contract || !event) return { notice: null };
    const stages = await store.lifecycle.stages(contract.lifecycleTemplateId);
    const nameOf = (code: string | null): string => stages.find((stage) => stage.code === code)?.name ?? code ?? '';
    const { contractNo, projectName, ownerId } = contract;
    return {
      notice: {
        contractNo,
        projectName,
        fromStage: nameOf(event.fromStageCode),
        toStage: nameOf(event.toStageCode),
        actorName: event.actorName,
        note: event.note,
        at: event.createdAt,
        ownerId,
      },
    };
  },
});
