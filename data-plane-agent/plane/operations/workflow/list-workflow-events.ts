import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { MAX_EVENTS, WorkflowEvents } from '../../contract/records/workflow.js';
import { workflowEvent } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';

/** The workflow events of a contract, newest first. */
export const listWorkflowEvents = operation({
  effect: 'read',
  input: s.object({ contractId: s.id() }),
  output: WorkflowEvents,
  fails: [],
  async run({ store }, _call, { contractId }) {
    const row = await store.contracts.find(contractId);
    if (!row) throw fail('NOT_FOUND', {});
    return (await store.workflowEvents.ofContract(row.id, MAX_EVENTS)).map(workflowEvent);
  },
});
