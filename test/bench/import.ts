import { BYTE_ORDER_MARK } from '../../data-plane-agent/base/csv/marks.js';
import { csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { deepPath, newReceipts, type Subject } from './cases.js';
import { contractInput } from './contract-input.js';
import { ask, median, openLoop, p99, WrongAnswer, type Asked } from './load.js';
import type { Sides } from './measure.js';
import { boundRow, timed, type Timed } from './nominal.js';
import type { Row } from './report.js';

/** The maximum number of rows of an import. */
const ROWS = 5_000;
const LINES = 4;
/** What is imported: a row per line as in a spreadsheet, or a row per contract as a program sends it. */
const IMPORTS = [
  { name: `${ROWS} CSV rows, ${ROWS / LINES} contracts`, bodyOf: csvBody, atMost: 5 },
  { name: `${ROWS} contracts of ${LINES} lines`, bodyOf: rowsBody, atMost: 4 },
] as const;
const ROUNDS = 3;
/**
 * The interval of concurrent requests, sent whether or not the previous one was answered, so that waiting for an import
 * is counted fully.
 */
const EVERY_MS = 100;

const CONTRACT_COLUMNS = [
  'archiveCode',
  'contractNo',
  'projectName',
  'type',
  'subjectId',
  'partyA',
  'partyB',
  'equipmentName',
  'equipmentModel',
  'quantity',
  'unitPrice',
  'paymentMethod',
  'startDate',
  'endDate',
  'signDate',
  'ownerId',
  'payeeAccount',
  'remark',
] as const;
const LINE_COLUMNS = ['period', 'dueDate', 'amount'] as const;

/** Complete imports, durable, with their effect on concurrent lists and receipts. */
export async function importRows(sides: Sides, subject: Subject, prefix: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of IMPORTS) rows.push(...(await importOne(sides, subject, { ...one, prefix })));
  return rows;
}

async function importOne(
  { ours, token }: Sides,
  subject: Subject,
  { name: what, bodyOf, atMost, prefix }: (typeof IMPORTS)[number] & { readonly prefix: string },
): Promise<Row[]> {
  const receiptOf = newReceipts(subject);
  const list: Asked = { method: 'GET', path: deepPath(3) };
  const [seconds, reads, writes]: [Timed[], Timed[], Timed[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const body = JSON.stringify(bodyOf(subject, round));
    const others = [
      openLoop(ours.origin, () => list, { token, everyMs: EVERY_MS }),
      openLoop(ours.origin, () => ({ method: 'PATCH', ...receiptOf() }), { token, everyMs: EVERY_MS }),
    ] as const;
    const began = performance.now();
    const report = JSON.parse(
      await ask(ours.origin, { method: 'POST', path: '/api/v1/contracts/import', body }, { token }),
    ) as { created: number; rows: readonly object[] };
    const took = (performance.now() - began) / 1000;
    const [lists, receipts] = [await others[0].stop(), await others[1].stop()];
    seconds.push(...timed([took]));
    reads.push(...timed(lists));
    writes.push(...timed(receipts));
    if (report.created !== ROWS)
      throw new WrongAnswer(
        `import: ${report.created} of ${ROWS} rows were entered; ${JSON.stringify(report.rows.at(-ROWS))}`,
      );
  }
  const waits = (name: string, times: readonly Timed[]): Row =>
    boundRow({
      key: 'import',
      name: `${prefix}${name} meanwhile, p99 (${what})`,
      unit: 'ms',
      times,
      of: p99,
      atMost: 100,
      details: { requests: times.length, longest: Math.max(...times.map(({ measured }) => measured)) },
    });
  return [
    boundRow({
      key: 'import',
      name: `${prefix}import of ${what}`,
      unit: 's',
      times: seconds,
      of: median,
      atMost,
      details: { seconds },
    }),
    waits('list', reads),
    waits('receipt', writes),
  ];
}

/** New contracts of four lines with numbers of their own. */
function* newContracts(
  { tenant, today }: Subject,
  { round, count }: { readonly round: number; readonly count: number },
) {
  for (let i = 0; i < count; i++) {
    const contract = contractInput(4 * i + 1, { count: tenant.contracts, today, owner: tenant, lines: LINES });
    const number = `${process.pid}-${count}-${round}-${i}`;
    yield { ...contract, archiveCode: `AIMP-${number}`, contractNo: `IMP-${number}` };
  }
}

/** One row per contract. */
function rowsBody(subject: Subject, round: number) {
  return { rows: [...newContracts(subject, { round, count: ROWS })] };
}

/** One row per line. */
function csvBody(subject: Subject, round: number) {
  let csv = BYTE_ORDER_MARK + csvRow([...CONTRACT_COLUMNS, ...LINE_COLUMNS.map((name) => `line.${name}`)]);
  for (const { payments, ...contract } of newContracts(subject, { round, count: ROWS / LINES })) {
    const front = CONTRACT_COLUMNS.map((name) => String(contract[name] ?? ''));
    for (const line of payments ?? []) csv += csvRow([...front, ...LINE_COLUMNS.map((name) => String(line[name]))]);
  }
  return { csv };
}
