import { randomUUID } from 'node:crypto';
import type { Row } from './answers.js';
import type { Source } from './contract.js';

export interface ContractBody {
  readonly [field: string]: unknown;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly payments: readonly { readonly period: string; readonly dueDate: string; readonly amount: number }[];
  readonly terms?: readonly {
    readonly kind: string;
    readonly title: string;
    readonly date?: string;
    readonly note: string;
  }[];
  readonly extraNotes?: readonly { readonly label: string; readonly value: string }[];
}

/** Where new contracts begin. */
export interface Beginning {
  readonly userId: string;
  readonly templateId: string;
  readonly stageCode: string;
  readonly stageName: string;
}

/** The rows of a new contract, without any check. */
export function newContract(body: ContractBody, { userId, templateId, stageCode, stageName }: Beginning): Source {
  const now = Date.now();
  const stamps = { created_at: now, updated_at: now };
  const id = randomUUID();
  const currency = text(body['currencyCode']) ?? 'CNY';
  const lines = body.payments.map((line, position): Row => {
    const amount = minor(line.amount);
    return {
      ...EMPTY_LINE,
      id: randomUUID(),
      contract_id: id,
      position,
      period: line.period,
      due_date: line.dueDate,
      amount_minor: amount,
      outstanding_minor: amount,
      uninvoiced_minor: amount,
      currency_code: currency,
      ...stamps,
    };
  });
  const receivable = lines.reduce((sum, line) => sum + Number(line['amount_minor']), 0);
  const total = Math.round(body.quantity * minor(body.unitPrice));
  const row: Row = {
    ...EMPTY_CONTRACT,
    id,
    archive_code: text(body['archiveCode']),
    contract_no: text(body['contractNo']),
    project_name: text(body['projectName']),
    type: text(body['type']),
    type_code: text(body['typeCode']),
    subject_id: text(body['subjectId']),
    party_a: text(body['partyA']),
    party_b: text(body['partyB']),
    equipment_name: text(body['equipmentName']),
    equipment_model: text(body['equipmentModel']),
    quantity: body.quantity,
    unit_price: body.unitPrice,
    total_minor: total,
    computed_minor: total,
    currency_code: currency,
    payment_method: text(body['paymentMethod']),
    payee_account: text(body['payeeAccount']),
    payee_bank: text(body['payeeBank']),
    sign_date: text(body['signDate']),
    start_date: text(body['startDate']),
    end_date: text(body['endDate']),
    invoice_points: Number(body['invoicePoints']),
    status: text(body['status']),
    status_code: text(body['statusCode']),
    owner_id: text(body['ownerId']),
    owner_superior_id: text(body['ownerSuperiorId']),
    remark: text(body['remark']),
    dynamic_fields: JSON.stringify(body['dynamicFields'] ?? {}),
    lifecycle_template_id: templateId,
    stage_code: stageCode,
    stage_category: stageCode,
    stage_name: stageName,
    receivable_minor: receivable,
    outstanding_minor: receivable,
    uninvoiced_minor: receivable,
    next_due_date: body.payments.map(({ dueDate }) => dueDate).toSorted()[0] ?? null,
    created_by: userId,
    updated_by: userId,
    ...stamps,
  };
  return {
    row,
    lines: lines.toSorted((a, b) => (String(a['due_date']) < String(b['due_date']) ? -1 : 1)),
    terms: (body.terms ?? []).map(({ kind, title, date, note }) => ({
      id: randomUUID(),
      kind,
      title,
      date: date ?? null,
      note,
      ...stamps,
    })),
    notes: (body.extraNotes ?? []).map(({ label, value }) => ({ id: randomUUID(), label, value, ...stamps })),
    tasks: [],
    invoices: [],
  };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const minor = (amount: number): number => Math.round(amount * 100);

const EMPTY_LINE: Row = {
  received_minor: 0,
  invoiced_minor: 0,
  reconciliation_status: 'pending',
  received_date: null,
  method: null,
  payer_name: null,
  receipt_account: null,
  bank_serial_no: null,
  reconciliation_note: null,
  proof: null,
  invoice_minor: null,
  invoice_date: null,
  invoice_no: null,
  invoice_attachment: null,
  deleted_at: null,
};
const EMPTY_CONTRACT: Row = {
  deposit_minor: null,
  periodic_rent_minor: null,
  payment_cycle: null,
  contract_attachment: null,
  allowed_roles: '[]',
  locked: 0,
  payment_status: 'unpaid',
  received_minor: 0,
  overpaid_minor: 0,
  invoiced_minor: 0,
  tasks_live: 0,
  tasks_done: 0,
  tasks_in_time_until: null,
  version: 1,
};
