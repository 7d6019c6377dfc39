import { daysBetween, type Day } from '../../../base/day.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';
import type { ContractRow } from '../../tables/contracts.js';

/** In a key of the rollups: all subject companies, all people, and the superior of a contract that has none. */
export const EVERY = '00000000-0000-0000-0000-000000000000';

/** What the rollups are made of: of a contract, of a line, of a change of what was received, and of an invoice record. */
export type BookedContract = Pick<
  ContractRow,
  'id' | 'subjectId' | 'ownerId' | 'ownerSuperiorId' | 'currencyCode' | 'type' | 'status' | 'stageCategory' | 'paymentStatus' | 'totalMinor' | 'outstandingMinor' | 'otherCurrencyLines' | 'deletedAt'
>;
export type BookedLine = Pick<
  LineRow,
  | 'id' | 'contractId' | 'dueDate' | 'currencyCode' | 'amountMinor' | 'receivedMinor' | 'outstandingMinor' | 'receivedDate' | 'reconciliationStatus'
  | 'invoiceDate' | 'invoicedMinor' | 'uninvoicedMinor' | 'invoiceRecords' | 'deletedAt'
>;
export type BookedReceipt = Pick<ReceiptRow, 'id' | 'contractId' | 'lineId' | 'deltaMinor' | 'currencyCode' | 'receivedDate'>;
export type BookedInvoice = Pick<InvoiceRow, 'id' | 'contractId' | 'currencyCode' | 'invoiceDate' | 'status' | 'amountMinor' | 'deletedAt'>;

/** A sum is kept in two columns, since sums of many lines pass 2^53, and on SQLite 2^63: `x_high` has the whole parts of this size. */
export const PART = 1_000_000_000;

/** What a day has of the lines due on it, as far as a plan without money moves it; `to_invoice` counts lines not invoiced in full. */
const PLAN_COUNTS = ['lines', 'to_invoice'] as const;
const PLAN_SUMS = ['amount', 'outstanding', 'uninvoiced'] as const;
/** What money changes of it: `late` is Σ days late × amount of what was paid in full. Then the money that came, and the invoices that were written, on that day. */
const MONEY_COUNTS = ['paid', 'partial', 'reconcile'] as const;
const MONEY_SUMS = ['received', 'settled', 'late', 'receipts', 'invoices'] as const;

export type DayCount = (typeof PLAN_COUNTS)[number] | (typeof MONEY_COUNTS)[number];
export type DaySum = (typeof PLAN_SUMS)[number] | (typeof MONEY_SUMS)[number];

const parts = (sums: readonly string[]) => sums.flatMap((name) => [`${name}_high`, `${name}_low`]);
/** The columns of a day, in the order of the figures of an entry: those of the plan come first. */
export const PLAN_COLUMNS: readonly string[] = [...PLAN_COUNTS, ...parts(PLAN_SUMS)];
export const DAY_COLUMNS: readonly string[] = [...PLAN_COLUMNS, ...MONEY_COUNTS, ...parts(MONEY_SUMS)];
export const GROUP_COLUMNS: readonly string[] = ['contracts', ...parts(['total', 'outstanding'])];

/** One row of a rollup: what its key is, and what is to be added to its figures. */
export interface Entry {
  readonly key: readonly string[];
  readonly figures: number[];
}

/**
 * What changes add to the rollups, row by row. Adding each state as it was with the sign −1, and as it is with +1, leaves what moved.
 * Each figure of a row is the plain sum of the same figure of what it is made of, so that a rebuild gives the very same row.
 */
export class Entries {
  private readonly holders = new Map<string, Holder>();
  private readonly byGroup = new Map<string, Entry>();

  contract(contract: BookedContract, sign: Sign): void {
    const { totalMinor, outstandingMinor } = contract;
    this.group(contract, contract.currencyCode, [1, high(totalMinor), low(totalMinor), high(outstandingMinor), low(outstandingMinor)], sign);
  }

  line(contract: BookedContract, line: BookedLine, sign: Sign): void {
    this.day(contract, line.currencyCode, line.dueDate, lineFigures(line), sign);
    // Where invoice records name the line, they are what is invoiced on it.
    if (line.invoiceRecords === 0 && line.invoicedMinor !== 0) this.day(contract, line.currencyCode, line.invoiceDate ?? line.dueDate, invoiceFigures(line.invoicedMinor), sign);
    if (line.currencyCode !== contract.currencyCode) this.group(contract, line.currencyCode, [0, 0, 0, high(line.outstandingMinor), low(line.outstandingMinor)], sign);
  }

  receipt(contract: BookedContract, receipt: BookedReceipt, sign: Sign): void {
    if (receipt.receivedDate !== null) this.day(contract, receipt.currencyCode, receipt.receivedDate, receiptFigures(receipt.deltaMinor), sign);
  }

  invoice(contract: BookedContract, invoice: BookedInvoice, sign: Sign): void {
    const { status, amountMinor, invoiceDate, currencyCode } = invoice;
    if (invoiceDate === null || (status !== 'issued' && status !== 'red_letter')) return;
    this.day(contract, currencyCode, invoiceDate, invoiceFigures(status === 'issued' ? amountMinor : -amountMinor), sign);
  }

  /**
   * Rows of days that change, in the order of their keys: person, subject company, currency, day. Each stands three or four times: for
   * those who see all, for the subject company, and there for what a person sees who owns or supervises.
   */
  days(): Entry[] {
    const rows = new Map<string, Entry>();
    for (const { subjectId, people, byDay } of this.holders.values()) {
      for (const { key, figures } of byDay.values()) {
        if (figures.every((figure) => figure === 0)) continue;
        put(rows, [EVERY, EVERY, ...key], figures);
        put(rows, [EVERY, subjectId, ...key], figures);
        for (const person of people) put(rows, [person, subjectId, ...key], figures);
      }
    }
    return moved(rows);
  }

  /** Rows of groups that change, in the order of their keys. */
  groups(): Entry[] {
    return moved(this.byGroup);
  }

  private day({ subjectId, ownerId, ownerSuperiorId }: BookedContract, currencyCode: string, day: Day, figures: readonly number[], sign: Sign): void {
    const name = `${subjectId} ${ownerId} ${ownerSuperiorId}`;
    let holder = this.holders.get(name);
    if (!holder) this.holders.set(name, (holder = { subjectId, people: ownerSuperiorId === null || ownerSuperiorId === ownerId ? [ownerId] : [ownerId, ownerSuperiorId], byDay: new Map() }));
    add(holder.byDay, [currencyCode, day], figures, sign);
  }

  private group({ subjectId, ownerId, ownerSuperiorId, type, status, stageCategory, paymentStatus }: BookedContract, currencyCode: string, figures: readonly number[], sign: Sign): void {
    add(this.byGroup, [subjectId, ownerId, ownerSuperiorId ?? EVERY, currencyCode, type, status, stageCategory, paymentStatus], figures, sign);
  }
}

/** Contracts of one subject company in the same hands: what is theirs is in the same rows. */
interface Holder {
  readonly subjectId: string;
  readonly people: readonly string[];
  readonly byDay: Map<string, Entry>;
}

type Sign = 1 | -1;

/** Whose figures the contract is in. A deleted contract, and a line that is removed, are in nobody's. */
export const isLive = <T extends { readonly deletedAt: number | null }>(row: T | null): row is T => row !== null && row.deletedAt === null;

/** Whether all that belongs to the contract moves to other rows with it. */
export const movesDays = (before: BookedContract, after: BookedContract): boolean =>
  before.subjectId !== after.subjectId || before.ownerId !== after.ownerId || before.ownerSuperiorId !== after.ownerSuperiorId || isLive(before) !== isLive(after);

/** Whether its lines in other currencies, which stand in groups of their own, move with it. */
export const movesGroups = (before: BookedContract, after: BookedContract): boolean =>
  before.otherCurrencyLines + after.otherCurrencyLines > 0 &&
  (before.currencyCode !== after.currencyCode || before.type !== after.type || before.status !== after.status || before.stageCategory !== after.stageCategory || before.paymentStatus !== after.paymentStatus);

function lineFigures(line: BookedLine): number[] {
  const { amountMinor, receivedMinor, outstandingMinor, uninvoicedMinor, reconciliationStatus } = line;
  const isPaid = receivedMinor >= amountMinor;
  const settled = isPaid ? amountMinor : 0;
  const [lateHigh, lateLow] = isPaid ? lateness(line) : NOTHING;
  return [
    1,
    uninvoicedMinor > 0 ? 1 : 0,
    high(amountMinor), low(amountMinor),
    high(outstandingMinor), low(outstandingMinor),
    high(uninvoicedMinor), low(uninvoicedMinor),
    isPaid ? 1 : 0,
    !isPaid && receivedMinor > 0 ? 1 : 0,
    receivedMinor > 0 && reconciliationStatus !== 'matched' ? 1 : 0,
    high(receivedMinor), low(receivedMinor),
    high(settled), low(settled),
    lateHigh, lateLow,
    0, 0, 0, 0,
  ];
}

const NOTHING = [0, 0] as const;
const NO_LINE = DAY_COLUMNS.slice(0, -4).map(() => 0);
const receiptFigures = (minor: number): number[] => [...NO_LINE, high(minor), low(minor), 0, 0];
const invoiceFigures = (minor: number): number[] => [...NO_LINE, 0, 0, high(minor), low(minor)];

/** Days from due date to the day on which the rest came, × amount. Money that came early, or on the day, is not late. */
function lateness({ dueDate, receivedDate, amountMinor }: BookedLine): readonly [high: number, low: number] {
  if (receivedDate === null || receivedDate <= dueDate) return NOTHING;
  const weight = BigInt(daysBetween(dueDate, receivedDate)) * BigInt(amountMinor); // may pass 2^63
  return [Number(weight / BigInt(PART)), Number(weight % BigInt(PART))];
}

const high = (minor: number): number => Math.trunc(minor / PART);
const low = (minor: number): number => minor % PART;

function add(rows: Map<string, Entry>, key: readonly string[], figures: readonly number[], sign: Sign): void {
  const name = key.join(' ');
  let row = rows.get(name);
  if (!row) rows.set(name, (row = { key, figures: figures.map(() => 0) }));
  for (let i = 0; i < figures.length; i++) row.figures[i] = (row.figures[i] ?? 0) + sign * (figures[i] ?? 0);
}

/** Rows of several holders meet where both are seen together; what one holder has stays as it is. */
function put(rows: Map<string, Entry>, key: readonly string[], figures: number[]): void {
  const name = key.join(' ');
  const row = rows.get(name);
  rows.set(name, { key, figures: row ? row.figures.map((figure, i) => figure + (figures[i] ?? 0)) : figures });
}

// One order for all writers, so that two that change the same rows wait for each other instead of locking crosswise.
const moved = (rows: ReadonlyMap<string, Entry>): Entry[] =>
  [...rows].filter(([, { figures }]) => figures.some((figure) => figure !== 0)).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
