import { addDays, addMonths, type Day } from '../../data-plane-agent/base/day.js';
import type { ContractInput, NoteInput, TermInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { WorkflowStage } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { journeyOf, type DemoAct } from './acts.js';
import { BOOKKEEPERS, DEMO_SUBJECTS, SELLERS, type DemoSubject } from './cast.js';
import type { DuePart } from './customs.js';
import { customOf, type DemoCustom } from './field-values.js';
import { demoLines, type DemoLine, type Habit } from './lines.js';
import { createRandom, type Random } from './random.js';
import { demoLives, type Life } from './shapes.js';
import { tasksOf, type DemoTask } from './tasks.js';
import { TEXTS, type Texts } from './texts.js';
import { factoryTest, turnkeyJourney } from './turnkey-acts.js';
import { typeCodeOf } from './type-codes.js';
import { customerIn, inCurrency, WARES } from './wares.js';
import { WORDS, type Words } from './words.js';

export interface DemoContract {
  /** All but the ids, which an installation gives to the people and companies named beside it. */
  readonly input: Omit<ContractInput, 'subjectId' | 'ownerId' | 'ownerSuperiorId' | 'payments' | 'dynamicFields'>;
  readonly lines: readonly DemoLine[];
  readonly subject: DemoSubject;
  readonly owner: string;
  readonly superior: string | null;
  readonly bookkeeper: string;
  /** The stage after all actions, and its code. */
  readonly stage: WorkflowStage;
  readonly stageCode: string;
  readonly acts: readonly DemoAct[];
  /** Actions after its receipts and tasks are entered. */
  readonly finish: readonly DemoAct[];
  readonly tasks: readonly DemoTask[];
  readonly custom: DemoCustom;
  /** Notes that are added after the contract was created. */
  readonly notes: readonly { readonly by: string; readonly note: NoteInput }[];
}

/**
 * The demo's 300 contracts with their 3 000 payment lines, the oldest first. Names, numbers, amounts and what was paid
 * are the same in every run; dates are relative to `today`, so that there are always overdue and upcoming payments.
 */
export function demoBook(today: Day): DemoContract[] {
  return withIncidents(
    demoLives(createRandom(2149)).map((life, index) =>
      demoContract({ life, number: index + 1, today, random: createRandom(7_000 + index) }),
    ),
    today,
  );
}

/**
 * Among the contracts in review, one has a refused approval, and counsel locks two others, one of them temporarily. One
 * active contract has no task done.
 */
function withIncidents(book: readonly DemoContract[], today: Day): DemoContract[] {
  const [pressed, locked, lockedOnce] = book.filter(
    ({ stage, superior, input }) => stage === 'review' && superior !== null && !input.typeCode,
  );
  const lapsed = book.find(
    ({ input, tasks, lines }) =>
      !input.typeCode &&
      lines.length === 5 &&
      tasks.length > 0 &&
      tasks.every((task) => (task.input.dueDate ?? today) < addDays(today, -20)),
  );
  return book.map((contract) => {
    const words = WORDS[contract.subject.language];
    if (contract === pressed)
      return {
        ...contract,
        acts: [...contract.acts, { does: 'try', transition: 'approve', by: contract.owner, note: words.refused }],
      };
    if (contract === locked)
      return { ...contract, acts: [...contract.acts, { does: 'lock', by: 'hoffmann', note: words.lock }] };
    if (contract === lockedOnce)
      return {
        ...contract,
        acts: [
          ...contract.acts,
          { does: 'lock', by: 'hoffmann', note: words.lock },
          { does: 'unlock', by: 'novak', note: words.unlock },
        ],
      };
    if (contract === lapsed)
      return {
        ...contract,
        tasks: contract.tasks.map((task) => ({
          ...task,
          input: { ...task.input, acceptanceStatus: 'pending' },
          states: ['pending'],
        })),
      };
    return contract;
  });
}

function demoContract({
  life,
  number,
  today,
  random,
}: {
  life: Life;
  number: number;
  today: Day;
  random: Random;
}): DemoContract {
  const subject = random.pick(SUBJECTS);
  const texts = TEXTS[subject.language];
  const words = WORDS[subject.language];
  const currencyCode = random.percent(6) ? random.pick(['EUR', 'CNY', 'JPY']) : subject.currencyCode;
  const customer = customerIn(subject.language, random);
  const ware = random.pick(WARES);
  const quantity = life.type === 'sale' ? random.between(1, 4) : random.between(1, 6);
  const seller = random.pick(SELLERS[subject.key]);
  const habit = random.pick(HABITS);
  const unit = inCurrency(life.type === 'sale' ? ware.price : ware.rent * life.stepMonths, currencyCode);
  const price = priceOf({ life, unit, quantity, discounted: life.type === 'sale' && random.percent(20) });
  const parts = partsOf({ life, total: price.totalAmount, texts, next: addDays(today, random.between(1, 27)) });
  const firstDue = parts[0]?.dueDate ?? today;
  const lastDue = parts.at(-1)?.dueDate ?? today;
  const startDate = addDays(firstDue, life.type === 'lease' ? 0 : -random.between(5, 20));
  const code = String(number).padStart(4, '0');
  const endDate = life.type === 'lease' ? addDays(addMonths(lastDue, life.stepMonths), -1) : addMonths(lastDue, 6);
  const isSigned = !['draft', 'extracted', 'review', 'approved'].includes(life.stage);
  const signDate = isSigned ? earlier(addDays(startDate, -random.between(3, 25)), addDays(today, -2)) : null;
  const lines = demoLines(parts, habit, {
    random,
    today,
    life,
    payer: customer.name,
    account: subject.defaultPayeeAccount,
    texts,
    serial: number,
  });
  const isDiscounted = price.totalAmount < price.unitPrice * quantity;
  const typeCode = typeCodeOf(life, { seller: subject.key, currencyCode });
  const isTurnkey = typeCode === 'turnkey';
  // Task states depend on the day, so they need a random source of their own: the other values must not change with the
  // day.
  const tasks = tasksOf(life, {
    random: createRandom(90_000 + number),
    today,
    hands: seller,
    words,
    startDate,
    endDate,
  });
  const journey = isTurnkey
    ? turnkeyJourney(life, { random, hands: seller, signDate, totalAmount: price.totalAmount, tasks })
    : journeyOf(life, { random, hands: seller, words, signDate });
  const model = random.pick(ware.models);

  return {
    subject,
    ...seller,
    bookkeeper: BOOKKEEPERS[subject.key],
    stage: life.stage,
    stageCode: journey.to,
    acts: journey.acts,
    finish: journey.finish,
    lines,
    tasks: [...tasks, ...(isTurnkey ? factoryTest(journey, seller) : [])],
    custom: customOf(life, {
      random: createRandom(50_000 + number),
      seller: subject.key,
      owner: seller.owner,
      industry: customer.industry,
      isDiscounted,
      isTurnkey,
      model,
      startDate,
      warrantyUntil: addMonths(lastDue, 12),
      habit,
      number,
    }),
    notes: notesOf(lines, { random, words, isSigned, bookkeeper: BOOKKEEPERS[subject.key], today }),
    input: {
      archiveCode: `${subject.mark}-A${code}`,
      contractNo: `${subject.mark}-${life.type === 'sale' ? 'S' : 'L'}-${code}`,
      projectName: texts.project(customer.place, ware.name[subject.language], life.type),
      type: life.type,
      ...(typeCode === null ? {} : { typeCode }),
      partyA: customer.name,
      partyB: subject.legalName,
      equipmentName: ware.name[subject.language],
      equipmentModel: model,
      quantity,
      ...price,
      currencyCode,
      paymentMethod: texts.transfer,
      payeeAccount: subject.defaultPayeeAccount,
      payeeBank: subject.defaultPayeeBank,
      paymentCycle: life.type === 'lease' && life.stepMonths !== 2 ? texts.cycle[life.stepMonths] : texts.milestones,
      // Contracts that pass through all stages get their date when they are signed.
      signDate: journey.from === 'draft' ? null : signDate,
      startDate,
      endDate,
      invoicePoints: subject.key === 'china' ? 13 : subject.key === 'europe' ? 21 : 10,
      ...(life.stage === 'signed' ? { statusCode: 'awaiting_deposit' } : {}),
      status: journey.from === 'completed' || journey.from === 'archived' ? 'completed' : 'in_progress',
      workflowStage: journey.from,
      ...(journey.fromCode === undefined ? {} : { lifecycleStageCode: journey.fromCode }),
      remark: habit === 'prompt' ? (isDiscounted ? texts.discount : null) : texts.slowPayer,
      terms: termsOf(life, texts, { startDate, lastDue }),
      extraNotes: [
        { label: texts.contact, value: random.pick(texts.contacts) },
        ...(random.percent(40) ? [{ label: texts.site, value: customer.place }] : []),
      ],
    },
  };
}

/** China appears twice: half of the contracts are its own. */
const [CHINA, EUROPE, JAPAN] = DEMO_SUBJECTS;
const SUBJECTS: readonly [DemoSubject, ...DemoSubject[]] = [
  CHINA,
  CHINA,
  CHINA,
  CHINA,
  EUROPE,
  EUROPE,
  EUROPE,
  JAPAN,
  JAPAN,
];
const HABITS: readonly [Habit, ...Habit[]] = [
  'prompt',
  'prompt',
  'prompt',
  'prompt',
  'prompt',
  'prompt',
  'prompt',
  'slow',
  'slow',
  'bad',
];

type Price = Pick<ContractInput, 'unitPrice' | 'deposit' | 'periodicRent'> & { readonly totalAmount: number };

/** Whole major units throughout. The unit price of a lease is the rent of one machine over the whole term. */
function priceOf({
  life,
  unit,
  quantity,
  discounted,
}: {
  life: Life;
  unit: number;
  quantity: number;
  discounted: boolean;
}): Price {
  if (life.type === 'sale')
    return { unitPrice: unit, totalAmount: Math.floor(unit * quantity * (discounted ? 0.96 : 1)) };
  const periodicRent = unit * quantity;
  return {
    unitPrice: unit * life.lines,
    totalAmount: periodicRent * life.lines,
    deposit: periodicRent * 2,
    periodicRent,
  };
}

/** How a sale's total is split, in percent. */
const SHARES: Readonly<Record<3 | 4 | 5, readonly number[]>> = {
  3: [30, 60, 10],
  4: [30, 30, 30, 10],
  5: [10, 20, 30, 30, 10],
};

function partsOf({ life, total, texts, next }: { life: Life; total: number; texts: Texts; next: Day }): DuePart[] {
  // At most 27 days ahead, and a month is no shorter than 28: what is counted as past is past on every day of the year.
  const dueDate = (index: number): Day => addMonths(next, (index - life.past) * life.stepMonths - life.endedMonthsAgo);
  if (life.type === 'lease') {
    return Array.from({ length: life.lines }, (_, index) => ({
      period: periodOf(dueDate(index), life.stepMonths),
      dueDate: dueDate(index),
      amount: total / life.lines,
    }));
  }
  const steps = life.lines === 3 || life.lines === 4 ? life.lines : 5;
  const amounts = SHARES[steps].map((share) => Math.floor((total * share) / 100));
  const rest = total - amounts.reduce((sum, amount) => sum + amount, 0);
  return amounts.map((amount, index) => ({
    period: texts.steps[steps][index] ?? `${index + 1}`,
    dueDate: dueDate(index),
    amount: index === steps - 1 ? amount + rest : amount,
  }));
}

/** `2025-03`, or `2025-Q1`. */
const periodOf = (day: Day, stepMonths: number): string =>
  stepMonths === 3 ? `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}` : day.slice(0, 7);

function termsOf({ type }: Life, texts: Texts, { startDate, lastDue }: { startDate: Day; lastDue: Day }): TermInput[] {
  const term = (kind: TermInput['kind'], date: Day | null = null): TermInput => ({ kind, ...texts.terms[kind], date });
  return type === 'lease'
    ? [term('deposit', startDate), term('payment'), term('expiry', lastDue)]
    : [term('delivery', addDays(startDate, 45)), term('debug'), term('payment'), term('other')];
}

/** Counsel comments on some signed contracts, and the bookkeeper on late payments. */
function notesOf(
  lines: readonly DemoLine[],
  {
    random,
    words,
    isSigned,
    bookkeeper,
    today,
  }: { random: Random; words: Words; isSigned: boolean; bookkeeper: string; today: Day },
): DemoContract['notes'] {
  const isLate = lines.some(
    ({ input, later }) => input.dueDate < today && ((later.at(-1) ?? input).receivedAmount ?? 0) < input.amount,
  );
  const said = (by: string, { label, values }: Words['counsel']) => ({
    by,
    note: { label, value: random.pick(values) },
  });
  return [
    ...(isSigned && random.percent(12) ? [said('hoffmann', words.counsel)] : []),
    ...(isLate && random.percent(40) ? [said(bookkeeper, words.reminded)] : []),
  ];
}

const earlier = (a: Day, b: Day): Day => (a < b ? a : b);
