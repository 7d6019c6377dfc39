import { warn } from '../../../base/warnings.js';
import { fail, isFailure, type FailureCode } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput, ContractPatch } from '../../contract/records/contracts.js';
import type { People } from '../../contract/records/people.js';
import { changesOf, lackingFields } from '../../domain/extraction/review.js';
import { planWarnings } from '../../domain/payments/plan-warnings.js';
import type { LineRow } from '../../tables/payment-lines.js';
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
 * Writes accepted and overridden values to the run's contract or to a new one, by the same code as create and update.
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
  const { row, lines, warnings } =
    run.contractId === null
      ? await entered(context, call, { values, people })
      : await changed(context, call, { contractId: run.contractId, values, people });
  return {
    contractId: row.id,
    warnings: [...planWarnings(row, lines), ...warnings, ...(await markExtracted(context, call, row))],
  };
}

interface Written {
  readonly row: ContractRow;
  readonly lines: readonly LineRow[];
  readonly warnings: readonly Warning[];
}

/** By default the caller becomes the owner, and the subject company is set when the caller can see exactly one. */
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
  refuseMissing(lackingFields(changes, { isNew: true }));
  checkPeople(changes, people);
  // Each value has passed its field's schema, and none is missing.
  return enterContract(context, call, { input: changes as unknown as ContractInput, members: people.members });
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
  refuseMissing(lackingFields(changes, { isNew: false }));
  checkPeople(changes, people, { present: before });
  return changeContract(context, call, { before, changes: changes as ContractPatch, members: people.members });
}

function refuseMissing(missingFields: readonly string[]): void {
  if (missingFields.length > 0) throw fail('EXTRACTION_INCOMPLETE', { missingFields: [...missingFields] });
}

/** Refusals that leave the contract a draft without failing the operation. */
const TOLERATED: readonly FailureCode[] = [
  'INVALID_TRANSITION',
  'WORKFLOW_CONTROL_REQUIRED',
  'TRANSITION_CONDITION_FAILED',
  'REFERENCE_INVALID',
];

/** Moves a draft to the extracted stage, if the tenant has workflows and the rules allow the caller to. */
async function markExtracted(context: OperationContext, call: Call, row: ContractRow): Promise<readonly Warning[]> {
  if (!call.rights.workflowAutomation || row.stageCategory !== 'draft') return [];
  try {
    return (
      await context.savepoint(() => moveContract(context, call, { row, request: { transitionCode: 'mark_extracted' } }))
    ).warnings;
  } catch (error) {
    if (!isFailure(error) || !TOLERATED.includes(error.code)) throw error;
    return [
      warn('NOT_MARKED_EXTRACTED', {
        message: 'The contract stays a draft: its lifecycle did not allow the transition.',
      }),
    ];
  }
}
