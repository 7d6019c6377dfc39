import { valueIn } from '../../data-plane-agent/base/json-text.js';
import { Readable } from 'node:stream';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PresignInput } from '../../data-plane-agent/plane/contract/records/files.js';
import type { PaymentLine } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { ObjectStore } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { demoBook, type DemoContract } from './book.js';
import { planeOf, type Desk, type Plane } from './desk.js';
import { englishPaper } from './papers.js';
import { pdfOfLines } from './pdf.js';

/** A desk with an object store for files. */
export interface FilingDesk extends Omit<Desk, 'progress'> {
  /** Undefined when only agents keep the files. */
  readonly objects: ObjectStore | undefined;
}

/**
 * Files papers: the signed original of a contract with the plan of its site, the invoice for one of its lines and the
 * bank's receipt for the money; the paper of a draft, which has been read and waits for a review; and one framework
 * agreement for several contracts. What an interrupted run filed is there by its references, and is left as it is.
 */
export async function enterFiles(desk: FilingDesk): Promise<void> {
  const { objects } = desk;
  if (!objects) return;
  // Creates the folder, as the server does at its start.
  await objects.probe();
  const book = demoBook(desk.tenant.day).filter(({ subject }) => subject.key === 'europe');
  const evidenced = book.find(({ stage, lines }) => stage === 'active' && lines.some(isSettled));
  const draft = book.find(({ stage, owner, superior }) => stage === 'draft' && superior !== null && owner !== superior);
  const ordered = book
    .filter((contract) => contract !== evidenced && contract.stage === 'active' && contract.custom.framework)
    .slice(0, 3);
  if (evidenced) await fileEvidence(evidenced, { desk, objects });
  if (draft) await fileDraft(draft, { desk, objects });
  await fileFramework(ordered, { desk, objects });
}

interface Drawer {
  readonly desk: FilingDesk;
  readonly objects: ObjectStore;
}

const isSettled = ({ input, later }: DemoContract['lines'][number]): boolean =>
  later.length === 0 && input.receivedAmount === input.amount && typeof input.invoiceNo === 'string';

async function fileEvidence(contract: DemoContract, { desk, objects }: Drawer): Promise<void> {
  const { owner, bookkeeper, lines, input } = contract;
  const plane = planeOf(desk, owner);
  const detail = await contractAt(plane, contract);
  if (!detail) return;
  if (detail.contractAttachment === null) {
    const file = await filed(plane, objects, {
      fileName: `${input.contractNo}.pdf`,
      kind: 'contract_original',
      contractId: detail.id,
      lines: englishPaper(contract).split('\n'),
    });
    await plane.updateContract({ contractId: detail.id, changes: { contractAttachment: file } });
  }
  await fileSitePlan(contract, detail, { desk, objects });
  const period = lines.find(isSettled)?.input.period;
  const line = detail.payments.find((one) => one.period === period);
  if (!line) return;
  const books = planeOf(desk, bookkeeper);
  if (line.invoiceAttachment === null)
    await books.recordInvoiceEvidence({
      paymentId: line.id,
      invoiceAttachment: await filed(books, objects, {
        fileName: `${line.invoiceNo ?? line.period}.pdf`,
        kind: 'invoice',
        paymentId: line.id,
        lines: invoicePaper(contract, line),
      }),
    });
  if (line.proof === null)
    await books.recordReceipt({
      paymentId: line.id,
      proof: await filed(books, objects, {
        fileName: `${line.bankSerialNo ?? line.period}.pdf`,
        kind: 'receipt',
        paymentId: line.id,
        lines: receiptPaper(contract, line),
      }),
    });
}

/** The plan of the site, in a field that takes files. */
async function fileSitePlan(contract: DemoContract, detail: ContractDetail, { desk, objects }: Drawer): Promise<void> {
  const plane = planeOf(desk, contract.owner);
  const field = (await plane.listFields({})).find(({ type }) => type === 'file');
  if (!field || detail.dynamicFields[field.id] !== undefined) return;
  const file = await filed(plane, objects, {
    fileName: 'site plan.pdf',
    kind: 'other_evidence',
    contractId: detail.id,
    lines: [
      'SITE PLAN',
      `Contract No.: ${contract.input.contractNo}`,
      '',
      'Gate 3, hall B, bay 12. Lorries up to 18 m; floor load 5 t/m2.',
    ],
  });
  await plane.updateContract({ contractId: detail.id, changes: { dynamicFields: { [field.id]: file } } });
}

/** The framework agreement: one file that several contracts refer to. */
async function fileFramework(contracts: readonly DemoContract[], { desk, objects }: Drawer): Promise<void> {
  const [first] = contracts;
  if (!first) return;
  const plane = planeOf(desk, 'novak');
  const details = (await Promise.all(contracts.map((contract) => contractAt(plane, contract)))).filter(
    (detail) => detail?.contractAttachment === null,
  );
  if (details.length === 0) return;
  const file = await filed(plane, objects, {
    fileName: 'framework agreement.pdf',
    kind: 'contract_original',
    lines: [
      'FRAMEWORK AGREEMENT',
      '',
      `Seller or lessor: ${first.input.partyB}`,
      '',
      'Prices are those of the annual list, less 7 %. Each order is a contract of its own.',
    ],
  });
  await plane.bulkAttachContracts({
    ids: details.flatMap((detail) => (detail ? [detail.id] : [])),
    contractAttachment: file,
  });
}

/** Starts reading the file without waiting. It ends before the demo does and is not reviewed. */
async function fileDraft(contract: DemoContract, { desk, objects }: Drawer): Promise<void> {
  const plane = planeOf(desk, contract.owner);
  const detail = await contractAt(plane, contract);
  if (!detail) return;
  const fileRef =
    detail.contractAttachment ??
    (await filed(plane, objects, {
      fileName: `${contract.input.contractNo} scan.pdf`,
      kind: 'contract_original',
      contractId: detail.id,
      lines: englishPaper(contract).split('\n'),
    }));
  if (detail.contractAttachment === null)
    await plane.updateContract({ contractId: detail.id, changes: { contractAttachment: fileRef } });
  // With a slow scanner the file may not have been scanned yet. It is not read then.
  const { scanStatus } = await plane.getFile({ fileId: fileRef });
  if ((scanStatus === 'clean' || scanStatus === 'skipped') && !(await isRead(fileRef, desk)))
    await plane.extractContract({ contractId: detail.id, fileRef });
}

/** Finds the runs in the audit, as there is no operation that lists them. */
async function isRead(fileRef: string, desk: FilingDesk): Promise<boolean> {
  const plane = planeOf(desk, 'lin');
  const { items } = await plane.listAudit({ action: 'extractContract', pageSize: 200 });
  for (const { recordId } of items)
    if (recordId !== null && (await plane.getExtraction({ runId: recordId })).source.fileId === fileRef) return true;
  return false;
}

async function contractAt(plane: Plane, { input: { contractNo } }: DemoContract): Promise<ContractDetail | undefined> {
  const { items } = await plane.listContracts({ q: contractNo, page: 1, pageSize: 20 });
  const found = items.find(({ json }) => valueIn(json).contractNo === contractNo);
  return found && plane.getContract({ contractId: found.id });
}

interface Paper extends Pick<PresignInput, 'fileName' | 'kind' | 'contractId' | 'paymentId'> {
  readonly lines: readonly string[];
}

/**
 * Uploads a file in the three steps of a client, but writes to the store directly, as no server serves its URLs yet.
 * Returns the file's id.
 */
async function filed(plane: Plane, objects: ObjectStore, { lines, ...about }: Paper): Promise<string> {
  const bytes = pdfOfLines(lines);
  const announced = { ...about, contentType: 'application/pdf', sizeBytes: bytes.length };
  const { objectKey, uploadToken } = await plane.presignFile(announced);
  await objects.write(objectKey, Readable.from([bytes]), {
    sizeBytes: bytes.length,
    contentType: announced.contentType,
  });
  return (await plane.confirmFile({ ...announced, objectKey, uploadToken })).id;
}

const money = (amount: number | null, { currencyCode }: PaymentLine): string =>
  `${currencyCode} ${(amount ?? 0).toLocaleString('en-US')}.00`;

const invoicePaper = ({ input }: DemoContract, line: PaymentLine): string[] => [
  'INVOICE',
  `Invoice No.: ${line.invoiceNo ?? ''}`,
  `Date: ${line.invoiceDate ?? ''}`,
  `Contract No.: ${input.contractNo}`,
  '',
  `To: ${input.partyA}`,
  `From: ${input.partyB}`,
  '',
  `For: ${input.equipmentName}, ${line.period}`,
  `Amount: ${money(line.invoiceAmount, line)}`,
  `Payable by: ${line.dueDate}`,
  `Bank: ${input.payeeBank ?? ''}`,
  `Account No.: ${input.payeeAccount ?? ''}`,
];

const receiptPaper = ({ input }: DemoContract, line: PaymentLine): string[] => [
  'CREDIT ADVICE',
  `Transaction: ${line.bankSerialNo ?? ''}`,
  `Value date: ${line.receivedDate ?? ''}`,
  '',
  `Ordering party: ${line.payerName ?? ''}`,
  `Beneficiary: ${input.partyB}`,
  `Account: ${line.receiptAccount ?? ''}`,
  `Amount: ${money(line.receivedAmount, line)}`,
  `Details: ${input.contractNo}, ${line.period}`,
];
