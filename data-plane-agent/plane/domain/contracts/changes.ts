import { uniqueKey } from '../unique-key.js';
import type { ContractInput, NoteInput, TermInput } from '../../contract/records/contracts.js';
import { aggregate } from '../payments/receivable.js';
import type { AmountReader } from '../amounts.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { TermRow } from '../../tables/terms.js';
import type { NoteRow } from '../../tables/notes.js';
import type { StageRow } from '../../tables/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';
import { accountSent } from '../sensitive.js';

export interface NewContract {
  readonly id: string;
  readonly input: ContractInput;
  readonly type: ContractRow['type'];
  readonly stage: StageRow;
  readonly currencyCode: string;
  readonly dynamicFields: ContractRow['dynamicFields'];
  readonly amounts: AmountReader;
  readonly now: number;
  readonly actorId: string | null;
}

/** A new contract without its lines. */
export function newContract({
  id,
  input,
  type,
  stage,
  currencyCode,
  dynamicFields,
  amounts,
  now,
  actorId,
}: NewContract): ContractRow {
  const unitPrice = amounts.unitPrice('unitPrice', input.unitPrice);
  const computedMinor = amounts.product('totalAmount', { quantity: input.quantity, unitPrice, currency: currencyCode });
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
      payeeAccount: accountSent(input.payeeAccount, null, (problem) => amounts.refuse('payeeAccount', problem)) ?? null,
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
      dynamicFields,
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
      unlinkedInvoicedMinor: 0,
      tasksLive: 0,
      tasksDone: 0,
      tasksInTimeUntil: null,
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

/**
 * The contract with the aggregates of its live lines. Every change of a line writes them in the same transaction.
 * Invoices not linked to a line count towards the invoiced amount; the uninvoiced amount is computed per line.
 */
export function withAggregates(row: ContractRow, lines: readonly LineRow[]): ContractRow {
  const ofLines = aggregate(lines, row);
  return { ...row, ...ofLines, invoicedMinor: ofLines.invoicedMinor + row.unlinkedInvoicedMinor };
}

/** Sets the time and author of a change. */
export const touched = (
  row: ContractRow,
  by: { readonly now: number; readonly actorId: string | null },
): ContractRow => ({ ...row, updatedAt: by.now, updatedBy: by.actorId });

export const newTerms = (
  inputs: readonly TermInput[],
  { contractId, now, newId }: { readonly contractId: string; readonly now: number; readonly newId: () => string },
): TermRow[] =>
  inputs.map(({ kind, title, date, note }, position) => ({
    id: newId(),
    contractId,
    position,
    kind,
    title,
    date: date ?? null,
    note,
    createdAt: now,
    updatedAt: now,
  }));

export const newNotes = (
  inputs: readonly NoteInput[],
  { contractId, now, newId }: { readonly contractId: string; readonly now: number; readonly newId: () => string },
): NoteRow[] =>
  inputs.map(({ label, value }, position) => ({
    id: newId(),
    contractId,
    position,
    label,
    value,
    createdAt: now,
    updatedAt: now,
  }));
