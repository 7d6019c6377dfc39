import { warn } from '../../../base/warnings.js';
import { addDays, daysBetween } from '../../../base/day.js';
import { toMajor, unitPriceNumber } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type {
  ContractCore,
  ContractDetail,
  ContractState,
  ContractSummary,
  Note,
  Term,
} from '../../contract/records/contracts.js';
import type { PaymentLine, PaymentPage } from '../../contract/records/lines.js';
import type { Shown, ShownContract } from '../fields/shown.js';
import { iso } from '../../../base/instants.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import { invoiceAnswer } from '../invoices/invoices.js';
import type { LineRow, PaymentRow } from '../../tables/payment-lines.js';
import type { TermRow } from '../../tables/terms.js';
import type { NoteRow } from '../../tables/notes.js';
import type { ContractRow } from '../../tables/contracts.js';
import { shown } from '../sensitive.js';
import type { TaskRow } from '../../tables/tasks.js';
import { fulfillmentStatus, taskAnswer } from '../tasks/tasks.js';
import { planWarnings } from '../payments/plan-warnings.js';
import {
  daysOverdue,
  dueState,
  dueStatus,
  linePaymentStatus,
  overpaid,
  type Receivable,
} from '../payments/receivable.js';

/** The properties of a call that an answer depends on. */
export type Reader = Pick<Call, 'today' | 'reminderLeadDays' | 'rights'>;

/** A contract is `expiring` in its last thirty days. */
const EXPIRING_DAYS = 30;

/** The columns on which the part of a contract that is not in its core depends. */
export const STATE_COLUMNS = [
  'currencyCode',
  'payeeAccount',
  'dynamicFields',
  'stageName',
  'startDate',
  'endDate',
  'tasksLive',
  'tasksDone',
  'tasksInTimeUntil',
] as const satisfies readonly (keyof ContractRow)[];

type StateRow = Pick<ContractRow, (typeof STATE_COLUMNS)[number]>;

/**
 * The part of a contract's representation that is the same for all readers on all days, until the contract has another
 * version: nothing in it may depend on a column that changes without the version.
 */
export function contractCore(row: ContractRow): ContractCore {
  const major = (minor: number) => toMajor(minor, row.currencyCode);
  const majorOrNull = (minor: number | null) => (minor === null ? null : major(minor));
  return {
    id: row.id,
    archiveCode: row.archiveCode,
    contractNo: row.contractNo,
    projectName: row.projectName,
    subjectId: row.subjectId,
    partyA: row.partyA,
    partyB: row.partyB,
    equipmentName: row.equipmentName,
    equipmentModel: row.equipmentModel,
    quantity: row.quantity,
    unitPrice: unitPriceNumber(row.unitPrice),
    paymentMethod: row.paymentMethod,
    startDate: row.startDate,
    endDate: row.endDate,
    ownerId: row.ownerId,
    type: row.type,
    totalAmount: major(row.totalMinor),
    computedAmount: major(row.computedMinor),
    amountDifference: major(row.totalMinor - row.computedMinor),
    currencyCode: row.currencyCode,
    typeCode: row.typeCode,
    payeeBank: row.payeeBank,
    deposit: majorOrNull(row.depositMinor),
    periodicRent: majorOrNull(row.periodicRentMinor),
    paymentCycle: row.paymentCycle,
    signDate: row.signDate,
    invoicePoints: row.invoicePoints,
    contractAttachment: row.contractAttachment,
    statusCode: row.statusCode,
    ownerSuperiorId: row.ownerSuperiorId,
    remark: row.remark,
    status: row.status,
    workflowStage: row.stageCategory,
    workflow: row.stageCategory,
    lifecycleTemplateId: row.lifecycleTemplateId,
    lifecycleStageCode: row.stageCode,
    workflowAllowedRoles: row.allowedRoles,
    locked: row.locked,
    paymentStatus: row.paymentStatus,
    receivableAmount: major(row.receivableMinor),
    receivedAmount: major(row.receivedMinor),
    outstandingAmount: major(row.outstandingMinor),
    overpaidAmount: major(row.overpaidMinor),
    invoicedAmount: major(row.invoicedMinor),
    uninvoicedAmount: major(row.uninvoicedMinor),
    nextDueDate: row.nextDueDate,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
    version: row.version,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** The other part. `open` are the contract's lines with an outstanding amount. */
export function contractState(
  row: Shown<StateRow>,
  open: readonly Receivable[],
  { today, reminderLeadDays, rights }: Reader,
): ContractState {
  const due = dueState(open, { currencyCode: row.currencyCode, today, leadDays: reminderLeadDays });
  return {
    payeeAccount: shown(row.payeeAccount, rights),
    dynamicFields: row.dynamicFields,
    lifecycleStageName: row.stageName,
    overdueAmount: toMajor(due.overdueMinor, row.currencyCode),
    daysOverdue: due.daysOverdue,
    isOverdue: due.isOverdue,
    isDueSoon: due.isDueSoon,
    daysToEnd: daysBetween(today, row.endDate),
    validity: validity(row, today),
    fulfillmentStatus: fulfillmentStatus(row, today),
  };
}

/** The API representation of a contract. `open` are its lines with an outstanding amount. */
export const contractSummary = (row: ShownContract, open: readonly Receivable[], reader: Reader): ContractSummary => ({
  ...contractCore(row),
  ...contractState(row, open, reader),
});

/** A contract with all its records. */
export interface ContractParts {
  readonly row: ContractRow;
  readonly lines: readonly LineRow[];
  readonly terms: readonly TermRow[];
  readonly notes: readonly NoteRow[];
  readonly tasks: readonly TaskRow[];
  readonly invoices: readonly InvoiceRow[];
}

export function contractDetail(
  { row, lines, terms, notes, tasks, invoices }: ContractParts & { readonly row: ShownContract },
  reader: Reader,
  warnings: readonly Warning[] = [],
): ContractDetail {
  return {
    ...contractSummary(row, lines, reader),
    payments: lines.map((line) => paymentLine(line, reader)),
    terms: terms.map(termAnswer),
    notes: notes.map(noteAnswer),
    fulfillmentTasks: tasks.map((task) => taskAnswer(task, reader)),
    invoices: invoices.map(invoiceAnswer),
    warnings: [
      ...(row.otherCurrencyLines > 0 ? [warn('MIXED_CURRENCY', {})] : []),
      ...planWarnings(row, lines),
      ...warnings,
    ],
  };
}

export function paymentLine(line: LineRow, { today, reminderLeadDays, rights }: Reader): PaymentLine {
  const major = (minor: number) => toMajor(minor, line.currencyCode);
  return {
    id: line.id,
    contractId: line.contractId,
    period: line.period,
    dueDate: line.dueDate,
    amount: major(line.amountMinor),
    currencyCode: line.currencyCode,
    receivedAmount: major(line.receivedMinor),
    receivedDate: line.receivedDate,
    method: line.method,
    payerName: line.payerName,
    receiptAccount: shown(line.receiptAccount, rights),
    bankSerialNo: line.bankSerialNo,
    reconciliationStatus: line.reconciliationStatus,
    reconciliationNote: line.reconciliationNote,
    proof: line.proof,
    invoiceAmount: line.invoiceMinor === null ? null : major(line.invoiceMinor),
    invoiceDate: line.invoiceDate,
    invoiceNo: line.invoiceNo,
    invoiceAttachment: line.invoiceAttachment,
    outstandingAmount: major(line.outstandingMinor),
    overpaidAmount: major(overpaid(line)),
    invoicedAmount: major(line.invoicedMinor),
    uninvoicedAmount: major(line.uninvoicedMinor),
    paymentStatus: linePaymentStatus(line),
    dueStatus: dueStatus(line, today, reminderLeadDays),
    daysOverdue: daysOverdue(line, today),
    deletedAt: line.deletedAt === null ? null : iso(line.deletedAt),
    createdAt: iso(line.createdAt),
    updatedAt: iso(line.updatedAt),
  };
}

export function paymentRow(row: PaymentRow, reader: Reader): PaymentPage['items'][number] {
  const { contractNo, projectName, partyA, partyB, subjectId, ownerId } = row;
  return { ...paymentLine(row, reader), contractNo, projectName, partyA, partyB, subjectId, ownerId };
}

export const termAnswer = (term: TermRow): Term => ({
  id: term.id,
  kind: term.kind,
  title: term.title,
  date: term.date,
  note: term.note,
  createdAt: iso(term.createdAt),
  updatedAt: iso(term.updatedAt),
});

export const noteAnswer = (note: NoteRow): Note => ({
  id: note.id,
  label: note.label,
  value: note.value,
  createdAt: iso(note.createdAt),
  updatedAt: iso(note.updatedAt),
});

function validity(
  { startDate, endDate }: Pick<ContractRow, 'startDate' | 'endDate'>,
  today: string,
): ContractSummary['validity'] {
  if (today < startDate) return 'not_started';
  if (today > endDate) return 'expired';
  return endDate <= addDays(today, EXPIRING_DAYS) ? 'expiring' : 'in_force';
}
