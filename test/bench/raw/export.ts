import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Database } from 'better-sqlite3';

/** The columns of the profile `full`, written independently of the product, so that comparing the bytes has a meaning. */
const CONTRACT =
  'archiveCode,contractNo,projectName,type,typeCode,subjectId,subjectName,partyA,partyB,equipmentName,equipmentModel,quantity,unitPrice,totalAmount,currencyCode,paymentMethod,payeeAccount,payeeBank,deposit,periodicRent,paymentCycle,signDate,startDate,endDate,invoicePoints,' +
  'contractAttachment,status,statusCode,ownerId,ownerEmail,ownerSuperiorId,ownerSuperiorEmail,remark,workflowStage,lifecycleTemplateId,lifecycleTemplateCode,lifecycleStageCode,workflowAllowedRoles,terms,extraNotes';
const LINE =
  'period,dueDate,amount,currencyCode,receivedAmount,receivedDate,method,payerName,receiptAccount,bankSerialNo,reconciliationStatus,reconciliationNote,invoiceAmount,invoiceDate,invoiceNo,invoiceAttachment,proof';
const PIECE = 64 * 1024;
const CONTRACT_COLUMNS = CONTRACT.split(',');
const LINE_COLUMNS = LINE.split(',');

export interface ExportSetting {
  /** Of members, by id. */
  readonly emails: Readonly<Record<string, string>>;
  /** Custom fields: the columns between those of the contract and those of its lines. */
  readonly fields: readonly { readonly id: string; readonly code: string }[];
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * `GET /contracts/export?profile=full`: iterate and write. Two connections, because one with an open iterator cannot
 * run other statements.
 */
export function rawExport(
  outer: Database,
  inner: Database,
  { emails, fields }: ExportSetting,
): (response: ServerResponse) => Promise<void> {
  const all = outer.prepare(
    "SELECT n, '{' || core || ',' || shown || ',' || names || '}' AS json FROM contracts JOIN texts USING (n) ORDER BY created_at DESC, id DESC",
  );
  const linesOf = inner.prepare('SELECT json FROM lines WHERE contract = ? ORDER BY due_date, position, id').pluck();
  const partsOf = inner.prepare('SELECT json FROM parts WHERE contract = ? AND kind = ? ORDER BY position').pluck();
  const email = (id: unknown): string | null => (typeof id === 'string' ? (emails[id] ?? null) : null);
  const header = [
    CONTRACT,
    ...fields.map(({ code }) => `cf:${code}`),
    ...LINE_COLUMNS.map((name) => `line.${name}`),
  ].join(',');
  const partsAs = (n: number, kind: string, as: (part: Answer) => object): string => {
    const found = partsOf.all(n, kind) as string[];
    return found.length === 0 ? '' : JSON.stringify(found.map((json) => as(JSON.parse(json) as Answer)));
  };
  return async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/csv; charset=utf-8' });
    let piece = `\uFEFF${header}\r\n`;
    for (const { n, json } of all.iterate() as IterableIterator<{ n: number; json: string }>) {
      const answer = JSON.parse(json) as Answer;
      const contract: Answer = {
        ...answer,
        ownerEmail: email(answer['ownerId']),
        ownerSuperiorEmail: email(answer['ownerSuperiorId']),
        lifecycleTemplateCode: 'standard',
        workflowAllowedRoles: listed(answer['workflowAllowedRoles'] as readonly unknown[]),
        terms: partsAs(n, 'term', ({ kind, title, date, note }) => ({
          kind,
          title,
          ...(date === null ? {} : { date }),
          note,
        })),
        extraNotes: partsAs(n, 'note', ({ label, value }) => ({ label, value })),
      };
      const values = answer['dynamicFields'] as Answer;
      const front = [CONTRACT_COLUMNS.map((name) => cell(contract[name])), fields.map(({ id }) => cell(values[id]))]
        .flat()
        .join(',');
      const own = linesOf.all(n) as string[];
      for (const line of own) piece += `${front},${lineCells(JSON.parse(line) as Answer)}\r\n`;
      if (own.length === 0) piece += `${front}${','.repeat(LINE_COLUMNS.length)}\r\n`;
      if (piece.length < PIECE) continue;
      const isFull = !response.write(piece);
      piece = '';
      if (isFull) await once(response, 'drain');
    }
    response.end(piece);
  };
}

const lineCells = (line: Answer): string => LINE_COLUMNS.map((name) => cell(line[name])).join(',');
const listed = (list: readonly unknown[]): string => (list.length === 0 ? '' : JSON.stringify(list));
const cell = (value: unknown): string => {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
};
