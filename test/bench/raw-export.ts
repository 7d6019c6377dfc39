import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Database, Statement } from 'better-sqlite3';
import { lines } from '../../data-plane-agent/plane/tables/payment-lines.js';
import { terms } from '../../data-plane-agent/plane/tables/terms.js';
import { notes } from '../../data-plane-agent/plane/tables/notes.js';
import { contracts } from '../../data-plane-agent/plane/tables/contracts.js';
import type { RawSetting, Row } from './raw-answers.js';

/**
 * The value of each column of the profile `full`, implemented independently of the product, so that the comparison of
 * the bytes is meaningful.
 */
const HEADER =
  'archiveCode,contractNo,projectName,type,typeCode,subjectId,subjectName,partyA,partyB,equipmentName,equipmentModel,quantity,unitPrice,totalAmount,currencyCode,paymentMethod,payeeAccount,payeeBank,deposit,periodicRent,paymentCycle,signDate,startDate,endDate,invoicePoints,' +
  'contractAttachment,status,statusCode,ownerId,ownerEmail,ownerSuperiorId,ownerSuperiorEmail,remark,workflowStage,lifecycleTemplateId,lifecycleTemplateCode,lifecycleStageCode,workflowAllowedRoles,terms,extraNotes,' +
  'line.period,line.dueDate,line.amount,line.currencyCode,line.receivedAmount,line.receivedDate,line.method,line.payerName,line.receiptAccount,line.bankSerialNo,line.reconciliationStatus,line.reconciliationNote,line.invoiceAmount,line.invoiceDate,line.invoiceNo,line.invoiceAttachment,line.proof';
const PIECE = 64 * 1024;

export interface ExportSetting extends RawSetting {
  readonly ownerEmail: string;
}

/**
 * `GET /contracts/export?profile=full`: iterate and write. Two connections, because one with an open iterator cannot
 * run other statements.
 */
export function rawExport(
  outer: Database,
  inner: Database,
  setting: ExportSetting,
): (response: ServerResponse) => Promise<void> {
  const all = outer.prepare(
    `SELECT ${contracts.columnNames} FROM contracts WHERE tenant_id = ? AND deleted_at IS NULL ORDER BY created_at DESC, id DESC`,
  );
  const of = (table: string, columns: string, more: string): Statement =>
    inner.prepare(`SELECT ${columns} FROM ${table} WHERE tenant_id = ? AND contract_id = ? ${more}`);
  const linesOf = of('payment_lines', lines.columnNames, 'AND deleted_at IS NULL ORDER BY due_date, position, id');
  const termsOf = of('contract_terms', terms.columnNames, 'ORDER BY position, id');
  const notesOf = of('contract_notes', notes.columnNames, 'ORDER BY position, id');
  return async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/csv; charset=utf-8' });
    let piece = `\uFEFF${HEADER}\r\n`;
    for (const contract of all.iterate(setting.tenantId) as IterableIterator<Row>) {
      const key = [setting.tenantId, contract['id'] ?? ''];
      const front = contractCells(
        contract,
        { terms: termsOf.all(...key) as Row[], notes: notesOf.all(...key) as Row[] },
        setting,
      );
      const own = linesOf.all(...key) as Row[];
      for (const line of own) piece += `${front},${lineCells(line)}\r\n`;
      if (own.length === 0) piece += `${front}${','.repeat(17)}\r\n`;
      if (piece.length < PIECE) continue;
      const isFull = !response.write(piece);
      piece = '';
      if (isFull) await once(response, 'drain');
    }
    response.end(piece);
  };
}

const cells = (values: readonly (string | number | null | undefined)[]): string =>
  values
    .map((value) =>
      typeof value === 'string' && /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : (value ?? ''),
    )
    .join(',');
const major = (minor: unknown): number | null => (typeof minor === 'number' ? minor / 100 : null);
const listed = (list: readonly unknown[]): string => (list.length === 0 ? '' : JSON.stringify(list));

function contractCells(
  c: Row,
  parts: { readonly terms: readonly Row[]; readonly notes: readonly Row[] },
  { subjectName, ownerEmail }: ExportSetting,
): string {
  const termList = parts.terms.map(({ kind, title, date, note }) => ({
    kind,
    title,
    ...(date === null ? {} : { date }),
    note,
  }));
  const noteList = parts.notes.map(({ label, value }) => ({ label, value }));
  return cells([
    c['archive_code'],
    c['contract_no'],
    c['project_name'],
    c['type'],
    c['type_code'],
    c['subject_id'],
    subjectName,
    c['party_a'],
    c['party_b'],
    c['equipment_name'],
    c['equipment_model'],
    c['quantity'],
    c['unit_price'],
    major(c['total_minor']),
    c['currency_code'],
    c['payment_method'],
    c['payee_account'],
    c['payee_bank'],
    major(c['deposit_minor']),
    major(c['periodic_rent_minor']),
    c['payment_cycle'],
    c['sign_date'],
    c['start_date'],
    c['end_date'],
    c['invoice_points'],
    c['contract_attachment'],
    c['status'],
    c['status_code'],
    c['owner_id'],
    ownerEmail,
    c['owner_superior_id'],
    null,
    c['remark'],
    c['stage_category'],
    c['lifecycle_template_id'],
    'standard',
    c['stage_code'],
    c['allowed_roles'] === '[]' ? '' : c['allowed_roles'],
    listed(termList),
    listed(noteList),
  ]);
}

const lineCells = (l: Row): string =>
  cells([
    l['period'],
    l['due_date'],
    major(l['amount_minor']),
    l['currency_code'],
    major(l['received_minor']),
    l['received_date'],
    l['method'],
    l['payer_name'],
    l['receipt_account'],
    l['bank_serial_no'],
    l['reconciliation_status'],
    l['reconciliation_note'],
    major(l['invoice_minor']),
    l['invoice_date'],
    l['invoice_no'],
    l['invoice_attachment'],
    l['proof'],
  ]);
