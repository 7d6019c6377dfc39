import { stateAnswer, type Row, type Setting } from './answers.js';
import { inner } from './contract.js';

/** A line before a receipt, with the lines and texts of its contract. Amounts are in hundredths. */
export interface Receivable {
  readonly contract: number;
  readonly version: number;
  readonly amount: number;
  readonly json: string;
  readonly core: string;
  readonly state: string;
  readonly lines: readonly LineOf[];
}
export interface LineOf {
  readonly id: string;
  readonly dueDate: string;
  readonly amount: number;
  readonly received: number;
  readonly outstanding: number;
}

/** What a receipt writes. */
export interface Change {
  readonly line: { readonly received: number; readonly outstanding: number; readonly json: string };
  readonly contract: {
    readonly core: string;
    readonly state: string;
    readonly updatedAt: number;
    readonly outstanding: number;
    readonly paymentStatus: string;
    readonly nextDueDate: string | null;
    readonly isOverdue: number;
    readonly isDueSoon: number;
  };
  readonly history: string;
  readonly answer: string;
}

export interface ReceiptInput {
  readonly receivedAmount: number;
  readonly method: string;
  readonly payerName: string;
  readonly bankSerialNo: string;
}

export const changeBy =
  (lineId: string, input: ReceiptInput, setting: Setting & { readonly userId: string }, now: number) =>
  (before: Receivable): Change => {
    const received = Math.round(input.receivedAmount * 100);
    const outstanding = Math.max(0, before.amount - received);
    const old = JSON.parse(before.json) as Record<string, unknown> & { receivedAmount: number; dueStatus: string };
    const line = {
      ...old,
      receivedAmount: received / 100,
      receivedDate: received / 100 > old.receivedAmount ? setting.today : old['receivedDate'],
      method: input.method,
      payerName: input.payerName,
      bankSerialNo: input.bankSerialNo,
      outstandingAmount: outstanding / 100,
      overpaidAmount: Math.max(0, received - before.amount) / 100,
      paymentStatus: received >= before.amount ? 'paid' : received === 0 ? 'unpaid' : 'partial',
      ...(outstanding === 0 ? { dueStatus: 'settled', daysOverdue: 0 } : {}),
      updatedAt: new Date(now).toISOString(),
    };
    const json = JSON.stringify(line);
    const lines = before.lines.map((one) => (one.id === lineId ? { ...one, received, outstanding } : one));
    const open = lines.filter((one) => one.outstanding > 0);
    const sum = (of: (one: LineOf) => number): number => lines.reduce((total, one) => total + of(one), 0);
    const core = JSON.parse(`{${before.core}}`) as Record<string, unknown>;
    const owed = sum((one) => one.outstanding);
    const paymentStatus = open.length === 0 ? 'paid' : lines.every((one) => one.received === 0) ? 'unpaid' : 'partial';
    const nextDueDate = open.map(({ dueDate }) => dueDate).toSorted()[0] ?? null;
    const { fulfillmentStatus } = JSON.parse(`{${before.state}}`) as { fulfillmentStatus: string };
    const days: Row = {
      start_date: core['startDate'] as string,
      end_date: core['endDate'] as string,
      tasks_live: 0,
    };
    const state = { ...stateAnswer(days, open, setting), fulfillmentStatus };
    return {
      line: { received, outstanding, json },
      contract: {
        core: inner({
          ...core,
          paymentStatus,
          receivedAmount: sum((one) => one.received) / 100,
          outstandingAmount: owed / 100,
          overpaidAmount: sum((one) => Math.max(0, one.received - one.amount)) / 100,
          nextDueDate,
          updatedBy: setting.userId,
          version: before.version + 1,
          updatedAt: line.updatedAt,
        }),
        state: inner(state),
        updatedAt: now,
        outstanding: owed / 100,
        paymentStatus,
        nextDueDate,
        isOverdue: state.isOverdue ? 1 : 0,
        isDueSoon: state.isDueSoon ? 1 : 0,
      },
      history: JSON.stringify({ ...input, lineId, receivedDate: line.receivedDate, at: line.updatedAt }),
      answer: `${json.slice(0, -1)},"warnings":[]}`,
    };
  };
