import { addDays, daysBetween, type Day } from './day.js';

/** A row with the values of a record: amounts in hundredths, instants in milliseconds. */
export type Row = Readonly<Record<string, string | number | null>>;

/** What the answers depend on besides the rows. */
export interface Setting {
  readonly today: Day;
  readonly reminderLeadDays: number;
  /** Of subject companies and members, by id. */
  readonly names: Readonly<Record<string, string>>;
}

/** All currencies of the benchmark have two decimals. */
const major = (minor: unknown): number => num(minor) / 100;
const majorOrNull = (minor: unknown): number | null => (typeof minor === 'number' ? minor / 100 : null);
const num = (value: unknown): number => value as number;
const iso = (ms: unknown): string => new Date(num(ms)).toISOString();
const isoOrNull = (ms: unknown): string | null => (typeof ms === 'number' ? iso(ms) : null);
const day = (value: unknown): Day => value as string;
const nameIn = (names: Setting['names'], id: unknown): string | null =>
  typeof id === 'string' ? (names[id] ?? null) : null;

/** What is the same for every reader on every day. */
export const coreAnswer = (row: Row): Record<string, unknown> => ({
  id: row['id'],
  archiveCode: row['archive_code'],
  contractNo: row['contract_no'],
  projectName: row['project_name'],
  subjectId: row['subject_id'],
  partyA: row['party_a'],
  partyB: row['party_b'],
  equipmentName: row['equipment_name'],
  equipmentModel: row['equipment_model'],
  quantity: row['quantity'],
  unitPrice: Number(row['unit_price']),
  paymentMethod: row['payment_method'],
  startDate: row['start_date'],
  endDate: row['end_date'],
  ownerId: row['owner_id'],
  type: row['type'],
  totalAmount: major(row['total_minor']),
  computedAmount: major(row['computed_minor']),
  amountDifference: major(num(row['total_minor']) - num(row['computed_minor'])),
  currencyCode: row['currency_code'],
  typeCode: row['type_code'],
  payeeBank: row['payee_bank'],
  deposit: majorOrNull(row['deposit_minor']),
  periodicRent: majorOrNull(row['periodic_rent_minor']),
  paymentCycle: row['payment_cycle'],
  signDate: row['sign_date'],
  invoicePoints: row['invoice_points'],
  contractAttachment: row['contract_attachment'],
  statusCode: row['status_code'],
  ownerSuperiorId: row['owner_superior_id'],
  remark: row['remark'],
  status: row['status'],
  workflowStage: row['stage_category'],
  workflow: row['stage_category'],
  lifecycleTemplateId: row['lifecycle_template_id'],
  lifecycleStageCode: row['stage_code'],
  lifecycleStageName: row['stage_name'],
  workflowAllowedRoles: JSON.parse(String(row['allowed_roles'])) as unknown,
  locked: row['locked'] === 1,
  paymentStatus: row['payment_status'],
  receivableAmount: major(row['receivable_minor']),
  receivedAmount: major(row['received_minor']),
  outstandingAmount: major(row['outstanding_minor']),
  overpaidAmount: major(row['overpaid_minor']),
  invoicedAmount: major(row['invoiced_minor']),
  uninvoicedAmount: major(row['uninvoiced_minor']),
  nextDueDate: row['next_due_date'],
  createdBy: row['created_by'],
  updatedBy: row['updated_by'],
  version: row['version'],
  createdAt: iso(row['created_at']),
  updatedAt: iso(row['updated_at']),
});

/** What a role sees or does not see: the account, and custom fields. */
export const ownAnswer = (
  { payeeAccount, values }: { readonly payeeAccount: unknown; readonly values: Readonly<Record<string, unknown>> },
  hidden: readonly string[],
): Record<string, unknown> => ({
  payeeAccount: hidden.length > 0 && typeof payeeAccount === 'string' ? masked(payeeAccount) : (payeeAccount ?? null),
  dynamicFields: Object.fromEntries(Object.entries(values).filter(([id]) => !hidden.includes(id))),
});

const masked = (account: string): string => `****${account.slice(-4)}`;

/** What depends on the day. `open` are the lines with an outstanding amount. */
export function stateAnswer(
  row: Row,
  open: readonly { readonly dueDate: Day; readonly outstanding: number }[],
  { today, reminderLeadDays }: Setting,
): Record<string, unknown> & { readonly isOverdue: boolean; readonly isDueSoon: boolean } {
  const soon = addDays(today, reminderLeadDays);
  let overdue = 0;
  let oldest: Day | null = null;
  let isDueSoon = false;
  for (const { dueDate, outstanding } of open) {
    if (dueDate < today) {
      overdue += outstanding;
      if (oldest === null || dueDate < oldest) oldest = dueDate;
    } else if (dueDate <= soon) isDueSoon = true;
  }
  const [start, end] = [day(row['start_date']), day(row['end_date'])];
  return {
    overdueAmount: major(overdue),
    daysOverdue: oldest === null ? 0 : daysBetween(oldest, today),
    isOverdue: oldest !== null,
    isDueSoon,
    daysToEnd: daysBetween(today, end),
    validity:
      today < start ? 'not_started' : today > end ? 'expired' : end <= addDays(today, 30) ? 'expiring' : 'in_force',
    fulfillmentStatus: fulfillment(row, today),
  };
}

function fulfillment(row: Row, today: Day): string {
  const open = row['tasks_in_time_until'];
  if (row['tasks_live'] === 0) return 'none';
  if (open === null) return 'fulfilled';
  return day(open) < today ? 'lapsed' : row['tasks_done'] === 0 ? 'unfulfilled' : 'partial';
}

export const namesAnswer = (row: Row, { names }: Setting): Record<string, unknown> => ({
  subjectName: nameIn(names, row['subject_id']),
  ownerName: nameIn(names, row['owner_id']),
  ownerSuperiorName: nameIn(names, row['owner_superior_id']),
  createdByName: nameIn(names, row['created_by']),
  updatedByName: nameIn(names, row['updated_by']),
});

/** What the list of receivables shows of a line's contract. */
export const lineContractAnswer = (row: Row, { names }: Setting): Record<string, unknown> => ({
  contractNo: row['contract_no'],
  projectName: row['project_name'],
  partyA: row['party_a'],
  partyB: row['party_b'],
  subjectId: row['subject_id'],
  ownerId: row['owner_id'],
  subjectName: nameIn(names, row['subject_id']),
  ownerName: nameIn(names, row['owner_id']),
});

export function lineAnswer(line: Row, { today, reminderLeadDays }: Setting): Record<string, unknown> {
  const amount = num(line['amount_minor']);
  const received = num(line['received_minor']);
  const outstanding = num(line['outstanding_minor']);
  const due = day(line['due_date']);
  return {
    id: line['id'],
    contractId: line['contract_id'],
    period: line['period'],
    dueDate: due,
    amount: major(amount),
    currencyCode: line['currency_code'],
    receivedAmount: major(received),
    receivedDate: line['received_date'],
    method: line['method'],
    payerName: line['payer_name'],
    receiptAccount: line['receipt_account'],
    bankSerialNo: line['bank_serial_no'],
    reconciliationStatus: line['reconciliation_status'],
    reconciliationNote: line['reconciliation_note'],
    proof: line['proof'],
    invoiceAmount: majorOrNull(line['invoice_minor']),
    invoiceDate: line['invoice_date'],
    invoiceNo: line['invoice_no'],
    invoiceAttachment: line['invoice_attachment'],
    outstandingAmount: major(outstanding),
    overpaidAmount: major(Math.max(0, received - amount)),
    invoicedAmount: major(line['invoiced_minor']),
    uninvoicedAmount: major(line['uninvoiced_minor']),
    paymentStatus: received >= amount ? 'paid' : received === 0 ? 'unpaid' : 'partial',
    dueStatus:
      outstanding === 0
        ? 'settled'
        : due < today
          ? 'overdue'
          : due <= addDays(today, reminderLeadDays)
            ? 'due_soon'
            : 'not_due',
    daysOverdue: outstanding === 0 ? 0 : Math.max(0, daysBetween(due, today)),
    deletedAt: isoOrNull(line['deleted_at']),
    createdAt: iso(line['created_at']),
    updatedAt: iso(line['updated_at']),
  };
}

export const termAnswer = (term: Row): Record<string, unknown> => ({
  id: term['id'],
  kind: term['kind'],
  title: term['title'],
  date: term['date'],
  note: term['note'],
  createdAt: iso(term['created_at']),
  updatedAt: iso(term['updated_at']),
});

export const noteAnswer = (note: Row): Record<string, unknown> => ({
  id: note['id'],
  label: note['label'],
  value: note['value'],
  createdAt: iso(note['created_at']),
  updatedAt: iso(note['updated_at']),
});

export function taskAnswer(task: Row, { today }: Setting): Record<string, unknown> {
  const status = String(task['status']);
  const isOpen = !['completed', 'accepted', 'canceled'].includes(status);
  const due = task['due_date'];
  const daysOverdue = isOpen && typeof due === 'string' ? Math.max(0, daysBetween(due, today)) : 0;
  return {
    id: task['id'],
    contractId: task['contract_id'],
    code: task['code'],
    title: task['title'],
    kind: task['kind'],
    status,
    ownerId: task['owner_id'],
    dueDate: due,
    acceptanceStatus: task['acceptance_status'],
    attachment: task['attachment'],
    metadata: typeof task['metadata'] === 'string' ? (JSON.parse(task['metadata']) as unknown) : null,
    isOverdue: status === 'overdue' || daysOverdue > 0,
    daysOverdue,
    startedAt: isoOrNull(task['started_at']),
    completedAt: isoOrNull(task['completed_at']),
    acceptedAt: isoOrNull(task['accepted_at']),
    acceptedBy: task['accepted_by'],
    createdBy: task['created_by'],
    updatedBy: task['updated_by'],
    createdAt: iso(task['created_at']),
    updatedAt: iso(task['updated_at']),
  };
}

export function invoiceAnswer(invoice: Row): Record<string, unknown> {
  const amount = num(invoice['amount_minor']);
  const rate = invoice['tax_rate'] === null ? null : Number(invoice['tax_rate']);
  const tax = rate === null ? null : Math.round((amount * rate) / (100 + rate));
  return {
    id: invoice['id'],
    contractId: invoice['contract_id'],
    receivablePlanId: invoice['line_id'],
    paymentRecordId: invoice['receipt_id'],
    invoiceNo: invoice['invoice_no'],
    invoiceAmount: major(amount),
    currencyCode: invoice['currency_code'],
    invoiceDate: invoice['invoice_date'],
    status: invoice['status'],
    attachment: invoice['attachment'],
    taxRate: rate,
    taxAmount: tax === null ? null : major(tax),
    netAmount: tax === null ? null : major(amount - tax),
    note: invoice['note'],
    reversesInvoiceId: invoice['reverses_id'],
    reversedByInvoiceId: invoice['reversed_by_id'],
    createdBy: invoice['created_by'],
    updatedBy: invoice['updated_by'],
    createdAt: iso(invoice['created_at']),
    updatedAt: iso(invoice['updated_at']),
  };
}
