import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { TaskInput } from '../../data-plane-agent/plane/contract/records/tasks.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { drawn, pick, randomFrom } from './random.js';

/** What the contracts of the benchmark refer to. */
export interface Owner {
  readonly subjects: readonly Named[];
  /** Members; every third contract has one of them as superior too. */
  readonly owners: readonly Named[];
  readonly typeCodes: readonly string[];
  /** Custom fields, by their role in the data set. */
  readonly fields: Readonly<Record<FieldName, string>>;
}
export interface Named {
  readonly id: string;
  readonly name: string;
}
/** `margin` and `rating` are hidden from a role. */
export type FieldName = 'site' | 'load' | 'rating' | 'margin';

export const CURRENCIES = ['CNY', 'CNY', 'CNY', 'EUR', 'USD'] as const;
export const STATUS_CODES = ['on_hold', 'disputed', 'renewed'] as const;

/** One of this many contracts has twelve lines, terms and notes: the get case reads these. */
export const FULL_EVERY = 100;
export const FULL_LINES = 12;
const USUAL_LINES = 4;
/** One of this many contracts has one to sixty lines. */
const VARIED_EVERY = 40;
export const MOST_LINES = 60;
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
  {
    count,
    today,
    owner,
    lines,
  }: { readonly count: number; readonly today: Day; readonly owner: Owner; readonly lines?: number },
): ContractInput {
  const random = randomFrom(i);
  const isLease = i % 2 === 1;
  const isRare = i % Math.ceil(count / RARE) === 3;
  const isFull = i % FULL_EVERY === 0;
  const startDate = addDays(today, -730 + Math.floor(random() * 900));
  const lineCount =
    lines ?? (isFull ? FULL_LINES : i % VARIED_EVERY === 7 ? 1 + Math.floor(random() * MOST_LINES) : USUAL_LINES);
  const amount = Math.floor(100_000 + random() * 4_000_000) / 100;
  const stepDays = Math.max(7, Math.floor(540 / lineCount));
  const payments = Array.from({ length: lineCount }, (_, n) =>
    lineInput({
      n,
      amount,
      dueDate: addDays(startDate, n * stepDays),
      today,
      random,
      no: isFull && n < 2 ? `${i}-${n}` : null,
    }),
  );
  const superior = i % 3 === 0 ? drawn(owner.owners, random).id : undefined;
  const typeCode = random() < 0.2 ? drawn(owner.typeCodes, random) : undefined;
  const statusCode = random() < 0.1 ? drawn(STATUS_CODES, random) : undefined;
  return {
    archiveCode: `A-${i}`,
    contractNo: contractNo(i),
    projectName: `${pick(EQUIPMENT, i)} for ${pick(CITIES, i >> 2)}${isRare ? `, ${WORDS.rareLatin} hall (${WORDS.rareCjk})` : ''}`,
    type: isLease ? 'lease' : 'sale',
    subjectId: drawn(owner.subjects, random).id,
    partyA: 'Duebook Bench Holding',
    partyB: pick(BUYERS, i),
    equipmentName: pick(EQUIPMENT, i),
    equipmentModel: `M-${i % 97}`,
    quantity: lineCount,
    unitPrice: amount,
    paymentMethod: 'bank_transfer',
    startDate,
    endDate: addDays(startDate, 365 + Math.floor(random() * 365)),
    ...(i % 7 === 2 ? {} : { signDate: addDays(startDate, -10) }),
    status: i % 5 === 0 ? 'completed' : 'in_progress',
    ownerId: drawn(owner.owners, random).id,
    currencyCode: drawn(CURRENCIES, random),
    workflowStage: random() < 0.5 ? 'active' : drawn(WORKFLOW_STAGES, random),
    ...(superior === undefined ? {} : { ownerSuperiorId: superior }),
    ...(typeCode === undefined ? {} : { typeCode }),
    ...(statusCode === undefined ? {} : { statusCode }),
    dynamicFields: {
      [owner.fields.site]: `Hall ${i % 31}, gate ${i % 9}`,
      [owner.fields.load]: i % 400,
      ...(i % 4 === 0 ? { [owner.fields.rating]: 'A' } : {}),
      [owner.fields.margin]: i % 90,
    },
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
  /** The number of an invoice that is issued for the line. */
  readonly no: string | null;
}

/** Most due lines are paid, some partly, and some not at all. */
function lineInput({ n, amount, dueDate, today, random, no }: LinePlan): PaymentLineInput {
  const luck = random();
  const plan = {
    period: `instalment ${n + 1}`,
    dueDate,
    amount,
    ...(no === null ? {} : { invoiceNo: `INV-${no}`, invoiceDate: dueDate, invoiceAmount: amount }),
  };
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

/** Of a contract with twelve lines. */
export const tasksOf = (i: number, today: Day): TaskInput[] =>
  i % FULL_EVERY === 0
    ? [
        {
          code: 'T-1',
          title: 'Delivery to the works',
          kind: 'delivery',
          status: 'completed',
          dueDate: addDays(today, -9),
        },
        { code: 'T-2', title: 'Acceptance by the customer', kind: 'acceptance', dueDate: addDays(today, 30) },
      ]
    : [];

const detailsOf = (startDate: Day): Pick<ContractInput, 'terms' | 'extraNotes'> => ({
  terms: [
    { kind: 'delivery', title: 'Delivery', date: addDays(startDate, 30), note: 'Free at the gate of the works.' },
    { kind: 'expiry', title: 'Warranty', date: addDays(startDate, 760), note: 'Two years from acceptance.' },
    { kind: 'deposit', title: 'Deposit', note: 'A tenth of the price, with the first instalment.' },
  ],
  extraNotes: [
    { label: 'Contact', value: 'Works management, ext. 214' },
    { label: '联系人', value: '王经理' },
  ],
});
