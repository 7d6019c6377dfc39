import { begun, together } from '../../../base/together.js';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import type { Member } from '../../contract/records/people.js';
import type { WorkflowEventSource } from '../../contract/vocabulary.js';
import { AmountReader } from '../../domain/amounts.js';
import type { ContractParts } from '../../domain/contracts/presenter.js';
import { newContract, newNotes, newTerms, withAggregates } from '../../domain/contracts/changes.js';
import { checkSums, newLine } from '../../domain/payments/line-changes.js';
import { checkNewLineRights } from '../../domain/payments/line-rights.js';
import { lineWarnings } from '../../domain/payments/line-warnings.js';
import { openingReceipts } from '../../domain/payments/receipts.js';
import type { ContractRow } from '../../tables/contracts.js';
import { placeInLifecycle } from '../lifecycle/place.js';
import { checkValues, holdForEntering, readValues } from '../fields/contract-values.js';
import { checkReferenceForm, checkRolesControl } from '../../domain/contracts/checks.js';
import { closedSubject } from './check-subject-open.js';
import type { OperationContext } from '../operation-context.js';
import { checkFilesOfLines } from '../receivables/check-line-files.js';
import { followLines, writeInvoices } from '../receivables/follow-lines.js';
import { reusedTransfers } from '../receivables/shared-transfers.js';

export interface Entered extends ContractParts {
  readonly warnings: readonly Warning[];
}

interface EnterOptions {
  readonly source?: WorkflowEventSource;
  /** The caller indexes the contract for search (`store.contracts.index`) before the transaction ends. */
  readonly indexLater?: boolean;
  /** Members that custom values may refer to; none by default. */
  readonly members?: readonly Member[];
  /** A reference that the control plane could not resolve. It is refused here to keep the order of the checks. */
  readonly unknownReference?: { readonly field: string; readonly value: string } | undefined;
}

/** Writes a new contract with its lines, terms and notes. `source` is recorded in its workflow events. */
export async function enterContract(
  context: OperationContext,
  call: Call,
  {
    input,
    source,
    indexLater = false,
    members = [],
    unknownReference,
  }: { readonly input: ContractInput } & EnterOptions,
): Promise<Entered> {
  checkNewLineRights(input.payments ?? [], call.rights);
  if (unknownReference) throw fail('REFERENCE_INVALID', unknownReference);
  const { store, clock, newId } = context;
  const now = clock.now();
  const amounts = new AmountReader();
  const currencyCode = input.currencyCode ?? call.currencyCode;
  const isSubjectOpen = begun(store.closings.isOpen(input.subjectId));
  const [{ type, stage }] = await together(
    placeInLifecycle(context, call, input),
    holdForEntering(context, input.dynamicFields),
  );
  const entering = source === 'import' ? 'import' : 'request';
  const custom = await readValues(context, call, {
    given: input.dynamicFields,
    contract: { type, typeCode: input.typeCode ?? null, dynamicFields: {} },
    entering,
    issues: amounts,
  });
  const draft = newContract({
    id: newId(),
    input,
    type,
    stage,
    currencyCode,
    dynamicFields: custom.values,
    amounts,
    now,
    actorId: call.actor.id,
  });
  const entered = (input.payments ?? []).map((line, position) =>
    newLine(
      line,
      { id: newId(), contractId: draft.id, position },
      { amounts, path: `payments[${position}].`, today: call.today, now, contractCurrency: currencyCode },
    ),
  );
  const { lines, changes: invoices } = await followLines(context, call, {
    contract: draft,
    steps: entered.map((after, i) => ({ before: null, after, path: `payments[${i}].` })),
    amounts,
  });
  checkSums(lines, { amounts, contractCurrency: currencyCode, blame: 'payments' });
  amounts.done();
  checkReferenceForm(draft, call);
  if (!(await isSubjectOpen)) throw closedSubject(draft.subjectId);
  checkRolesControl({ allowedRoles: [] }, draft, call);
  await checkValues(context, custom, { members, formerMembers: entering === 'import' });
  await store.files.check('contractAttachment', input.contractAttachment);
  await checkFilesOfLines(store, input.payments ?? []);

  const row = withAggregates(draft, lines);
  if (!(await store.contracts.insert(row, { indexLater }))) throw await duplicateOf(context, row);
  const terms = newTerms(input.terms ?? [], { contractId: row.id, now, newId });
  const notes = newNotes(input.extraNotes ?? [], { contractId: row.id, now, newId });
  await store.lines.insert(lines);
  await writeInvoices(context, invoices);
  await store.lines.insertReceipts(openingReceipts(lines, { call, now, newId }));
  await store.contracts.insertTerms(terms);
  await store.contracts.insertNotes(notes);
  await store.workflowEvents.record({
    contractId: row.id,
    kind: 'created',
    fromStageCode: null,
    toStageCode: row.stageCode,
    transitionCode: null,
    locked: row.locked,
    note: null,
    ...(source ? { source } : {}),
  });
  const byDueDate = lines.toSorted((a, b) =>
    a.dueDate < b.dueDate ? -1 : a.dueDate > b.dueDate ? 1 : a.position - b.position,
  );
  // An import checks all its lines together once they are written.
  const warnings =
    entering === 'import'
      ? []
      : lineWarnings(
          lines.map((after) => ({ before: null, after })),
          { today: call.today, reused: await reusedTransfers(context, lines) },
        );
  return { row, lines: byDueDate, terms, notes, tasks: [], invoices: invoices.map(({ after }) => after), warnings };
}

/** The failure for the key that another contract has. */
async function duplicateOf({ store }: OperationContext, row: ContractRow) {
  if (await store.contracts.holderOf({ contractKey: row.contractKey }))
    return fail('DUPLICATE_CONTRACT_NO', { contractNo: row.contractNo });
  return fail('DUPLICATE_ARCHIVE_CODE', { archiveCode: row.archiveCode });
}
