import { fold } from './search.js';
import type { ContractInput, ContractPatch, NoteInput, TermInput } from '../contract/records/contracts.js';
import { aggregate } from './receivable.js';
import type { AmountReader } from './amounts.js';
import type { ContractRow, LineRow, NoteRow, StageRow, TermRow } from './rows.js';

/** Numbers and archive codes are unique whatever their case. */
export const uniqueKey = (code: string): string => fold(code);

export interface NewContract {
  readonly id: string;
  readonly input: ContractInput;
  readonly type: ContractRow['type'];
  readonly stage: StageRow;
  readonly currencyCode: string;
  readonly amounts: AmountReader;
  readonly now: number;
  readonly actorId: string | null;
}

/** A contract as it is entered, still without its lines. */
export function newContract({ id, input, type, stage, currencyCode, amounts, now, actorId }: NewContract): ContractRow {
  const unitPrice = amounts.unitPrice('unitPrice', input.unitPrice);
  const computedMinor = amounts.product('totalAmount', input.quantity, unitPrice, currencyCode);
  if (input.endDate < input.startDate) amounts.refuse('endDate', 'must not be before startDate');
  return withAggregates(
    {
      id,
      archiveCode: input.archiveCode,
      archiveKey: uniqueKey(input.archiveCode),
      contractNo: input.contractNo,
      contractKey: uniqueKey(input.contractNo),
      projectName: input.projectName,
      type,
      typeCode: input.typeCode ?? null,
      subjectId: input.subjectId,
      partyA: input.partyA,
      partyB: input.partyB,
      equipmentName: input.equipmentName,
      equipmentModel: input.equipmentModel,
      quantity: input.quantity,
      unitPrice,
      totalMinor: amounts.optional('totalAmount', input.totalAmount, currencyCode) ?? computedMinor,
      computedMinor,
      currencyCode,
      paymentMethod: input.paymentMethod,
      payeeAccount: input.payeeAccount ?? null,
      payeeBank: input.payeeBank ?? null,
      depositMinor: amounts.optional('deposit', input.deposit, currencyCode),
      periodicRentMinor: amounts.optional('periodicRent', input.periodicRent, currencyCode),
      paymentCycle: input.paymentCycle ?? null,
      signDate: input.signDate ?? null,
      startDate: input.startDate,
      endDate: input.endDate,
      invoicePoints: input.invoicePoints ?? null,
      contractAttachment: input.contractAttachment ?? null,
      status: input.status ?? 'in_progress',
      statusCode: input.statusCode ?? null,
      ownerId: input.ownerId,
      ownerSuperiorId: input.ownerSuperiorId ?? null,
      remark: input.remark ?? null,
      dynamicFields: mergedFields({}, input.dynamicFields),
      lifecycleTemplateId: stage.templateId,
      stageCode: stage.code,
      stageCategory: stage.category,
      stageName: stage.name,
      allowedRoles: input.workflowAllowedRoles ?? [],
      locked: stage.locksCoreFields,
      paymentStatus: 'unpaid',
      receivableMinor: 0,
      receivedMinor: 0,
      outstandingMinor: 0,
      overpaidMinor: 0,
      invoicedMinor: 0,
      uninvoicedMinor: 0,
      nextDueDate: null,
      otherCurrencyLines: 0,
      totalAmount: 0,
      outstandingAmount: 0,
      createdAt: now,
      createdBy: actorId,
      updatedAt: now,
      updatedBy: actorId,
      deletedAt: null,
      version: 1,
    },
    [],
  );
}

/** The contract with what it keeps of its live lines. Whoever changes a line writes this in the same transaction. */
export const withAggregates = (row: ContractRow, lines: readonly LineRow[]): ContractRow => ({ ...row, ...aggregate(lines, row) });

/** Marks who changed a contract, and when. */
export const touched = (row: ContractRow, by: { readonly now: number; readonly actorId: string | null }): ContractRow => ({ ...row, updatedAt: by.now, updatedBy: by.actorId });

export const newTerms = (inputs: readonly TermInput[], contractId: string, now: number, newId: () => string): TermRow[] =>
  inputs.map(({ kind, title, date, note }, position) => ({ id: newId(), contractId, position, kind, title, date: date ?? null, note, createdAt: now, updatedAt: now }));

export const newNotes = (inputs: readonly NoteInput[], contractId: string, now: number, newId: () => string): NoteRow[] =>
  inputs.map(({ label, value }, position) => ({ id: newId(), contractId, position, label, value, createdAt: now, updatedAt: now }));

/** Custom values by field id: a key that is given replaces, `null` clears it, and `null` for the whole clears all. */
export function mergedFields(present: ContractRow['dynamicFields'], given: ContractPatch['dynamicFields']): ContractRow['dynamicFields'] {
  if (given === undefined) return present;
  return Object.fromEntries(Object.entries(given === null ? {} : { ...present, ...given }).filter(([, value]) => value !== null));
}
