import { v7 as newId } from 'uuid';
import { invoices } from '../../data-plane-agent/plane/tables/invoices.js';
import { lines } from '../../data-plane-agent/plane/tables/payment-lines.js';
import { receipts } from '../../data-plane-agent/plane/tables/receipts.js';
import { terms } from '../../data-plane-agent/plane/tables/terms.js';
import { notes } from '../../data-plane-agent/plane/tables/notes.js';
import { contracts } from '../../data-plane-agent/plane/tables/contracts.js';
import { tasks } from '../../data-plane-agent/plane/tables/tasks.js';
import {
  contractAnswer,
  contractNames,
  detailAnswer,
  lineAnswer,
  paymentRowAnswer,
  type RawSetting,
  type Row,
} from './raw-answers.js';

/** A statement with `?` for each value. The handler receives its rows. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}
/**
 * Yields statements and returns the answer, so that one handler works with both drivers. With SQLite it runs
 * synchronously.
 */
export type Handler = (
  input: { readonly id: string; readonly query: URLSearchParams; readonly body: never },
  setting: RawSetting,
) => Generator<Statement, unknown, readonly Row[]>;

const PAGE = 20;
/** The raw program does not count; its total is a constant. */
type Totals = { readonly contracts: number; readonly overdue: number };

const columns = (names: string): readonly string[] =>
  names.split(', ').map((name) => name.slice(name.indexOf('.') + 1));
const CONTRACT = columns(contracts.columnNames);
const LINE = columns(lines.columnNames);
const TERM = columns(terms.columnNames);
const NOTE = columns(notes.columnNames);
const RECEIPT = columns(receipts.columnNames);

const pageFrame = (items: unknown[], page: number, total: number) => ({
  items,
  page,
  pageSize: PAGE,
  total,
  pageCount: Math.ceil(total / PAGE),
});

const LIST = `SELECT ${CONTRACT.join(', ')} FROM contracts WHERE tenant_id = ? AND deleted_at IS NULL AND type = ? AND status = ? ORDER BY end_date DESC, id DESC LIMIT ? OFFSET ?`;
const OPEN_OF_PAGE = `SELECT contract_id, due_date, outstanding_minor FROM payment_lines WHERE tenant_id = ? AND contract_id IN (${Array.from({ length: PAGE }, () => '?').join(', ')}) AND deleted_at IS NULL AND outstanding_minor > 0`;

/** `GET /contracts?type=…&status=…&sort=endDate&order=desc` */
export const list = ({ contracts: total }: Totals): Handler =>
  function* list({ query }, setting) {
    const page = Number(query.get('page'));
    const rows = yield {
      sql: LIST,
      values: [setting.tenantId, query.get('type'), query.get('status'), PAGE, (page - 1) * PAGE],
    };
    const ids = Array.from({ length: PAGE }, (_, i) => String(rows[i]?.['id'] ?? setting.tenantId));
    const open = yield { sql: OPEN_OF_PAGE, values: [setting.tenantId, ...ids] };
    const items = rows.map((row) => ({
      ...contractAnswer(
        row,
        open.filter((line) => line['contract_id'] === row['id']),
        setting,
      ),
      ...contractNames(row, setting),
    }));
    return pageFrame(items, page, total);
  };

const GET = `SELECT ${CONTRACT.join(', ')} FROM contracts WHERE tenant_id = ? AND id = ? AND deleted_at IS NULL`;
const LINES_OF = `SELECT ${LINE.join(', ')} FROM payment_lines WHERE tenant_id = ? AND contract_id = ? AND deleted_at IS NULL ORDER BY due_date, position, id`;
const TERMS_OF = `SELECT ${TERM.join(', ')} FROM contract_terms WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`;
const NOTES_OF = `SELECT ${NOTE.join(', ')} FROM contract_notes WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`;

const TASKS_OF = `SELECT ${columns(tasks.columnNames).join(', ')} FROM fulfillment_tasks WHERE tenant_id = ? AND contract_id = ? AND deleted_at IS NULL ORDER BY created_at, id`;
const INVOICES_OF = `SELECT ${columns(invoices.columnNames).join(', ')} FROM invoices WHERE tenant_id = ? AND contract_id = ? AND deleted_at IS NULL ORDER BY created_at, id`;

/** `GET /contracts/:id` */
export const get: Handler = function* get({ id }, setting) {
  const values = [setting.tenantId, id];
  const [row] = yield { sql: GET, values };
  if (!row) return undefined;
  return detailAnswer(
    {
      row,
      lines: yield { sql: LINES_OF, values },
      terms: yield { sql: TERMS_OF, values },
      notes: yield { sql: NOTES_OF, values },
      tasks: yield { sql: TASKS_OF, values },
      invoices: yield { sql: INVOICES_OF, values },
    },
    setting,
  );
};

const OVERDUE = `SELECT ${LINE.map((name) => `p.${name}`).join(', ')}, ${['contract_no', 'project_name', 'party_a', 'party_b', 'subject_id', 'owner_id'].map((name) => `c.${name} AS c_${name}`).join(', ')}
  FROM payment_lines p JOIN contracts c ON c.tenant_id = p.tenant_id AND c.id = p.contract_id
  WHERE p.tenant_id = ? AND p.deleted_at IS NULL AND p.outstanding_minor > 0 AND p.due_date < ? ORDER BY p.due_date, p.id LIMIT ? OFFSET ?`;

/** `GET /payments?tab=overdue` */
export const overdue = ({ overdue: total }: Totals): Handler =>
  function* overdue({ query }, setting) {
    const page = Number(query.get('page'));
    const rows = yield { sql: OVERDUE, values: [setting.tenantId, setting.today, PAGE, (page - 1) * PAGE] };
    return pageFrame(
      rows.map((row) => paymentRowAnswer(row, setting)),
      page,
      total,
    );
  };

const insert = (table: string, names: readonly string[], rows: number): string =>
  `INSERT INTO ${table} (tenant_id, ${names.join(', ')}) VALUES ${Array.from({ length: rows }, () => `(?${', ?'.repeat(names.length)})`).join(', ')}`;
const inserts = new Map<string, string>();
function insertAll(table: string, names: readonly string[], rows: readonly Row[], { tenantId }: RawSetting): Statement {
  const key = `${table} ${rows.length}`;
  let sql = inserts.get(key);
  if (sql === undefined) inserts.set(key, (sql = insert(table, names, rows.length)));
  return { sql, values: rows.flatMap((row) => [tenantId, ...names.map((name) => row[name] ?? null)]) };
}

interface Created {
  readonly [field: string]: unknown;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly payments: readonly { period: string; dueDate: string; amount: number }[];
  readonly terms: readonly { kind: string; title: string; date?: string; note: string }[];
  readonly extraNotes: readonly { label: string; value: string }[];
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const minor = (amount: number): number => Math.round(amount * 100);

/** `POST /contracts`: the contract, its lines, terms and notes. No search text, audit row, event or counter. */
export const create = (lifecycle: { templateId: string; stageCode: string; stageName: string }): Handler =>
  function* create({ body }, setting) {
    const input: Created = body;
    const now = Date.now();
    const stamps = { created_at: now, updated_at: now };
    const id = newId();
    const lineRows: Row[] = input.payments.map((line, position) => {
      const amount = minor(line.amount);
      const nothing = {
        received_minor: 0,
        invoiced_minor: 0,
        invoice_records: 0,
        invoices_standing: 0,
        reconciliation_status: 'pending',
        currency_code: 'CNY',
        received_date: null,
        method: null,
        payer_name: null,
        receipt_account: null,
      };
      const none = {
        bank_serial_no: null,
        reconciliation_note: null,
        proof: null,
        invoice_minor: null,
        invoice_date: null,
        invoice_no: null,
        invoice_attachment: null,
        deleted_at: null,
      };
      return {
        id: newId(),
        contract_id: id,
        position,
        period: line.period,
        due_date: line.dueDate,
        amount_minor: amount,
        outstanding_minor: amount,
        uninvoiced_minor: amount,
        ...nothing,
        ...none,
        ...stamps,
      };
    });
    const receivable = lineRows.reduce((sum, line) => sum + Number(line['amount_minor']), 0);
    const total = Math.round(input.quantity * minor(input.unitPrice));
    const row: Row = {
      id,
      archive_code: text(input['archiveCode']),
      archive_key: String(input['archiveCode']).toLowerCase(),
      contract_no: text(input['contractNo']),
      contract_key: String(input['contractNo']).toLowerCase(),
      project_name: text(input['projectName']),
      type: text(input['type']),
      type_code: null,
      subject_id: setting.subjectId,
      party_a: text(input['partyA']),
      party_b: text(input['partyB']),
      equipment_name: text(input['equipmentName']),
      equipment_model: text(input['equipmentModel']),
      quantity: input.quantity,
      unit_price: String(input.unitPrice),
      total_minor: total,
      total_amount: total / 100,
      computed_minor: total,
      currency_code: 'CNY',
      payment_method: text(input['paymentMethod']),
      payee_account: text(input['payeeAccount']),
      payee_bank: text(input['payeeBank']),
      deposit_minor: null,
      periodic_rent_minor: null,
      payment_cycle: null,
      sign_date: text(input['signDate']),
      start_date: text(input['startDate']),
      end_date: text(input['endDate']),
      invoice_points: Number(input['invoicePoints']),
      contract_attachment: null,
      status: text(input['status']),
      status_code: null,
      owner_id: text(input['ownerId']),
      owner_superior_id: null,
      remark: text(input['remark']),
      dynamic_fields: '{}',
      lifecycle_template_id: lifecycle.templateId,
      stage_code: lifecycle.stageCode,
      stage_category: lifecycle.stageCode,
      stage_name: lifecycle.stageName,
      allowed_roles: '[]',
      locked: 0,
      payment_status: 'unpaid',
      receivable_minor: receivable,
      received_minor: 0,
      outstanding_minor: receivable,
      outstanding_amount: receivable / 100,
      overpaid_minor: 0,
      invoiced_minor: 0,
      uninvoiced_minor: receivable,
      next_due_date: input.payments.map(({ dueDate }) => dueDate).toSorted()[0] ?? null,
      other_currency_lines: 0,
      unlinked_invoiced_minor: 0,
      tasks_live: 0,
      tasks_done: 0,
      tasks_in_time_until: null,
      created_by: setting.userId,
      updated_by: setting.userId,
      deleted_at: null,
      version: 1,
      ...stamps,
    };
    const termRows: Row[] = input.terms.map(({ kind, title, date, note }, position) => ({
      id: newId(),
      contract_id: id,
      position,
      kind,
      title,
      date: date ?? null,
      note,
      ...stamps,
    }));
    const noteRows: Row[] = input.extraNotes.map(({ label, value }, position) => ({
      id: newId(),
      contract_id: id,
      position,
      label,
      value,
      ...stamps,
    }));
    yield insertAll('contracts', CONTRACT, [row], setting);
    yield insertAll('payment_lines', LINE, lineRows, setting);
    yield insertAll('contract_terms', TERM, termRows, setting);
    yield insertAll('contract_notes', NOTE, noteRows, setting);
    return detailAnswer({ row, lines: lineRows, terms: termRows, notes: noteRows }, setting);
  };

const LINE_BY_ID = `SELECT ${LINE.join(', ')} FROM payment_lines WHERE tenant_id = ? AND id = ? AND deleted_at IS NULL`;
const RECEIVE =
  'UPDATE payment_lines SET received_minor = ?, outstanding_minor = ?, received_date = ?, method = ?, payer_name = ?, bank_serial_no = ?, updated_at = ? WHERE tenant_id = ? AND id = ?';
const AGGREGATE =
  'UPDATE contracts SET received_minor = ?, outstanding_minor = ?, outstanding_amount = ?, overpaid_minor = ?, payment_status = ?, next_due_date = ?, updated_at = ?, updated_by = ?, version = version + 1 WHERE tenant_id = ? AND id = ?';

interface Received {
  readonly receivedAmount: number;
  readonly method: string;
  readonly payerName: string;
  readonly bankSerialNo: string;
}

/**
 * `PATCH /payments/:id/receipt`: the line, a receipt row, and the sums stored on the contract. No audit row or counter.
 */
export const receipt: Handler = function* receipt({ id, body }, setting) {
  const { tenantId, today, userId, userName } = setting;
  const input: Received = body;
  const now = Date.now();
  const [before] = yield { sql: LINE_BY_ID, values: [tenantId, id] };
  if (!before) return undefined;
  const received = minor(input.receivedAmount);
  const outstanding = Math.max(0, Number(before['amount_minor']) - received);
  const receivedDate = received > Number(before['received_minor']) ? today : (before['received_date'] ?? null);
  const line: Row = {
    ...before,
    received_minor: received,
    outstanding_minor: outstanding,
    received_date: receivedDate,
    method: input.method,
    payer_name: input.payerName,
    bank_serial_no: input.bankSerialNo,
    updated_at: now,
  };
  yield {
    sql: RECEIVE,
    values: [received, outstanding, receivedDate, input.method, input.payerName, input.bankSerialNo, now, tenantId, id],
  };
  const history: Row = {
    id: newId(),
    contract_id: before['contract_id'] ?? null,
    line_id: id,
    delta_minor: received - Number(before['received_minor']),
    total_minor: received,
    currency_code: 'CNY',
    received_date: receivedDate,
    method: input.method,
    payer_name: input.payerName,
    receipt_account: null,
    bank_serial_no: input.bankSerialNo,
    proof_file_id: null,
    actor_id: userId,
    actor_name: userName,
    created_at: now,
  };
  yield insertAll('receipts', RECEIPT, [history], setting);
  const all = yield { sql: LINES_OF, values: [tenantId, before['contract_id'] ?? null] };
  const sum = (of: (line: Row) => number) => all.reduce((total, one) => total + of(one), 0);
  const open = all.filter((one) => Number(one['outstanding_minor']) > 0);
  const status = open.length === 0 ? 'paid' : all.every((one) => one['received_minor'] === 0) ? 'unpaid' : 'partial';
  const owed = sum((one) => Number(one['outstanding_minor']));
  const values = [
    sum((one) => Number(one['received_minor'])),
    owed,
    owed / 100,
    sum((one) => Math.max(0, Number(one['received_minor']) - Number(one['amount_minor']))),
    status,
    open[0]?.['due_date'] ?? null,
  ];
  yield { sql: AGGREGATE, values: [...values, now, userId, tenantId, before['contract_id'] ?? null] };
  return { ...lineAnswer(line, setting), warnings: [] };
};
