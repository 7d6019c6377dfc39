import { parse } from 'csv-parse/sync';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { Answer, Client } from './http.js';

type Cells = Readonly<Record<string, string>>;

export interface EnterOptions {
  /** Signed in with the permission to create contracts, receipts and invoices. */
  readonly client: Client;
  /** Subject companies by name. */
  readonly subjects: ReadonlyMap<string, string>;
  readonly ownerId: string;
}

/**
 * Creates the records of a CSV with one row per payment line through the API: each contract with its plan, then the
 * receipts and invoices of its lines. Rows of one contract are adjacent and repeat its cells. Returns the resulting
 * contracts.
 */
export async function enterCsv(text: string, { client, subjects, ownerId }: EnterOptions): Promise<ContractDetail[]> {
  const rows = parse(text, { columns: true }) as Cells[];
  const byContract = new Map<string, Cells[]>();
  for (const row of rows)
    byContract.set(row['contractNo'] ?? '', [...(byContract.get(row['contractNo'] ?? '') ?? []), row]);
  const entered: ContractDetail[] = [];
  for (const lines of byContract.values()) {
    const [cells] = lines;
    if (!cells) continue;
    const plan = lines.map((line) => ({
      period: line['period'],
      dueDate: line['dueDate'],
      amount: Number(line['amount']),
      currencyCode: line['lineCurrency'],
    }));
    const { id, payments } = done(
      await client.post<ContractDetail>('/contracts', {
        ...contractOf(cells),
        subjectId: subjects.get(cells['subject'] ?? ''),
        ownerId,
        payments: plan,
      }),
    );
    const idOf = new Map(payments.map((line) => [line.period, line.id]));
    for (const line of lines) {
      const path = `/payments/${idOf.get(line['period'] ?? '')}`;
      if (line['receivedAmount']) done(await client.patch(`${path}/receipt`, given(line, RECEIPT)));
      if (line['invoiceAmount']) done(await client.patch(`${path}/invoice`, given(line, INVOICE)));
    }
    entered.push(done(await client.get<ContractDetail>(`/contracts/${id}`)));
  }
  return entered;
}

const CONTRACT = [
  'archiveCode',
  'contractNo',
  'projectName',
  'type',
  'partyA',
  'partyB',
  'equipmentName',
  'equipmentModel',
  'quantity',
  'unitPrice',
  'currencyCode',
  'paymentMethod',
  'signDate',
  'startDate',
  'endDate',
  'remark',
];
const RECEIPT = [
  'receivedAmount',
  'receivedDate',
  'method',
  'payerName',
  'bankSerialNo',
  'reconciliationStatus',
  'reconciliationNote',
];
const INVOICE = ['invoiceAmount', 'invoiceNo', 'invoiceDate'];
const NUMBERS = new Set(['quantity', 'unitPrice', 'receivedAmount', 'invoiceAmount']);

const contractOf = (cells: Cells) => given(cells, CONTRACT);

/** The non-empty cells, numbers converted. */
const given = (cells: Cells, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    fields
      .filter((field) => cells[field] !== '')
      .map((field) => [field, NUMBERS.has(field) ? Number(cells[field]) : cells[field]]),
  );

function done<T>({ status, body, text }: Answer<T>): T {
  if (status >= 300) throw new Error(`answered ${status}: ${text}`);
  return body;
}
