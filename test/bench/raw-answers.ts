import { addDays, daysBetween, type Day } from '../../data-plane-agent/base/day.js';

/** A row from the driver. */
export type Row = Readonly<Record<string, string | number | null>>;

/** The context of the raw program: its tenant, names, and the current day. */
export interface RawSetting {
  readonly tenantId: string;
  readonly userId: string;
  readonly userName: string;
  readonly subjectId: string;
  readonly subjectName: string;
  readonly today: Day;
  readonly reminderLeadDays: number;
}

/** All amounts of the benchmark are in CNY. */
const major = (minor: number): number => minor / 100;
const majorOrNull = (minor: unknown): number | null => (typeof minor === 'number' ? minor / 100 : null);
const num = (value: unknown): number => value as number;
const iso = (ms: unknown): string => new Date(num(ms)).toISOString();
const day = (value: unknown): Day => value as string;

/** A contract, byte for byte like the product's answer. `open` are its lines with an outstanding amount. */
export function contractAnswer(row: Row, open: readonly Row[], setting: RawSetting): Record<string, unknown> {
  const { today } = setting;
  const soon = addDays(today, setting.reminderLeadDays);
  let overdue = 0;
  let oldest: Day | null = null;
  let isDueSoon = false;
  for (const line of open) {
    const due = day(line['due_date']);
    if (due < today) {
      overdue += num(line['outstanding_minor']);
      if (oldest === null || due < oldest) oldest = due;
    } else if (due <= soon) isDueSoon = true;
  }
  const start = day(row['start_date']);
  const end = day(row['end_date']);
  return {
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
    startDate: start,
    endDate: end,
    ownerId: row['owner_id'],
    type: row['type'],
    totalAmount: major(num(row['total_minor'])),
    computedAmount: major(num(row['computed_minor'])),
    amountDifference: major(num(row['total_minor']) - num(row['computed_minor'])),
    currencyCode: row['currency_code'],
    typeCode: row['type_code'],
    payeeAccount: row['payee_account'],
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
    dynamicFields: JSON.parse(String(row['dynamic_fields'])) as unknown,
    workflowStage: row['stage_category'],
    workflow: row['stage_category'],
    lifecycleTemplateId: row['lifecycle_template_id'],
    lifecycleStageCode: row['stage_code'],
    lifecycleStageName: row['stage_name'],
    workflowAllowedRoles: JSON.parse(String(row['allowed_roles'])) as unknown,
    locked: row['locked'] === 1,
    paymentStatus: row['payment_status'],
    receivableAmount: major(num(row['receivable_minor'])),
    receivedAmount: major(num(row['received_minor'])),
    outstandingAmount: major(num(row['outstanding_minor'])),
    overdueAmount: major(overdue),
    overpaidAmount: major(num(row['overpaid_minor'])),
    invoicedAmount: major(num(row['invoiced_minor'])),
    uninvoicedAmount: major(num(row['uninvoiced_minor'])),
    nextDueDate: row['next_due_date'],
    daysOverdue: oldest === null ? 0 : daysBetween(oldest, today),
    isOverdue: oldest !== null,
    isDueSoon,
    daysToEnd: daysBetween(today, end),
    validity:
      today < start ? 'not_started' : today > end ? 'expired' : end <= addDays(today, 30) ? 'expiring' : 'in_force',
    fulfillmentStatus: fulfillment(row, today),
    createdBy: row['created_by'],
    updatedBy: row['updated_by'],
    version: row['version'],
    createdAt: iso(row['created_at']),
    updatedAt: iso(row['updated_at']),
  };
}

function fulfillment(row: Row, today: Day): string {
  const open = row['tasks_in_time_until'];
  if (row['tasks_live'] === 0) return 'none';
  if (open === null) return 'fulfilled';
  return day(open) < today ? 'lapsed' : row['tasks_done'] === 0 ? 'unfulfilled' : 'partial';
}

export const contractNames = (row: Row, { subjectName, userName }: RawSetting) => ({
  subjectName,
  ownerName: userName,
  ownerSuperiorName: row['owner_superior_id'] === null ? null : userName,
  createdByName: row['created_by'] === null ? null : userName,
  updatedByName: row['updated_by'] === null ? null : userName,
});

/** Tasks and invoice records are queried like in the product; the data set has none. */
export function detailAnswer(
  {
    row,
    lines,
    terms,
    notes,
    tasks = [],
    invoices = [],
  }: {
    row: Row;
    lines: readonly Row[];
    terms: readonly Row[];
    notes: readonly Row[];
    tasks?: readonly Row[];
    invoices?: readonly Row[];
  },
  setting: RawSetting,
): Record<string, unknown> {
  return {
    ...contractAnswer(
      row,
      lines.filter((line) => num(line['outstanding_minor']) > 0),
      setting,
    ),
    payments: lines.map((line) => lineAnswer(line, setting)),
    terms: terms.map((term) => ({
      id: term['id'],
      kind: term['kind'],
      title: term['title'],
      date: term['date'],
      note: term['note'],
      createdAt: iso(term['created_at']),
      updatedAt: iso(term['updated_at']),
    })),
    notes: notes.map((note) => ({
      id: note['id'],
      label: note['label'],
      value: note['value'],
      createdAt: iso(note['created_at']),
      updatedAt: iso(note['updated_at']),
    })),
    fulfillmentTasks: tasks,
    invoices,
    warnings: [],
    ...contractNames(row, setting),
  };
}

export function lineAnswer(line: Row, { today, reminderLeadDays }: RawSetting): Record<string, unknown> {
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
    invoicedAmount: major(num(line['invoiced_minor'])),
    uninvoicedAmount: major(num(line['uninvoiced_minor'])),
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
    deletedAt: line['deleted_at'] === null ? null : iso(line['deleted_at']),
    createdAt: iso(line['created_at']),
    updatedAt: iso(line['updated_at']),
  };
}

/** A row of the receivables list: the columns of the joined contract are prefixed with `c_`. */
export const paymentRowAnswer = (row: Row, setting: RawSetting): Record<string, unknown> => ({
  ...lineAnswer(row, setting),
  contractNo: row['c_contract_no'],
  projectName: row['c_project_name'],
  partyA: row['c_party_a'],
  partyB: row['c_party_b'],
  subjectId: row['c_subject_id'],
  ownerId: row['c_owner_id'],
  subjectName: setting.subjectName,
  ownerName: setting.userName,
});
