import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Transaction } from '../../base/database/database.js';
import {
  Entries,
  isLive,
  movesDays,
  movesGroups,
  type RollupContract,
  type RollupInvoice,
  type RollupLine,
  type RollupReceipt,
} from '../domain/analytics/rollups.js';
import { RollupReader } from './rollup-reader.js';

/**
 * The changes that one operation made to contracts, lines, receipts and invoices. Repositories report them as they
 * write, so that an operation cannot forget to. The wrapper around `run` then adds the difference to the rollups once,
 * in the same transaction. `rollBackTo` discards changes that were undone by a savepoint.
 */
export class RollupDelta {
  private readonly contracts: Change<RollupContract>[] = [];
  private readonly lines: Change<RollupLine>[] = [];
  private readonly received: Change<RollupReceipt>[] = [];
  private readonly invoices: Change<RollupInvoice>[] = [];

  /** `before` is `null` for a new record. A deleted record has `deletedAt` set. */
  contract(before: RollupContract | null, after: RollupContract): void {
    this.contracts.push({ before, after });
  }

  line(before: RollupLine | null, after: RollupLine): void {
    this.lines.push({ before, after });
  }

  receipts(rows: readonly RollupReceipt[]): void {
    for (const after of rows) this.received.push({ before: null, after });
  }

  invoice(before: RollupInvoice | null, after: RollupInvoice): void {
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

  /** The differences of all recorded changes, for the rollups. */
  async entries(tx: Transaction, tenantId: string): Promise<Entries> {
    const contracts = merged(this.contracts);
    const lines = byContract(merged(this.lines));
    const receipts = byContract(merged(this.received));
    const invoices = byContract(merged(this.invoices));
    const reader = new RollupReader(tx, tenantId);
    const ids = [...new Set([...contracts.keys(), ...lines.keys(), ...receipts.keys(), ...invoices.keys()])];
    const entries = new Entries();
    for (let at = 0; at < ids.length; at += CHUNK) {
      if (at > 0) await yieldToEventLoop(); // a handover of thousands of contracts must not block other requests
      const changed = ids.slice(at, at + CHUNK).map((id): ContractChanges => ({
        id,
        contract: contracts.get(id),
        lines: lines.get(id) ?? [],
        receipts: receipts.get(id) ?? [],
        invoices: invoices.get(id) ?? [],
      }));
      for (const changes of await withAllRecords(changed, reader)) post(changes, entries);
    }
    return entries;
  }
}

/** How many contracts are processed together. */
const CHUNK = 200;

/** The number of changes of each kind when the mark was taken. */
export type Mark = readonly [contracts: number, lines: number, receipts: number, invoices: number];

/** A record before and after one or several changes. */
interface Change<T> {
  readonly before: T | null;
  readonly after: T;
}

/** Merges the changes of each record into one, from its first state to its last. */
function merged<T extends { readonly id: string }>(changes: readonly Change<T>[]): Map<string, Change<T>> {
  const found = new Map<string, Change<T>>();
  for (const change of changes) {
    const first = found.get(change.after.id);
    found.set(change.after.id, first ? { before: first.before, after: change.after } : change);
  }
  return found;
}

function byContract<T extends { readonly contractId: string }>(
  found: ReadonlyMap<string, Change<T>>,
): Map<string, Change<T>[]> {
  const grouped = new Map<string, Change<T>[]>();
  for (const change of found.values()) {
    const list = grouped.get(change.after.contractId);
    if (list) list.push(change);
    else grouped.set(change.after.contractId, [change]);
  }
  return grouped;
}

interface ContractChanges {
  readonly id: string;
  readonly contract: Change<RollupContract> | undefined;
  readonly lines: readonly Change<RollupLine>[];
  readonly receipts: readonly Change<RollupReceipt>[];
  readonly invoices: readonly Change<RollupInvoice>[];
}

/** A contract with all its records that may now belong to other rows of the rollups, before and after. */
interface CompleteChanges extends ContractChanges {
  readonly contract: Change<RollupContract>;
}

/**
 * Reads unchanged records that move to other rows: none for a new contract or a receipt, all of them when a contract
 * gets another owner.
 */
async function withAllRecords(changed: readonly ContractChanges[], reader: RollupReader): Promise<CompleteChanges[]> {
  const unknown = await reader.contracts(changed.filter(({ contract }) => !contract).map(({ id }) => id));
  const complete = changed.map((one): CompleteChanges => {
    const kept = unknown.get(one.id);
    const contract = one.contract ?? (kept && { before: kept, after: kept });
    if (!contract) throw new Error(`rollup delta: records were changed of a contract that does not exist: ${one.id}`);
    return { ...one, contract };
  });
  const lines = await reader.lines(complete.filter(needsLines).map(({ id }) => id));
  const receipts = await reader.receipts(complete.filter(needsReceipts).map(({ id }) => id));
  const invoices = await reader.invoices(complete.filter(needsInvoices).map(({ id }) => id));
  return complete.map((changes) => ({
    ...changes,
    lines: withUnchanged(changes.lines, lines.get(changes.id)),
    receipts: withUnchanged(changes.receipts, receipts.get(changes.id)),
    invoices: withUnchanged(changes.invoices, invoices.get(changes.id)),
  }));
}

const isNew = ({ contract }: CompleteChanges): boolean => contract.before === null;
const movesRecords = ({ contract: { before, after } }: CompleteChanges): boolean =>
  before !== null && movesDays(before, after);
const isAddedOrDeleted = ({ before, after }: Change<RollupLine>): boolean =>
  before !== null && isLive(before) !== isLive(after);

const needsLines = (changes: CompleteChanges): boolean =>
  !isNew(changes) &&
  (movesRecords(changes) ||
    (changes.contract.before !== null && movesGroups(changes.contract.before, changes.contract.after)) ||
    hasReceiptOfOtherLine(changes));
/** Receipts count only while their line is live. */
const needsReceipts = (changes: CompleteChanges): boolean =>
  !isNew(changes) && (movesRecords(changes) || changes.lines.some(isAddedOrDeleted));
const needsInvoices = (changes: CompleteChanges): boolean => !isNew(changes) && movesRecords(changes);

function hasReceiptOfOtherLine({ lines, receipts }: CompleteChanges): boolean {
  const changed = new Set(lines.map(({ after }) => after.id));
  return receipts.some(({ after }) => !changed.has(after.lineId));
}

function withUnchanged<T extends { readonly id: string }>(
  changed: readonly Change<T>[],
  kept: readonly T[] | undefined,
): Change<T>[] {
  const known = new Set(changed.map(({ after }) => after.id));
  return [
    ...changed,
    ...(kept ?? []).filter(({ id }) => !known.has(id)).map((record) => ({ before: record, after: record })),
  ];
}

function post(changes: CompleteChanges, entries: Entries): void {
  if (isLive(changes.contract.before))
    postState(changes.contract.before, { state: stateOf(changes, 'before'), entries, sign: -1 });
  if (isLive(changes.contract.after))
    postState(changes.contract.after, { state: stateOf(changes, 'after'), entries, sign: 1 });
}

interface State {
  readonly lines: readonly RollupLine[];
  readonly receipts: readonly RollupReceipt[];
  readonly invoices: readonly RollupInvoice[];
}

function stateOf(changes: CompleteChanges, side: 'before' | 'after'): State {
  const of = <T>(list: readonly Change<T>[]): T[] =>
    list.map((change) => change[side]).filter((record) => record !== null);
  const lines = of(changes.lines).filter(isLive);
  const live = new Set(lines.map(({ id }) => id));
  return {
    lines,
    receipts: of(changes.receipts).filter(({ lineId }) => live.has(lineId)),
    invoices: of(changes.invoices).filter(isLive),
  };
}

function postState(
  contract: RollupContract,
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
