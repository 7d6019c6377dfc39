import { daysBetween, type Day } from '../../../base/day.js';
import { EVERY, PART, type DayColumn, type Entry, type Figures, type GroupColumn } from '../../tables/rollups.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';
import type { ContractRow } from '../../tables/contracts.js';

/**
 * What the rollups are made of: of a contract, of a line, of a change of what was received, and of an invoice record.
 */
export type RollupContract = Pick<
  ContractRow,
  | 'id'
  | 'subjectId'
  | 'ownerId'
  | 'ownerSuperiorId'
  | 'currencyCode'
  | 'type'
  | 'status'
  | 'stageCategory'
  | 'paymentStatus'
  | 'totalMinor'
  | 'outstandingMinor'
  | 'otherCurrencyLines'
  | 'deletedAt'
>;
export type RollupLine = Pick<
  LineRow,
  | 'id'
  | 'contractId'
  | 'dueDate'
  | 'currencyCode'
  | 'amountMinor'
  | 'receivedMinor'
  | 'outstandingMinor'
  | 'receivedDate'
  | 'reconciliationStatus'
  | 'invoiceDate'
  | 'invoicedMinor'
  | 'uninvoicedMinor'
  | 'invoiceRecords'
  | 'deletedAt'
>;
export type RollupReceipt = Pick<
  ReceiptRow,
  'id' | 'contractId' | 'lineId' | 'deltaMinor' | 'currencyCode' | 'receivedDate'
>;
export type RollupInvoice = Pick<
  InvoiceRow,
  'id' | 'contractId' | 'currencyCode' | 'invoiceDate' | 'status' | 'amountMinor' | 'deletedAt'
>;

/**
 * What changes add to the rollups, row by row. Adding each state as it was with the sign −1, and as it is with +1,
 * leaves what moved. Each figure of a row is the plain sum of the same figure of what it is made of, so that a rebuild
 * gives the very same row.
 */
export class Entries {
  private readonly holders = new Map<string, Holder>();
  private readonly byGroup: Rows<GroupColumn> = new Map();

  contract(contract: RollupContract, sign: Sign): void {
    const { totalMinor, outstandingMinor } = contract;
    this.group(contract, {
      currencyCode: contract.currencyCode,
      figures: {
        contracts: 1,
        total_high: high(totalMinor),
        total_low: low(totalMinor),
        outstanding_high: high(outstandingMinor),
        outstanding_low: low(outstandingMinor),
      },
      sign,
    });
  }

  line(contract: RollupContract, line: RollupLine, sign: Sign): void {
    this.day(contract, { currencyCode: line.currencyCode, day: line.dueDate, figures: lineFigures(line), sign });
    // Where invoice records name the line, they are what is invoiced on it.
    if (line.invoiceRecords === 0 && line.invoicedMinor !== 0)
      this.day(contract, {
        currencyCode: line.currencyCode,
        day: line.invoiceDate ?? line.dueDate,
        figures: invoiceFigures(line.invoicedMinor),
        sign,
      });
    if (line.currencyCode !== contract.currencyCode)
      this.group(contract, {
        currencyCode: line.currencyCode,
        figures: { outstanding_high: high(line.outstandingMinor), outstanding_low: low(line.outstandingMinor) },
        sign,
      });
  }

  receipt(contract: RollupContract, receipt: RollupReceipt, sign: Sign): void {
    if (receipt.receivedDate !== null)
      this.day(contract, {
        currencyCode: receipt.currencyCode,
        day: receipt.receivedDate,
        figures: receiptFigures(receipt.deltaMinor),
        sign,
      });
  }

  invoice(contract: RollupContract, invoice: RollupInvoice, sign: Sign): void {
    const { status, amountMinor, invoiceDate, currencyCode } = invoice;
    if (invoiceDate === null || (status !== 'issued' && status !== 'red_letter')) return;
    this.day(contract, {
      currencyCode,
      day: invoiceDate,
      figures: invoiceFigures(status === 'issued' ? amountMinor : -amountMinor),
      sign,
    });
  }

  /**
   * Rows of days that change, in the order of their keys: person, subject company, currency, day. Each stands three or
   * four times: for those who see all, for the subject company, and there for what a person sees who owns or
   * supervises.
   */
  days(): Entry<DayColumn>[] {
    const rows: Rows<DayColumn> = new Map();
    for (const { subjectId, people, byDay } of this.holders.values()) {
      for (const { key, figures } of byDay.values()) {
        if (!moves(figures)) continue;
        put(rows, [EVERY, EVERY, ...key], figures);
        put(rows, [EVERY, subjectId, ...key], figures);
        for (const person of people) put(rows, [person, subjectId, ...key], figures);
      }
    }
    return moved(rows);
  }

  /** Rows of groups that change, in the order of their keys. */
  groups(): Entry<GroupColumn>[] {
    return moved(this.byGroup);
  }

  private day(
    { subjectId, ownerId, ownerSuperiorId }: RollupContract,
    {
      currencyCode,
      day,
      figures,
      sign,
    }: { readonly currencyCode: string; readonly day: Day; readonly figures: Figures<DayColumn>; readonly sign: Sign },
  ): void {
    const name = `${subjectId} ${ownerId} ${ownerSuperiorId}`;
    let holder = this.holders.get(name);
    if (!holder)
      this.holders.set(
        name,
        (holder = {
          subjectId,
          people: ownerSuperiorId === null || ownerSuperiorId === ownerId ? [ownerId] : [ownerId, ownerSuperiorId],
          byDay: new Map(),
        }),
      );
    add(holder.byDay, { key: [currencyCode, day], figures, sign });
  }

  private group(
    { subjectId, ownerId, ownerSuperiorId, type, status, stageCategory, paymentStatus }: RollupContract,
    {
      currencyCode,
      figures,
      sign,
    }: { readonly currencyCode: string; readonly figures: Figures<GroupColumn>; readonly sign: Sign },
  ): void {
    add(this.byGroup, {
      key: [subjectId, ownerId, ownerSuperiorId ?? EVERY, currencyCode, type, status, stageCategory, paymentStatus],
      figures,
      sign,
    });
  }
}

/** Contracts of one subject company in the same hands: what is theirs is in the same rows. */
interface Holder {
  readonly subjectId: string;
  readonly people: readonly string[];
  readonly byDay: Rows<DayColumn>;
}

type Rows<C extends string> = Map<string, { readonly key: readonly string[]; figures: Partial<Record<C, number>> }>;

type Sign = 1 | -1;

/** Whose figures the contract is in. A deleted contract, and a line that is removed, are in nobody's. */
export const isLive = <T extends { readonly deletedAt: number | null }>(row: T | null): row is T =>
  row !== null && row.deletedAt === null;

/** Whether all that belongs to the contract moves to other rows with it. */
export const movesDays = (before: RollupContract, after: RollupContract): boolean =>
  before.subjectId !== after.subjectId ||
  before.ownerId !== after.ownerId ||
  before.ownerSuperiorId !== after.ownerSuperiorId ||
  isLive(before) !== isLive(after);

/** Whether its lines in other currencies, which stand in groups of their own, move with it. */
export const movesGroups = (before: RollupContract, after: RollupContract): boolean =>
  before.otherCurrencyLines + after.otherCurrencyLines > 0 &&
  (before.currencyCode !== after.currencyCode ||
    before.type !== after.type ||
    before.status !== after.status ||
    before.stageCategory !== after.stageCategory ||
    before.paymentStatus !== after.paymentStatus);

function lineFigures(line: RollupLine): Figures<DayColumn> {
  const { amountMinor, receivedMinor, outstandingMinor, uninvoicedMinor, reconciliationStatus } = line;
  const isPaid = receivedMinor >= amountMinor;
  const settled = isPaid ? amountMinor : 0;
  const late = isPaid ? lateness(line) : ON_TIME;
  return {
    lines: 1,
    to_invoice: uninvoicedMinor > 0 ? 1 : 0,
    amount_high: high(amountMinor),
    amount_low: low(amountMinor),
    outstanding_high: high(outstandingMinor),
    outstanding_low: low(outstandingMinor),
    uninvoiced_high: high(uninvoicedMinor),
    uninvoiced_low: low(uninvoicedMinor),
    paid: isPaid ? 1 : 0,
    partial: !isPaid && receivedMinor > 0 ? 1 : 0,
    reconcile: receivedMinor > 0 && reconciliationStatus !== 'matched' ? 1 : 0,
    received_high: high(receivedMinor),
    received_low: low(receivedMinor),
    settled_high: high(settled),
    settled_low: low(settled),
    ...late,
  };
}

const ON_TIME: Figures<'late_high' | 'late_low'> = { late_high: 0, late_low: 0 };
const receiptFigures = (minor: number): Figures<DayColumn> => ({
  receipts_high: high(minor),
  receipts_low: low(minor),
});
const invoiceFigures = (minor: number): Figures<DayColumn> => ({
  invoices_high: high(minor),
  invoices_low: low(minor),
});

/**
 * Days from due date to the day on which the rest came, × amount. Money that came early, or on the day, is not late.
 */
function lateness({ dueDate, receivedDate, amountMinor }: RollupLine): Figures<'late_high' | 'late_low'> {
  if (receivedDate === null || receivedDate <= dueDate) return ON_TIME;
  const weight = BigInt(daysBetween(dueDate, receivedDate)) * BigInt(amountMinor); // may pass 2^63
  return { late_high: Number(weight / BigInt(PART)), late_low: Number(weight % BigInt(PART)) };
}

const high = (minor: number): number => Math.trunc(minor / PART);
const low = (minor: number): number => minor % PART;

function add<C extends string>(
  rows: Rows<C>,
  { key, figures, sign }: { readonly key: readonly string[]; readonly figures: Figures<C>; readonly sign: Sign },
): void {
  const name = key.join(' ');
  let row = rows.get(name);
  if (!row) rows.set(name, (row = { key, figures: {} }));
  sum(row.figures, figures, sign);
}

/** Rows of several holders meet where both are seen together; what one holder has stays as it is. */
function put<C extends string>(rows: Rows<C>, key: readonly string[], figures: Figures<C>): void {
  const name = key.join(' ');
  const row = rows.get(name);
  if (row) sum(row.figures, figures, 1);
  else rows.set(name, { key, figures: { ...figures } });
}

function sum<C extends string>(to: Partial<Record<C, number>>, figures: Figures<C>, sign: Sign): void {
  for (const column in figures) to[column] = (to[column] ?? 0) + sign * (figures[column] ?? 0);
}

const moves = (figures: Figures<string>): boolean => Object.values(figures).some((figure) => figure !== 0);

// One order for all writers, so that two that change the same rows wait for each other instead of locking crosswise.
const moved = <C extends string>(rows: Rows<C>): Entry<C>[] =>
  [...rows]
    .filter(([, { figures }]) => moves(figures))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, entry]) => entry);
