import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';

/** The owner of the contracts of the benchmark. */
export interface Owner {
  readonly subjectId: string;
  readonly userId: string;
}

/** One of this many contracts has twelve lines, terms and notes: the get case reads these. */
export const FULL_EVERY = 100;
export const FULL_LINES = 12;
const USUAL_LINES = 4;
/** One of this many contracts contains the rare words: about seven, whatever the size of the data set. */
const RARE = 7;

export const WORDS = {
  rareLatin: 'Quartzite',
  commonLatin: 'Hydraulic',
  rareCjk: '琉璃塔',
  commonCjk: '有限公司',
} as const;

const EQUIPMENT = [
  'Hydraulic press',
  'Hydraulic pump station',
  'Tower crane',
  'Injection moulding machine',
  'Air compressor',
  'CNC lathe',
] as const;
const BUYERS = [
  '上海远东机械有限公司',
  'Meridian Works Ltd',
  '苏州精工设备有限公司',
  'Nordhafen Logistik GmbH',
  '广州海珠贸易有限公司',
  'Atelier Laval SA',
] as const;
const CITIES = ['Hamburg', '杭州', 'Lyon', '成都', 'Porto', '大连'] as const;

/** Contract `i` of `count`, deterministic, with due dates from two years before `today` to one year after. */
export function contractInput(
  i: number,
  { count, today, owner }: { readonly count: number; readonly today: Day; readonly owner: Owner },
): ContractInput {
  const random = randomFrom(i);
  const isLease = i % 2 === 1;
  const isRare = i % Math.ceil(count / RARE) === 3;
  const isFull = i % FULL_EVERY === 0;
  const startDate = addDays(today, -730 + Math.floor(random() * 900));
  const lineCount = isFull ? FULL_LINES : USUAL_LINES;
  const amount = Math.floor(100_000 + random() * 4_000_000) / 100;
  const payments = Array.from({ length: lineCount }, (_, n) =>
    lineInput({ n, amount, dueDate: addDays(startDate, n * 45), today, random }),
  );
  return {
    archiveCode: `A-${i}`,
    contractNo: contractNo(i),
    projectName: `${pick(EQUIPMENT, i)} for ${pick(CITIES, i >> 2)}${isRare ? `, ${WORDS.rareLatin} hall (${WORDS.rareCjk})` : ''}`,
    type: isLease ? 'lease' : 'sale',
    subjectId: owner.subjectId,
    partyA: 'Duebook Bench Holding',
    partyB: pick(BUYERS, i),
    equipmentName: pick(EQUIPMENT, i),
    equipmentModel: `M-${i % 97}`,
    quantity: lineCount,
    unitPrice: amount,
    paymentMethod: 'bank_transfer',
    startDate,
    endDate: addDays(startDate, 365 + Math.floor(random() * 365)),
    signDate: addDays(startDate, -10),
    status: i % 5 === 0 ? 'completed' : 'in_progress',
    ownerId: owner.userId,
    payeeAccount: '6222 0212 3456 7890',
    payeeBank: 'Bank of Shanghai',
    invoicePoints: 13,
    remark: `Maintenance is part of the price. Delivery to gate ${i % 9}.`,
    payments,
    ...(isFull ? detailsOf(startDate) : {}),
  };
}

export const contractNo = (i: number): string => `DB-${String(i).padStart(7, '0')}`;

interface LinePlan {
  readonly n: number;
  readonly amount: number;
  readonly dueDate: Day;
  readonly today: Day;
  readonly random: () => number;
}

/** Most due lines are paid, some partly, and some not at all. */
function lineInput({ n, amount, dueDate, today, random }: LinePlan): PaymentLineInput {
  const luck = random();
  const plan = { period: `instalment ${n + 1}`, dueDate, amount };
  if (dueDate >= today || luck > 0.85) return plan;
  const isPartial = luck > 0.75;
  return {
    ...plan,
    receivedAmount: isPartial ? Math.floor(amount / 2) : amount,
    receivedDate: dueDate,
    method: 'bank_transfer',
    payerName: 'Accounts payable',
    ...(isPartial ? {} : { reconciliationStatus: 'matched' as const, invoiceAmount: amount, invoiceDate: dueDate }),
  };
}

const detailsOf = (startDate: Day): Pick<ContractInput, 'terms' | 'extraNotes'> => ({
  terms: [
    { kind: 'delivery', title: 'Delivery', date: addDays(startDate, 30), note: 'Free at the gate of the works.' },
    { kind: 'deposit', title: 'Deposit', note: 'A tenth of the price, with the first instalment.' },
  ],
  extraNotes: [
    { label: 'Contact', value: 'Works management, ext. 214' },
    { label: '联系人', value: '王经理' },
  ],
});

const pick = <T>(list: readonly T[], i: number): T => {
  const chosen = list[i % list.length];
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
};

/** mulberry32: sufficient for test data, and the same numbers on every machine. */
function randomFrom(seed: number): () => number {
  let state = (seed + 1) * 0x9e37_79b9;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
