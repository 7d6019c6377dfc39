import { isCurrency, toMajor, unitPriceNumber } from '../../../base/money.js';
import type { HistoryRecord } from '../../contract/records/history.js';
import { iso } from '../../../base/instants.js';

/** How a field that the journal keeps is told: its name in requests and answers, and its value there. `currency` is that of the record at the time. */
export interface FieldTelling {
  readonly name: string;
  tell(value: unknown, currency: string): unknown;
}
export interface RecordTelling {
  /** The kept field by which people call such a record. */
  readonly calledBy: string;
  /** What is not here follows from something that is, and is not told again. */
  readonly fields: Readonly<Record<string, FieldTelling>>;
}

const as = (name: string, tell: FieldTelling['tell'] = (value) => value): FieldTelling => ({ name, tell: (value, currency) => (value === null ? null : tell(value, currency)) });
const asIs = (...names: string[]) => Object.fromEntries(names.map((name): [string, FieldTelling] => [name, as(name)]));
const amount = (name: string) => as(name, (minor, currency) => (typeof minor === 'number' && isCurrency(currency) ? toMajor(minor, currency) : minor));
const instant = (name: string) => as(name, (ms) => (typeof ms === 'number' ? iso(ms) : ms));
const decimal = (name: string) => as(name, (text) => (typeof text === 'string' ? unitPriceNumber(text) : text));

export const TELLINGS: Readonly<Record<HistoryRecord, RecordTelling>> = {
  contract: {
    calledBy: 'contractNo',
    fields: {
      ...asIs('archiveCode', 'contractNo', 'projectName', 'type', 'typeCode', 'subjectId', 'partyA', 'partyB', 'equipmentName', 'equipmentModel', 'quantity', 'currencyCode', 'paymentMethod', 'payeeAccount', 'payeeBank', 'paymentCycle'),
      ...asIs('signDate', 'startDate', 'endDate', 'invoicePoints', 'contractAttachment', 'status', 'statusCode', 'ownerId', 'ownerSuperiorId', 'remark', 'lifecycleTemplateId', 'locked'),
      unitPrice: decimal('unitPrice'),
      totalMinor: amount('totalAmount'),
      depositMinor: amount('deposit'),
      periodicRentMinor: amount('periodicRent'),
      stageCode: as('lifecycleStageCode'),
      stageCategory: as('workflowStage'),
      allowedRoles: as('workflowAllowedRoles'),
      deletedAt: instant('deletedAt'),
    },
  },
  payment_line: {
    calledBy: 'period',
    fields: {
      ...asIs('period', 'dueDate', 'currencyCode', 'receivedDate', 'method', 'payerName', 'receiptAccount', 'bankSerialNo', 'reconciliationStatus', 'reconciliationNote', 'proof', 'invoiceDate', 'invoiceNo', 'invoiceAttachment'),
      amountMinor: amount('amount'),
      receivedMinor: amount('receivedAmount'),
      invoiceMinor: amount('invoiceAmount'),
      deletedAt: instant('deletedAt'),
    },
  },
  term: { calledBy: 'title', fields: asIs('kind', 'title', 'date', 'note') },
  note: { calledBy: 'label', fields: asIs('label', 'value') },
  invoice: {
    calledBy: 'invoiceNo',
    fields: {
      ...asIs('invoiceNo', 'currencyCode', 'invoiceDate', 'status', 'attachment', 'note'),
      lineId: as('receivablePlanId'),
      receiptId: as('paymentRecordId'),
      amountMinor: amount('invoiceAmount'),
      taxRate: decimal('taxRate'),
      reversesId: as('reversesInvoiceId'),
      reversedById: as('reversedByInvoiceId'),
      deletedAt: instant('deletedAt'),
    },
  },
  fulfillment_task: {
    calledBy: 'code',
    fields: {
      ...asIs('code', 'title', 'kind', 'status', 'ownerId', 'dueDate', 'acceptanceStatus', 'attachment', 'metadata', 'acceptedBy'),
      startedAt: instant('startedAt'),
      completedAt: instant('completedAt'),
      acceptedAt: instant('acceptedAt'),
      deletedAt: instant('deletedAt'),
    },
  },
};
