import fc from 'fast-check';
import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { decimalsOf } from '../../data-plane-agent/base/money.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { TestPlane } from './plane.js';
import { aContract, aLine } from './samples.js';

/** People and subject companies: few, so that contracts share them. */
export const PEOPLE = [
  '0a000000-0000-7000-8000-000000000001',
  '0a000000-0000-7000-8000-000000000002',
  '0a000000-0000-7000-8000-000000000003',
] as const;
export const SUBJECTS = ['0b000000-0000-7000-8000-000000000001', '0b000000-0000-7000-8000-000000000002'] as const;

const person = fc.constantFrom(...PEOPLE);
const subject = fc.constantFrom(...SUBJECTS);
/** With 2, 0 and 3 decimals. */
const currency = fc.constantFrom('CNY', 'JPY', 'KWD');
/** In minor units; some are frequent, so that lines become fully paid and invoiced. */
const money = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(100, 2_500, 3_000_000_001) },
  fc.constant(0),
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: 4_000_000_000 }),
);
/** Days relative to today, most of them at the limits of age groups and months. */
const when = fc.oneof(
  fc.constantFrom(-91, -90, -89, -61, -60, -31, -30, -1, 0, 1, 7, 8),
  fc.integer({ min: -260, max: 260 }),
);
const line = fc.record({
  amount: money,
  due: when,
  currencyCode: fc.option(currency),
  received: fc.oneof(fc.constant(0), money),
  receivedOn: when,
  invoiced: fc.oneof(fc.constant(0), money),
  invoicedOn: fc.option(when),
  numbered: fc.boolean(),
});
type Line = typeof line extends fc.Arbitrary<infer T> ? T : never;
const contract = fc.record({
  subjectId: subject,
  ownerId: person,
  ownerSuperiorId: fc.option(person),
  currencyCode: currency,
  type: fc.constantFrom('sale' as const, 'lease' as const),
  status: fc.constantFrom('in_progress' as const, 'completed' as const),
  total: money,
  lines: fc.array(line, { maxLength: 4 }),
});
const at = fc.nat({ max: 30 });
const invoiceStatus = fc.constantFrom('draft' as const, 'issued' as const, 'void' as const, 'red_letter' as const);

/** A random change of the contracts. Indexes (`at`, `line`) wrap around the number of records. */
export const contractStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('enter' as const), contract }) },
  fc.record({ do: fc.constant('hand' as const), at, ownerId: person, ownerSuperiorId: fc.option(person) }),
  fc.record({ do: fc.constant('move' as const), at, subjectId: subject }),
  fc.record({ do: fc.constant('currency' as const), at, currencyCode: currency }),
  fc.record({
    do: fc.constant('state' as const),
    at,
    type: fc.constantFrom('sale' as const, 'lease' as const),
    status: fc.constantFrom('in_progress' as const, 'completed' as const),
    typeCode: fc.option(fc.constantFrom('crane_hire', 'turnkey')),
    statusCode: fc.option(fc.constantFrom('disputed', 'on_hold')),
    total: money,
  }),
  fc.record({
    do: fc.constant('stage' as const),
    at,
    stageCode: fc.constantFrom('draft', 'review', 'approved', 'signed', 'active', 'archived'),
  }),
  fc.record({ do: fc.constant('plan' as const), at, lines: fc.array(line, { maxLength: 3 }) }),
  fc.record({ do: fc.constant('add' as const), at, line }),
  fc.record({ do: fc.constant('change' as const), at, line: at, amount: money, due: when }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('receive' as const),
      at,
      line: at,
      received: money,
      on: fc.option(when),
      matched: fc.boolean(),
    }),
  },
  fc.record({
    do: fc.constant('evidence' as const),
    at,
    line: at,
    invoiced: money,
    on: fc.option(when),
    numbered: fc.boolean(),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('invoice' as const),
      at,
      line: fc.option(at),
      amount: money,
      on: fc.option(when),
      status: invoiceStatus,
    }),
  },
  fc.record({ do: fc.constant('turn' as const), at, invoice: at, status: invoiceStatus }),
  fc.record({ do: fc.constant('removeLine' as const), at, line: at }),
  fc.record({ do: fc.constant('delete' as const), at }),
  fc.record({ do: fc.constant('restore' as const), at }),
  fc.record({ do: fc.constant('bulkDelete' as const), at, more: at }),
  fc.record({ do: fc.constant('handOver' as const), from: person, to: person }),
);
export type ContractStep = typeof contractStep extends fc.Arbitrary<infer T> ? T : never;

/** Control over every stage, so that all transitions are possible. */
export const EVERY_CONTROL = Object.fromEntries(
  ['draft', 'extracted', 'review', 'approved', 'signed', 'active', 'completed', 'archived'].map((stage) => [
    stage,
    'admin' as const,
  ]),
);

/**
 * Runs the steps one after the other. Refusals by a rule are allowed; they change nothing. `ids` are those of the
 * contracts of earlier walks; new ones are added.
 */
export async function walk(plane: TestPlane, steps: readonly ContractStep[], ids: string[] = []): Promise<void> {
  for (const step of steps) {
    try {
      const entered = await take(plane, step, ids);
      if (entered !== undefined) ids.push(entered);
    } catch (error) {
      if (!isFailure(error)) throw error;
    }
  }
}

async function take(
  { plane, call }: TestPlane,
  step: ContractStep,
  ids: readonly string[],
): Promise<string | undefined> {
  if (step.do === 'enter') {
    const { lines, total, ...rest } = step.contract;
    return (
      await plane.createContract(
        aContract({
          ...rest,
          totalAmount: major(total, rest.currencyCode),
          payments: lines.map((one, n) => lineInput(one, rest.currencyCode, n, call.today)),
        }),
      )
    ).id;
  }
  if (step.do === 'handOver') {
    await plane.handOver({
      memberId: step.from,
      memberName: 'Leaver',
      successorId: step.to,
      successorScope: null,
      successorSuperiorId: null,
      transferContracts: true,
      transferContractSupervisors: true,
      transferTasks: true,
      transferReminders: true,
      transferSavedViews: true,
    });
    return undefined;
  }
  const contractId = ids[step.at % Math.max(1, ids.length)];
  if (contractId === undefined) return undefined;
  switch (step.do) {
    case 'hand':
      await plane.updateContract({
        contractId,
        changes: { ownerId: step.ownerId, ownerSuperiorId: step.ownerSuperiorId },
      });
      break;
    case 'move':
      await plane.updateContract({ contractId, changes: { subjectId: step.subjectId } });
      break;
    case 'currency':
      await plane.updateContract({ contractId, changes: { currencyCode: step.currencyCode } });
      break;
    case 'delete':
      await plane.deleteContract({ contractId });
      break;
    case 'restore':
      await plane.restoreContract({ contractId });
      break;
    case 'bulkDelete':
      await plane.bulkDeleteContracts({ ids: [contractId, ids[step.more % ids.length] ?? contractId] });
      break;
    default:
      await takeInside(plane, step, await plane.getContract({ contractId }), call.today);
  }
  return undefined;
}

type Inside = Extract<
  ContractStep,
  { do: 'state' | 'stage' | 'plan' | 'add' | 'change' | 'receive' | 'evidence' | 'invoice' | 'turn' | 'removeLine' }
>;

async function takeInside(plane: TestPlane['plane'], step: Inside, detail: ContractDetail, today: Day): Promise<void> {
  const { id: contractId, currencyCode, payments, invoices } = detail;
  const on = (days: number | null) => (days === null ? {} : { date: addDays(today, days) });
  const lineAt = (place: number) => payments[place % Math.max(1, payments.length)];
  const line = 'line' in step && typeof step.line === 'number' ? lineAt(step.line) : undefined;
  switch (step.do) {
    case 'state':
      await plane.updateContract({
        contractId,
        changes: {
          type: step.type,
          status: step.status,
          typeCode: step.typeCode,
          statusCode: step.statusCode,
          totalAmount: major(step.total, currencyCode),
        },
      });
      return;
    case 'stage':
      await plane.transitionContract({ contractId, toStageCode: step.stageCode });
      return;
    case 'plan':
      await plane.updateContract({
        contractId,
        changes: { payments: step.lines.map((one, n) => lineInput(one, currencyCode, n, today)) },
      });
      return;
    case 'add':
      await plane.addPaymentLine({ contractId, ...lineInput(step.line, currencyCode, payments.length + 10, today) });
      return;
    case 'invoice': {
      const amount = major(step.amount, line?.currencyCode ?? currencyCode);
      const { date } = on(step.on) as { date?: Day };
      await plane.addInvoice({
        contractId,
        ...(line ? { receivablePlanId: line.id } : {}),
        invoiceNo: nextNo(),
        invoiceAmount: amount,
        status: step.status,
        ...(date === undefined ? {} : { invoiceDate: date }),
      });
      return;
    }
    case 'turn': {
      const invoice = invoices[step.invoice % Math.max(1, invoices.length)];
      if (invoice) await plane.updateInvoice({ contractId, invoiceId: invoice.id, changes: { status: step.status } });
      return;
    }
    default:
  }
  if (!line) return;
  switch (step.do) {
    case 'change':
      await plane.updatePaymentLine({
        paymentId: line.id,
        amount: major(step.amount, line.currencyCode),
        dueDate: addDays(today, step.due),
      });
      return;
    case 'receive':
      await plane.recordReceipt({
        paymentId: line.id,
        receivedAmount: major(step.received, line.currencyCode),
        ...(step.on === null ? {} : { receivedDate: addDays(today, step.on) }),
        ...(step.matched ? { reconciliationStatus: 'matched' as const } : {}),
      });
      return;
    case 'evidence':
      await plane.recordInvoiceEvidence({
        paymentId: line.id,
        invoiceAmount: major(step.invoiced, line.currencyCode),
        ...(step.on === null ? {} : { invoiceDate: addDays(today, step.on) }),
        ...(step.numbered ? { invoiceNo: nextNo() } : {}),
      });
      return;
    case 'removeLine':
      await plane.deletePaymentLine({ paymentId: line.id });
      return;
    default:
  }
}

let numbers = 0;
const nextNo = (): string => `W-${++numbers}`;

const major = (minor: number, code: string): number => Number(`${minor}e-${decimalsOf(code)}`);

function lineInput(
  { amount, due, currencyCode, received, receivedOn, invoiced, invoicedOn, numbered }: Line,
  contractCurrency: string,
  n: number,
  today: Day,
): PaymentLineInput {
  const code = currencyCode ?? contractCurrency;
  return aLine({
    period: `P${n}`,
    dueDate: addDays(today, due),
    amount: major(amount, code),
    currencyCode: code,
    ...(received === 0 ? {} : { receivedAmount: major(received, code), receivedDate: addDays(today, receivedOn) }),
    ...(invoiced === 0
      ? {}
      : {
          invoiceAmount: major(invoiced, code),
          ...(invoicedOn === null ? {} : { invoiceDate: addDays(today, invoicedOn) }),
          ...(numbered ? { invoiceNo: nextNo() } : {}),
        }),
  });
}
