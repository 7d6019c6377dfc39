import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { touched } from '../../domain/contracts/changes.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { TaskRow } from '../../tables/tasks.js';
import { withTasks, type TaskContext } from '../../domain/tasks/tasks.js';
import type { OperationContext } from '../operation-context.js';

/** A contract locked until the transaction ends, with its live tasks. */
export interface HeldTasks {
  readonly contract: ContractRow;
  readonly tasks: readonly TaskRow[];
  readonly context: TaskContext;
}

/**
 * Locks a contract before its tasks are read: its task state is computed from all tasks, and the daily step must not
 * interleave with a change.
 */
export async function holdTasks(
  { store, clock }: OperationContext,
  call: Call,
  contractId: string,
): Promise<HeldTasks> {
  const contract = await store.contracts.find(contractId, { forUpdate: true });
  if (!contract) throw fail('NOT_FOUND', {});
  return {
    contract,
    tasks: await store.tasks.ofContract(contract.id),
    context: { today: call.today, now: clock.now(), actorId: call.actor.id },
  };
}

/** Writes the contract's task state and increments its version. */
export const writeTaskState = (
  { store }: OperationContext,
  { contract, tasks, context }: HeldTasks,
): Promise<ContractRow> => store.contracts.update(contract, touched(withTasks(contract, tasks), context));

/** Refuses a code that another task of the contract has, ignoring case. */
export function refuseTakenCode(tasks: readonly TaskRow[], { id, code, codeKey }: TaskRow): void {
  if (tasks.some((other) => other.id !== id && other.codeKey === codeKey))
    throw fail('DUPLICATE_CODE', { field: 'code', value: code });
}
