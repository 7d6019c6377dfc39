import { daysBetween, type Day } from '../../../base/day.js';
import { objectOf, valuesOf } from '../../../base/compiled-objects.js';
import {
  DAY_COLUMNS,
  EVERY,
  GROUP_COLUMNS,
  PART,
  type DayColumn,
  type Entry,
  type Figures,
  type GroupColumn,
} from '../../tables/rollups.js';
import type { Compared, Counted } from './contract-counts.js';
import type { Increments } from './increments.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The columns of contracts, lines, receipts and invoice records from which rollups are computed. */
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
> &
  Compared;
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
 * The amounts that changes add to the rollups, by row. Adding the former state with sign −1 and the new state with +1
 * leaves the difference. Each figure is the plain sum of the figures of its records, so a rebuild results in exactly
 * the same row.
 */
export class Entries {
  private readonly holders = new Map<string, Holder>();
  private readonly ofContracts = new Map<RollupContract, Holder>();

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
    const { type, typeCode, status, statusCode, paymentStatus, stageCategory, stageCode, nextDueDate } = contract;
    const of = { type, typeCode, status, statusCode, paymentStatus, stageCategory, stageCode, nextDueDate };
    const { counts } = this.holderOf(contract);
    // Codes are free texts.
    const name = JSON.stringify(Object.values(of));
    counts.set(name, { of, contracts: (counts.get(name)?.contracts ?? 0) + sign });
  }

  line(contract: RollupContract, line: RollupLine, sign: Sign): void {
    this.day(contract, { currencyCode: line.currencyCode, day: line.dueDate, figures: lineFigures(line), sign });
    // When invoice records are linked to the line, they determine the invoiced amount.
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
   * Changed day rows, ordered by key: person, subject company, currency, day. Each figure is in three or four rows: for
   * the whole tenant, for the subject company, and for the owner and the superior within that company.
   */
  days(): Entry<DayColumn>[] {
    const found: Fronted = new Map();
    for (const { subjectId, ownerId, superiorId, byDay } of this.holders.values()) {
      const people = superiorId === null || superiorId === ownerId ? [ownerId] : [ownerId, superiorId];
      for (const person of [EVERY, ...people]) put(found, [person, subjectId], byDay);
      put(found, [EVERY, EVERY], byDay);
    }
    return moved(found, DAY);
  }

  /** Changed group rows, ordered by key. */
  groups(): Entry<GroupColumn>[] {
    const found: Fronted = new Map();
    for (const { subjectId, ownerId, superiorId, byGroup } of this.holders.values())
      put(found, [subjectId, ownerId, superiorId ?? EVERY], byGroup);
    return moved(found, GROUP);
  }

  /** Adds what increments of other entries add to the rollups. */
  add({ days, groups, ...of }: Increments): void {
    const holder = this.holder({ ...of, ownerSuperiorId: of.superiorId });
    for (const { key, figures } of days) add(holder.byDay, key, { figures: DAY.sums(figures), sign: 1 });
    for (const { key, figures } of groups) add(holder.byGroup, key, { figures: GROUP.sums(figures), sign: 1 });
  }

  /** The same increments as those of `days` and `groups`, each once. */
  increments(): Increments[] {
    const found: Increments[] = [];
    for (const { byDay, byGroup, counts, ...holder } of this.holders.values()) {
      const [days, groups] = [changed(byDay, DAY), changed(byGroup, GROUP)];
      const contracts = [...counts.values()].filter((counted) => counted.contracts !== 0);
      if (days.length + groups.length + contracts.length > 0) found.push({ ...holder, days, groups, contracts });
    }
    return found;
  }

  private day(
    contract: RollupContract,
    {
      currencyCode,
      day,
      figures,
      sign,
    }: { readonly currencyCode: string; readonly day: Day; readonly figures: Figures<DayColumn>; readonly sign: Sign },
  ): void {
    add(this.holderOf(contract).byDay, [currencyCode, day], { figures: DAY.sums(figures), sign });
  }

  private group(
    contract: RollupContract,
    {
      currencyCode,
      figures,
      sign,
    }: { readonly currencyCode: string; readonly figures: Figures<GroupColumn>; readonly sign: Sign },
  ): void {
    const { type, status, stageCategory, paymentStatus } = contract;
    const key = [currencyCode, type, status, stageCategory, paymentStatus];
    add(this.holderOf(contract).byGroup, key, { figures: GROUP.sums(figures), sign });
  }

  /** The holder of the state of a contract, which each of its lines asks for. */
  private holderOf(contract: RollupContract): Holder {
    let holder = this.ofContracts.get(contract);
    if (!holder) this.ofContracts.set(contract, (holder = this.holder(contract)));
    return holder;
  }

  private holder({
    subjectId,
    ownerId,
    ownerSuperiorId: superiorId,
  }: Pick<RollupContract, 'subjectId' | 'ownerId' | 'ownerSuperiorId'>): Holder {
    const name = `${subjectId} ${ownerId} ${superiorId}`;
    const known = this.holders.get(name);
    if (known) return known;
    const holder: Holder = { subjectId, ownerId, superiorId, byDay: new Map(), byGroup: new Map(), counts: new Map() };
    this.holders.set(name, holder);
    return holder;
  }
}

/** Contracts with the same subject company, owner and superior; their figures are in the same rows. */
interface Holder {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly superiorId: string | null;
  /** The keys are those of `receivable_days` from the currency on. */
  readonly byDay: Rows;
  /** The keys are those of `contract_groups` from the currency on. */
  readonly byGroup: Rows;
  /** By their values. */
  readonly counts: Map<string, Counted>;
}

/** Increments by key. The sums of a row are in the order of its table's columns: adding them by name takes several times as long. */
type Rows = Map<string, { readonly key: readonly string[]; readonly sums: number[] }>;
/** By the first ids of their keys, all of one length, so that the ids and then the keys of each have the order of the whole keys. */
type Fronted = Map<string, { readonly front: readonly string[]; readonly rows: Rows }>;

/** How a table's figures become sums, and the sums figures. */
interface Layout<C extends string> {
  readonly sums: (figures: Figures<C>) => readonly (number | undefined)[];
  readonly figures: (sums: readonly number[]) => Figures<C>;
}
const layout = <C extends string>(columns: readonly C[]): Layout<C> => ({
  sums: valuesOf(columns) as Layout<C>['sums'],
  figures: objectOf<number>(columns) as Layout<C>['figures'], // each sum is a number
});
const DAY = layout(DAY_COLUMNS);
const GROUP = layout(GROUP_COLUMNS);

type Sign = 1 | -1;

/** Whether a contract or line counts: deleted ones are in no row. */
export const isLive = <T extends { readonly deletedAt: number | null }>(row: T | null): row is T =>
  row !== null && row.deletedAt === null;

/** Whether the figures of all the contract's records move to other day rows. */
export const movesDays = (before: RollupContract, after: RollupContract): boolean =>
  before.subjectId !== after.subjectId ||
  before.ownerId !== after.ownerId ||
  before.ownerSuperiorId !== after.ownerSuperiorId ||
  isLive(before) !== isLive(after);

/** Whether the contract's lines in other currencies, which have their own group rows, move to other rows. */
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

/** The days from the due date to the final receipt × the amount; 0 for payments on time. */
function lateness({ dueDate, receivedDate, amountMinor }: RollupLine): Figures<'late_high' | 'late_low'> {
  if (receivedDate === null || receivedDate <= dueDate) return ON_TIME;
  const weight = BigInt(daysBetween(dueDate, receivedDate)) * BigInt(amountMinor); // may exceed 2^63
  return { late_high: Number(weight / BigInt(PART)), late_low: Number(weight % BigInt(PART)) };
}

const high = (minor: number): number => Math.trunc(minor / PART);
/** As the remainder, which takes much longer; exact, since both are safe integers. */
const low = (minor: number): number => minor - high(minor) * PART;

function add(
  rows: Rows,
  key: readonly string[],
  { figures, sign }: { readonly figures: readonly (number | undefined)[]; readonly sign: Sign },
): void {
  const name = key.join(' ');
  let row = rows.get(name);
  if (!row) rows.set(name, (row = { key, sums: figures.map(() => 0) }));
  sum(row.sums, figures, sign);
}

/** Adds rows to those with these ids. New ones are copied, so that the holder's own do not change. */
function put(found: Fronted, front: readonly string[], rows: Rows): void {
  const name = front.join(' ');
  let together = found.get(name);
  if (!together) found.set(name, (together = { front, rows: new Map() }));
  for (const [of, { key, sums }] of rows) {
    if (!moves(sums)) continue;
    const row = together.rows.get(of);
    if (row) sum(row.sums, sums, 1);
    else together.rows.set(of, { key, sums: [...sums] });
  }
}

function sum(to: number[], figures: readonly (number | undefined)[], sign: Sign): void {
  for (let i = 0; i < figures.length; i++) to[i] = (to[i] ?? 0) + sign * (figures[i] ?? 0);
}

const moves = (sums: readonly number[]): boolean => sums.some((figure) => figure !== 0);

const changed = <C extends string>(rows: Rows, { figures }: Layout<C>): Entry<C>[] =>
  [...rows.values()].filter(({ sums }) => moves(sums)).map(({ key, sums }) => ({ key, figures: figures(sums) }));

// All writers use the same order, so that two that change the same rows wait for each other instead of deadlocking.
const moved = <C extends string>(found: Fronted, { figures }: Layout<C>): Entry<C>[] =>
  inOrder(found).flatMap(({ front, rows }) =>
    inOrder(rows)
      .filter(({ sums }) => moves(sums))
      .map(({ key, sums }) => ({ key: [...front, ...key], figures: figures(sums) })),
  );

const inOrder = <T>(named: ReadonlyMap<string, T>): T[] =>
  [...named].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
