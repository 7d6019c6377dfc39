import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from '../../base/database/database.js';
import {
  Entries,
  isLive,
  movesDays,
  movesGroups,
  type BookedContract,
  type BookedInvoice,
  type BookedLine,
  type BookedReceipt,
} from '../domain/analytics/rollups.js';
import { RollupReader } from './rollup-reader.js';
import { writeEntries } from './rollups.js';

/**
 * What one operation changed of contracts, lines, receipts and invoices. Repositories tell it as they write, so that no
 * author of an operation can forget; the wrapper around `run` then moves the rollups by the difference, in the same
 * transaction, once. Work that is undone in a savepoint is forgotten with `backTo` the mark that was taken before it.
 */
export class RollupDelta {
  private readonly contracts: Span<BookedContract>[] = [];
  private readonly lines: Span<BookedLine>[] = [];
  private readonly received: Span<BookedReceipt>[] = [];
  private readonly invoices: Span<BookedInvoice>[] = [];

  /** `before` is `null` for a new record. A deleted record says so by its `deletedAt`. */
  contract(before: BookedContract | null, after: BookedContract): void {
    this.contracts.push({ before, after });
  }

  line(before: BookedLine | null, after: BookedLine): void {
    this.lines.push({ before, after });
  }

  receipts(rows: readonly BookedReceipt[]): void {
    for (const after of rows) this.received.push({ before: null, after });
  }

  invoice(before: BookedInvoice | null, after: BookedInvoice): void {
    this.invoices.push({ before, after });
  }

  mark(): Mark {
    return [this.contracts.length, this.lines.length, this.received.length, this.invoices.length];
  }

  rollBackTo([contracts, lines, received, invoices]: Mark): void {
    this.contracts.length = contracts;
    this.lines.length = lines;
    this.received.length = received;
    this.invoices.length = invoices;
  }

  /** Moves the rollups by what was told. */
  async apply(tx: Transaction, tenantId: string): Promise<void> {
    const contracts = joined(this.contracts);
    const lines = byContract(joined(this.lines));
    const receipts = byContract(joined(this.received));
    const invoices = byContract(joined(this.invoices));
    const reader = new RollupReader(tx, tenantId);
    const ids = [...new Set([...contracts.keys(), ...lines.keys(), ...receipts.keys(), ...invoices.keys()])];
    const entries = new Entries();
    for (let at = 0; at < ids.length; at += CHUNK) {
      if (at > 0) await nextTurn(); // a handover of thousands must not hold up everybody else's reads
      const told = ids.slice(at, at + CHUNK).map((id): ContractChanges => ({
        id,
        contract: contracts.get(id),
        lines: lines.get(id) ?? [],
        receipts: receipts.get(id) ?? [],
        invoices: invoices.get(id) ?? [],
      }));
      for (const page of await completed(told, reader)) post(page, entries);
    }
    await writeEntries(tx, tenantId, entries);
  }
}

/** Contracts whose records are read together. */
const CHUNK = 200;

/** How much had been told, of each kind. */
export type Mark = readonly [contracts: number, lines: number, receipts: number, invoices: number];

/** A record before and after: one change of it, or all of them. */
interface Span<T> {
  readonly before: T | null;
  readonly after: T;
}

/** Of each record the state before its first change and after its last. */
function joined<T extends { readonly id: string }>(changes: readonly Span<T>[]): Map<string, Span<T>> {
  const found = new Map<string, Span<T>>();
  for (const change of changes) {
    const first = found.get(change.after.id);
    found.set(change.after.id, first ? { before: first.before, after: change.after } : change);
  }
  return found;
}

function byContract<T extends { readonly contractId: string }>(
  found: ReadonlyMap<string, Span<T>>,
): Map<string, Span<T>[]> {
  const grouped = new Map<string, Span<T>[]>();
  for (const span of found.values()) {
    const list = grouped.get(span.after.contractId);
    if (list) list.push(span);
    else grouped.set(span.after.contractId, [span]);
  }
  return grouped;
}

interface ContractChanges {
  readonly id: string;
  readonly contract: Span<BookedContract> | undefined;
  readonly lines: readonly Span<BookedLine>[];
  readonly receipts: readonly Span<BookedReceipt>[];
  readonly invoices: readonly Span<BookedInvoice>[];
}

/** All of a contract that may stand elsewhere in the rollups now, as it was and as it is. */
interface Page extends ContractChanges {
  readonly contract: Span<BookedContract>;
}

/**
 * Adds what was not told but moves: nothing on the usual way of a new contract or of a receipt, everything when a
 * contract changes hands.
 */
async function completed(told: readonly ContractChanges[], reader: RollupReader): Promise<Page[]> {
  const unknown = await reader.contracts(told.filter(({ contract }) => !contract).map(({ id }) => id));
  const pages = told.map((one): Page => {
    const kept = unknown.get(one.id);
    const contract = one.contract ?? (kept && { before: kept, after: kept });
    if (!contract) throw new Error(`the rollupDelta were told of lines of a contract that is not there: ${one.id}`);
    return { ...one, contract };
  });
  const lines = await reader.lines(pages.filter(needsLines).map(({ id }) => id));
  const receipts = await reader.receipts(pages.filter(needsReceipts).map(({ id }) => id));
  const invoices = await reader.invoices(pages.filter(needsInvoices).map(({ id }) => id));
  return pages.map((page) => ({
    ...page,
    lines: withKept(page.lines, lines.get(page.id)),
    receipts: withKept(page.receipts, receipts.get(page.id)),
    invoices: withKept(page.invoices, invoices.get(page.id)),
  }));
}

const isNew = ({ contract }: Page): boolean => contract.before === null;
const moves = ({ contract: { before, after } }: Page): boolean => before !== null && movesDays(before, after);
const comesOrGoes = ({ before, after }: Span<BookedLine>): boolean =>
  before !== null && isLive(before) !== isLive(after);

const needsLines = (page: Page): boolean =>
  !isNew(page) &&
  (moves(page) ||
    (page.contract.before !== null && movesGroups(page.contract.before, page.contract.after)) ||
    hasReceiptOfOtherLine(page));
/** Receipts count as long as their line does. */
const needsReceipts = (page: Page): boolean => !isNew(page) && (moves(page) || page.lines.some(comesOrGoes));
const needsInvoices = (page: Page): boolean => !isNew(page) && moves(page);

function hasReceiptOfOtherLine({ lines, receipts }: Page): boolean {
  const told = new Set(lines.map(({ after }) => after.id));
  return receipts.some(({ after }) => !told.has(after.lineId));
}

function withKept<T extends { readonly id: string }>(
  told: readonly Span<T>[],
  kept: readonly T[] | undefined,
): Span<T>[] {
  const known = new Set(told.map(({ after }) => after.id));
  return [
    ...told,
    ...(kept ?? []).filter(({ id }) => !known.has(id)).map((record) => ({ before: record, after: record })),
  ];
}

function post(page: Page, entries: Entries): void {
  if (isLive(page.contract.before))
    postState(page.contract.before, { state: stateOf(page, 'before'), entries, sign: -1 });
  if (isLive(page.contract.after)) postState(page.contract.after, { state: stateOf(page, 'after'), entries, sign: 1 });
}

interface State {
  readonly lines: readonly BookedLine[];
  readonly receipts: readonly BookedReceipt[];
  readonly invoices: readonly BookedInvoice[];
}

function stateOf(page: Page, side: 'before' | 'after'): State {
  const of = <T>(spansOf: readonly Span<T>[]): T[] =>
    spansOf.map((span) => span[side]).filter((record) => record !== null);
  const lines = of(page.lines).filter(isLive);
  const live = new Set(lines.map(({ id }) => id));
  return {
    lines,
    receipts: of(page.receipts).filter(({ lineId }) => live.has(lineId)),
    invoices: of(page.invoices).filter(isLive),
  };
}

function postState(
  contract: BookedContract,
  {
    state: { lines, receipts, invoices },
    entries,
    sign,
  }: { readonly state: State; readonly entries: Entries; readonly sign: 1 | -1 },
): void {
  entries.contract(contract, sign);
  for (const line of lines) entries.line(contract, line, sign);
  for (const receipt of receipts) entries.receipt(contract, receipt, sign);
  for (const invoice of invoices) entries.invoice(contract, invoice, sign);
}
