import { warn } from '../../../base/warnings.js';
import { fail, isFailure, type FailureCode } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput, ContractPatch } from '../../contract/records/contracts.js';
import type { People } from '../../contract/records/people.js';
import { changesOf, lackingFields } from '../../domain/extraction/review.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';
import type { ContractRow } from '../../tables/contracts.js';
import { changeContract } from '../contracts/change-contract.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { enterContract } from '../contracts/enter-contract.js';
import type { OperationContext } from '../operation-context.js';
import { moveContract } from '../workflow/move.js';
import { checkPeople } from '../../domain/extraction/check-people.js';

interface Applied {
  readonly contractId: string;
  readonly warnings: readonly Warning[];
}

/**
 * Writes what was accepted and overridden to the run's contract, or to a new one, by the same code as a request that
 * names these fields.
 */
export async function applyRun(
  context: OperationContext,
  call: Call,
  {
    run,
    values,
    people,
  }: { readonly run: ExtractionRunRow; readonly values: ReadonlyMap<string, unknown>; readonly people: People },
): Promise<Applied> {
  const { row, warnings } =
    run.contractId === null
      ? await entered(context, call, { values, people })
      : await changed(context, call, { contractId: run.contractId, values, people });
  return { contractId: row.id, warnings: [...warnings, ...(await marked(context, call, row))] };
}

interface Written {
  readonly row: ContractRow;
  readonly warnings: readonly Warning[];
}

/**
 * Whoever applies it owns it, and it belongs to the only subject company that he sees, unless the review says
 * otherwise.
 */
async function entered(
  context: OperationContext,
  call: Call,
  { values, people }: { readonly values: ReadonlyMap<string, unknown>; readonly people: People },
): Promise<Written> {
  const [subject, ...others] = people.subjects;
  const defaults = {
    ...(call.actor.id === null ? {} : { ownerId: call.actor.id }),
    ...(subject && others.length === 0 ? { subjectId: subject.id } : {}),
  };
  const changes = { ...defaults, ...changesOf(values) };
  refuseLacking(lackingFields(changes, { isNew: true }));
  checkPeople(changes, people);
  return enterContract(context, call, { input: changes as unknown as ContractInput, members: people.members }); // each value was checked against its field's schema, and none lacks
}

async function changed(
  context: OperationContext,
  call: Call,
  {
    contractId,
    values,
    people,
  }: { readonly contractId: string; readonly values: ReadonlyMap<string, unknown>; readonly people: People },
): Promise<Written> {
  const changes = changesOf(values);
  if (changes['dynamicFields'] !== undefined) await context.store.fields.holdForValues();
  const before = await context.store.contracts.find(contractId, { forUpdate: true });
  if (!before) throw fail('NOT_FOUND', {});
  checkVersion(before, call);
  refuseLacking(lackingFields(changes, { isNew: false }));
  checkPeople(changes, people, { present: before });
  return changeContract(context, call, { before, changes: changes as ContractPatch, members: people.members });
}

function refuseLacking(missingFields: readonly string[]): void {
  if (missingFields.length > 0) throw fail('EXTRACTION_INCOMPLETE', { missingFields: [...missingFields] });
}

/** What keeps a draft where it is: it has been written all the same. */
const STAYS: readonly FailureCode[] = [
  'INVALID_TRANSITION',
  'WORKFLOW_CONTROL_REQUIRED',
  'TRANSITION_CONDITION_FAILED',
  'REFERENCE_INVALID',
];

/** A draft becomes an extracted contract, where the plan has the workflow and its rules let this caller do it. */
async function marked(context: OperationContext, call: Call, row: ContractRow): Promise<readonly Warning[]> {
  if (!call.rights.workflowAutomation || row.stageCategory !== 'draft') return [];
  try {
    return (
      await context.savepoint(() => moveContract(context, call, { row, request: { transitionCode: 'mark_extracted' } }))
    ).warnings;
  } catch (error) {
    if (!isFailure(error) || !STAYS.includes(error.code)) throw error;
    return [
      warn('NOT_MARKED_EXTRACTED', { message: 'The contract stays a draft: the lifecycle did not let it move on.' }),
    ];
  }
}
