import type { FieldReview } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { DemoContract } from './book.js';
import { peopleAt, planeOf, type Desk } from './desk.js';

/** A document whose extraction is applied to a contract. */
export interface DemoPaper {
  readonly contract: DemoContract;
  readonly fileName: string;
  readonly text: string;
  /**
   * How its reading is reviewed and applied, which makes an extracted contract of a draft; one without waits for that.
   */
  readonly review?: readonly FieldReview[];
}

/** One document whose extraction was reviewed and applied, and one that waits for review. */
export function papersOf(book: readonly DemoContract[]): DemoPaper[] {
  const read = book.find(({ stage, subject }) => stage === 'extracted' && subject.key === 'europe');
  const waiting = book.find(
    ({ stage, subject, owner, superior }) =>
      stage === 'draft' && subject.key === 'china' && superior !== null && owner !== superior,
  );
  return [
    ...(read
      ? [{ contract: read, fileName: `${read.input.contractNo}.pdf`, text: englishPaper(read), review: REVIEW }]
      : []),
    ...(waiting
      ? [{ contract: waiting, fileName: `${waiting.input.contractNo} 扫描件.pdf`, text: chinesePaper(waiting) }]
      : []),
  ];
}

const REVIEW: readonly FieldReview[] = [
  { fieldKey: 'contractNo', status: 'accepted' },
  { fieldKey: 'totalAmount', status: 'accepted' },
  { fieldKey: 'payeeBank', status: 'rejected' },
  { fieldKey: 'remark', status: 'overridden', overrideValue: 'Terms compared with the signed paper.' },
];

/**
 * Extracts the documents that were not extracted yet. Finds them in the audit, as there is no operation that lists
 * runs.
 */
export async function readPapers(
  papers: readonly DemoPaper[],
  present: ReadonlyMap<string, string>,
  desk: Desk,
): Promise<void> {
  const { items } = await planeOf(desk, 'lin').listAudit({ action: 'extractContract', pageSize: 200 });
  const runIds = items.map(({ recordId }) => recordId).toReversed();
  for (const [i, { contract, fileName, text, review }] of papers.entries()) {
    const contractId = present.get(contract.input.contractNo);
    if (contractId === undefined) continue;
    const plane = planeOf(desk, contract.owner);
    const runId = runIds[i];
    const run =
      runId === undefined || runId === null
        ? await plane.extractContract({ contractId, fileName, text })
        : await plane.getExtraction({ runId });
    if (review && run.status === 'needs_review')
      await plane.reviewExtraction({
        runId: run.id,
        fields: [...review],
        applyToContract: true,
        people: peopleAt(desk),
      });
  }
}

const grouped = (amount: number): string => amount.toLocaleString('en-US');

export function englishPaper({ input }: DemoContract): string {
  const isSale = input.type === 'sale';
  return [
    isSale ? 'EQUIPMENT SALES CONTRACT' : 'EQUIPMENT LEASE AGREEMENT',
    `Contract No.: ${input.contractNo}`,
    `${isSale ? 'Buyer' : 'Lessee'}: ${input.partyA}`,
    `${isSale ? 'Seller' : 'Lessor'}: ${input.partyB}`,
    '',
    '1. Equipment',
    `Equipment: ${input.equipmentName}`,
    `Model: ${input.equipmentModel}`,
    `Quantity: ${input.quantity} units`,
    '',
    '2. Price and payment',
    `Total contract price: ${input.currencyCode ?? 'EUR'} ${grouped(input.totalAmount ?? 0)}.00`,
    `Payment method: ${input.paymentMethod}`,
    `Bank: ${input.payeeBank ?? ''}`,
    `Account No.: ${input.payeeAccount ?? ''}`,
    '',
    '3. Term',
    `Commencement date: ${input.startDate}`,
    `Expiry date: ${input.endDate}`,
  ].join('\n');
}

/** Quantity times price differs from the total, so the run needs a review. */
function chinesePaper({ input }: DemoContract): string {
  const isSale = input.type === 'sale';
  const total = input.totalAmount ?? 0;
  return [
    isSale ? '设备买卖合同' : '设备租赁合同',
    `合同编号：${input.contractNo}`,
    `甲方（${isSale ? '买方' : '承租方'}）：${input.partyA}`,
    `乙方（${isSale ? '卖方' : '出租方'}）：${input.partyB}`,
    '',
    '第一条 标的物',
    `设备名称：${input.equipmentName}`,
    `规格型号：${input.equipmentModel}`,
    `数量：${input.quantity}台`,
    `单价：人民币${grouped(input.unitPrice)}元`,
    '第二条 价款与支付',
    `合同总价：人民币${grouped(total + 10_000)}元`,
    `付款方式：${input.paymentMethod}`,
    `开户银行：${input.payeeBank ?? ''}`,
    `账号：${input.payeeAccount ?? ''}`,
    '第三条 期限',
    `起始日期：${input.startDate}`,
    `终止日期：${input.endDate}`,
    '第四条 违约责任',
    '逾期付款的，按日万分之三计收违约金。',
  ].join('\n');
}
