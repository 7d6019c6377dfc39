import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { Conditions, Effects } from '../contract/records/conditions.js';
import type { ContractStatus, ContractType, Control, PaymentStatus, ReconciliationStatus, WorkflowStage } from '../contract/vocabulary.js';

/** The tables of the data plane, field by field. Money is in minor units of the row's currency, instants in milliseconds. */
export const contracts = table('contracts', {
  id: c.text('id'),
  archiveCode: c.text('archive_code'),
  archiveKey: c.text('archive_key'),
  contractNo: c.text('contract_no'),
  contractKey: c.text('contract_key'),
  projectName: c.text('project_name'),
  type: c.word<ContractType>('type'),
  typeCode: c.orNull(c.text('type_code')),
  subjectId: c.text('subject_id'),
  partyA: c.text('party_a'),
  partyB: c.text('party_b'),
  equipmentName: c.text('equipment_name'),
  equipmentModel: c.text('equipment_model'),
  quantity: c.int('quantity'),
  /** Decimal text, up to six decimals. */
  unitPrice: c.text('unit_price'),
  totalMinor: c.int('total_minor'),
  computedMinor: c.int('computed_minor'),
  currencyCode: c.text('currency_code'),
  paymentMethod: c.text('payment_method'),
  payeeAccount: c.orNull(c.text('payee_account')),
  payeeBank: c.orNull(c.text('payee_bank')),
  depositMinor: c.orNull(c.int('deposit_minor')),
  periodicRentMinor: c.orNull(c.int('periodic_rent_minor')),
  paymentCycle: c.orNull(c.text('payment_cycle')),
  signDate: c.orNull(c.text('sign_date')),
  startDate: c.text('start_date'),
  endDate: c.text('end_date'),
  invoicePoints: c.orNull(c.int('invoice_points')),
  contractAttachment: c.orNull(c.text('contract_attachment')),
  status: c.word<ContractStatus>('status'),
  statusCode: c.orNull(c.text('status_code')),
  ownerId: c.text('owner_id'),
  ownerSuperiorId: c.orNull(c.text('owner_superior_id')),
  remark: c.orNull(c.text('remark')),
  dynamicFields: c.json<Record<string, unknown>>('dynamic_fields'),
  lifecycleTemplateId: c.text('lifecycle_template_id'),
  stageCode: c.text('stage_code'),
  stageCategory: c.word<WorkflowStage>('stage_category'),
  stageName: c.text('stage_name'),
  allowedRoles: c.json<string[]>('allowed_roles'),
  locked: c.flag('locked'),
  paymentStatus: c.word<PaymentStatus>('payment_status'),
  receivableMinor: c.int('receivable_minor'),
  receivedMinor: c.int('received_minor'),
  outstandingMinor: c.int('outstanding_minor'),
  overpaidMinor: c.int('overpaid_minor'),
  invoicedMinor: c.int('invoiced_minor'),
  uninvoicedMinor: c.int('uninvoiced_minor'),
  nextDueDate: c.orNull(c.text('next_due_date')),
  otherCurrencyLines: c.int('other_currency_lines'),
  /** Net of red letters, over the invoice records that name no line; part of `invoicedMinor`. */
  unlinkedInvoicedMinor: c.int('unlinked_invoiced_minor'),
  /** Fulfillment tasks that are not canceled, and those of them that are completed or accepted. */
  tasksLive: c.int('tasks_live'),
  tasksDone: c.int('tasks_done'),
  /** The last day on which an open task is still in time; `null` when none is open. */
  tasksInTimeUntil: c.orNull(c.text('tasks_in_time_until')),
  /** In major units: contracts of several currencies sort by the numbers that are shown. */
  totalAmount: c.real('total_amount'),
  outstandingAmount: c.real('outstanding_amount'),
  createdAt: c.int('created_at'),
  createdBy: c.orNull(c.text('created_by')),
  updatedAt: c.int('updated_at'),
  updatedBy: c.orNull(c.text('updated_by')),
  deletedAt: c.orNull(c.int('deleted_at')),
  version: c.int('version'),
});
export type ContractRow = RecordOf<typeof contracts>;

export const lines = table('payment_lines', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  position: c.int('position'),
  period: c.text('period'),
  dueDate: c.text('due_date'),
  amountMinor: c.int('amount_minor'),
  currencyCode: c.text('currency_code'),
  receivedMinor: c.int('received_minor'),
  outstandingMinor: c.int('outstanding_minor'),
  receivedDate: c.orNull(c.text('received_date')),
  method: c.orNull(c.text('method')),
  payerName: c.orNull(c.text('payer_name')),
  receiptAccount: c.orNull(c.text('receipt_account')),
  bankSerialNo: c.orNull(c.text('bank_serial_no')),
  reconciliationStatus: c.word<ReconciliationStatus>('reconciliation_status'),
  reconciliationNote: c.orNull(c.text('reconciliation_note')),
  proof: c.orNull(c.text('proof')),
  invoiceMinor: c.orNull(c.int('invoice_minor')),
  invoiceDate: c.orNull(c.text('invoice_date')),
  invoiceNo: c.orNull(c.text('invoice_no')),
  invoiceAttachment: c.orNull(c.text('invoice_attachment')),
  invoicedMinor: c.int('invoiced_minor'),
  uninvoicedMinor: c.int('uninvoiced_minor'),
  /** Invoice records that name the line: live ones, and those of them that are issued or red letters. */
  invoiceRecords: c.int('invoice_records'),
  invoicesStanding: c.int('invoices_standing'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
  deletedAt: c.orNull(c.int('deleted_at')),
});
export type LineRow = RecordOf<typeof lines>;
/** A line with what a list of receivables shows of its contract. */
export type PaymentRow = LineRow & Pick<ContractRow, 'contractNo' | 'projectName' | 'partyA' | 'partyB' | 'subjectId' | 'ownerId'>;

export const receipts = table('receipts', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  lineId: c.text('line_id'),
  deltaMinor: c.int('delta_minor'),
  totalMinor: c.int('total_minor'),
  currencyCode: c.text('currency_code'),
  receivedDate: c.orNull(c.text('received_date')),
  method: c.orNull(c.text('method')),
  payerName: c.orNull(c.text('payer_name')),
  receiptAccount: c.orNull(c.text('receipt_account')),
  bankSerialNo: c.orNull(c.text('bank_serial_no')),
  proofFileId: c.orNull(c.text('proof_file_id')),
  actorId: c.orNull(c.text('actor_id')),
  actorName: c.text('actor_name'),
  createdAt: c.int('created_at'),
});
export type ReceiptRow = RecordOf<typeof receipts>;

export const terms = table('contract_terms', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  position: c.int('position'),
  kind: c.word<'deposit' | 'delivery' | 'debug' | 'payment' | 'expiry' | 'other'>('kind'),
  title: c.text('title'),
  date: c.orNull(c.text('date')),
  note: c.text('note'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type TermRow = RecordOf<typeof terms>;

export const notes = table('contract_notes', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  position: c.int('position'),
  label: c.text('label'),
  value: c.text('value'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type NoteRow = RecordOf<typeof notes>;

export const templates = table('lifecycle_templates', {
  id: c.text('id'),
  code: c.text('code'),
  name: c.text('name'),
  description: c.orNull(c.text('description')),
  isDefault: c.flag('is_default'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type TemplateRow = RecordOf<typeof templates>;

export const stages = table('lifecycle_stages', {
  id: c.text('id'),
  templateId: c.text('template_id'),
  code: c.text('code'),
  name: c.text('name'),
  category: c.word<WorkflowStage>('category'),
  position: c.int('position'),
  isTerminal: c.flag('is_terminal'),
  locksCoreFields: c.flag('locks_core_fields'),
  completionRules: c.json<Conditions>('completion_rules'),
  allowedRoleCodes: c.json<string[]>('allowed_role_codes'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type StageRow = RecordOf<typeof stages>;

export const transitions = table('lifecycle_transitions', {
  id: c.text('id'),
  templateId: c.text('template_id'),
  code: c.text('code'),
  name: c.text('name'),
  fromStageCode: c.text('from_stage_code'),
  toStageCode: c.text('to_stage_code'),
  requiredControl: c.word<Control>('required_control'),
  conditions: c.json<Conditions>('conditions'),
  effects: c.json<Effects>('effects'),
  position: c.int('position'),
  enabled: c.flag('enabled'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type TransitionRow = RecordOf<typeof transitions>;

export const contractTypes = table('contract_types', {
  id: c.text('id'),
  code: c.text('code'),
  name: c.text('name'),
  category: c.text('category'),
  description: c.orNull(c.text('description')),
  enabled: c.flag('enabled'),
  position: c.int('position'),
  fieldSchema: c.json<Record<string, unknown>>('field_schema'),
  defaultRules: c.json<Record<string, unknown>>('default_rules'),
  defaultTemplateId: c.orNull(c.text('default_template_id')),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type ContractTypeRow = RecordOf<typeof contractTypes>;

export const workflowEvents = table('workflow_events', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  kind: c.word<'created' | 'stage_changed' | 'locked' | 'unlocked' | 'transition_denied'>('kind'),
  fromStageCode: c.orNull(c.text('from_stage_code')),
  toStageCode: c.orNull(c.text('to_stage_code')),
  transitionCode: c.orNull(c.text('transition_code')),
  locked: c.flag('locked'),
  note: c.orNull(c.text('note')),
  actorId: c.orNull(c.text('actor_id')),
  actorName: c.text('actor_name'),
  actorRole: c.orNull(c.text('actor_role')),
  source: c.word<'user' | 'system' | 'import'>('source'),
  createdAt: c.int('created_at'),
});
export type WorkflowEventRow = RecordOf<typeof workflowEvents>;
